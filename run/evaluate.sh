#!/usr/bin/env bash
# Parses a treebank or an AMR bank with a model, greedily and with a beam of 10, and scores it:
# bash run/evaluate.sh MODEL GOLD.conllu|GOLD.amr
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -ne 2 ] || [ ! -f "$2" ]; then usage "MODEL GOLD.conllu|GOLD.amr"; fi
model=$1 gold=$2
case $gold in
*.amr) suffix=amr variants=("" --fine-grained) ;;
*) suffix=conllu variants=("" --full-labels) ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
input=$gold
if [ $suffix = conllu ]; then # without lemmas, tags and features, so that those of a model that predicts them are scored
    input=$work/input.conllu
    awk -F'\t' -v OFS='\t' 'NF == 10 && $1 !~ /[-.]/ { $3 = $4 = $5 = $6 = "_" } { print }' "$gold" >"$input"
fi
for beam in 1 10; do
    transition-parser parse "$model" "$input" --beam "$beam" -o "$work/$beam.$suffix"
    for variant in "${variants[@]}"; do
        figures=$(transition-parser score "$gold" "$work/$beam.$suffix" --json $variant)
        echo "beam $beam $variant $figures"
    done
done
