#!/usr/bin/env bash
# Measures the effect of the masks of the parser state: variants of the Stack-Transformer that differ only in them.
#   bash run/masks.sh ewt|lpp DATA DEV OUT [EPOCHS [SEED ...]] [--punct count|skip]
# DATA: a folder of run/prepare.sh. DEV: the CoNLL-U or AMR file of its development data. OUT: a folder for checkpoints
# and figures.txt. EPOCHS: by default 5 for English-EWT, 20 for The Little Prince. Run the script again to resume where
# it stopped.
# --punct skip scores trees without punctuation, into figures.punct-skip.txt; finished trainings are not repeated.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
. "$root/run/variants.sh"
arguments="ewt|lpp DATA DEV OUT [EPOCHS [SEED ...]] [--punct count|skip]"
take_punct "$arguments" "$@"
set -- "${rest[@]}"
if [ $# -lt 4 ] || [ ! -d "$2" ] || [ ! -f "$3" ]; then usage "$arguments"; fi
corpus=$1 data=$2 golds=("$3") out=$4
shift 4
case $corpus in
ewt) source=$root/configs/ewt-stack-small.flags epochs=${1:-5} ;;
lpp) source=$root/configs/lpp-stack-small.flags epochs=${1:-20} ;;
*) usage "$arguments" ;;
esac
shift $(($# > 0))
seeds=("$@")
[ $# -gt 0 ] || seeds=(1 2)
# the variants of the paper's table 1, by their letters: a (once with legality in search alone, as in the paper, and
# once with legality in training too, as in our models), c, d
variants=(d c a-legal a)
flags=(
    [a]="--arch transition_transformer_small --softmax-over all"
    [a-legal]="--arch transition_transformer_small"
    [c]=""
    [d]="--state-positions"
)
mkdir -p "$out"
config=$out/common.flags
sed '/^--state-positions$/d' "$source" >"$config"
compare_variants
