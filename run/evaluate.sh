#!/usr/bin/env bash
# Parses a treebank or an AMR bank with a model, greedily and with a beam of 10, and scores
# the parses (AMRs: also without :wiki, which some corpora lack). --punct goes to `transition-parser score` (default:
# count); other options, such as --ensemble OTHER, go to `transition-parser parse`:
# bash run/evaluate.sh MODEL GOLD.conllu|GOLD.amr [--punct count|skip] [OPTION …]
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
arguments="MODEL GOLD.conllu|GOLD.amr [--punct count|skip] [OPTION …]"
rest=() others=() scoring=() punct=count
while [ $# -gt 0 ]; do
    case $1 in
    --punct=*) punct=${1#*=} ;;
    --punct)
        punct=${2:-}
        shift $(($# > 1))
        ;;
    --ensemble=*)
        others=("${1#*=}")
        rest+=("$1")
        ;;
    --ensemble)
        others=()
        rest+=("$1")
        while [ $# -gt 1 ] && [[ $2 != -* ]]; do
            others+=("$2")
            rest+=("$2")
            shift
        done
        ;;
    *) rest+=("$1") ;;
    esac
    shift
done
case $punct in
count) ;;
skip) scoring=(--punct skip) ;;
*) usage "$arguments" ;;
esac
set -- "${rest[@]}"
if [ $# -lt 2 ] || [ ! -f "$2" ]; then usage "$arguments"; fi
model=$1 gold=$2
shift 2
case $gold in
*.amr) suffix=amr variants=("" --ignore-wiki --fine-grained) ;;
*) suffix=conllu variants=("" --full-labels) ;;
esac
# says before any work that the file can't be scored so
[ ${#scoring[@]} -eq 0 ] || transition-parser score "$gold" "$gold" "${scoring[@]}" >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
untagged "$gold" "$model" "${others[@]}" >"$work/input.$suffix"
for beam in 1 10; do
    transition-parser parse "$model" "$work/input.$suffix" --beam $beam -o "$work/$beam.$suffix" "$@"
    for variant in "${variants[@]}"; do
        figures=$(transition-parser score "$gold" "$work/$beam.$suffix" --json "${scoring[@]}" $variant)
        echo "beam $beam $variant $figures"
    done
done
