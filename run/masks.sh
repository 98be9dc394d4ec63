#!/usr/bin/env bash
# What the masks of the parser state are worth: trains variants of the Stack-Transformer that differ in nothing else,
# and scores the best epoch of each on dev, greedily and with a beam of 10. Run it again to resume where it stopped.
#   bash run/masks.sh ewt|lpp DATA DEV OUT [EPOCHS [SEED ...]]
# DATA: a folder of run/prepare.sh. DEV: the CoNLL-U or AMR file that it was made from. OUT: a folder for checkpoints and
# figures.txt. EPOCHS: by default 5 of English-EWT, 20 of The Little Prince. Trained in bf16 where the machine has it, scored
# in fp32.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
arguments="ewt|lpp DATA DEV OUT [EPOCHS [SEED ...]]"
if [ $# -lt 4 ] || [ ! -d "$2" ] || [ ! -f "$3" ]; then usage "$arguments"; fi
corpus=$1 data=$2 dev=$3 out=$4
shift 4
case $corpus in
ewt) config=$root/configs/ewt-stack-small.flags epochs=${1:-5} ;;
lpp) config=$root/configs/lpp-stack-small.flags epochs=${1:-20} ;;
*) usage "$arguments" ;;
esac
shift $(($# > 0))
[ $# -gt 0 ] || set -- 1 2
# the variants of the paper's table 1, by their letters: a (legality in search alone, as the paper has it; and in
# training too, ours), c, d
declare -A flags=(
    [a]="--arch transition_transformer_small --softmax-over all"
    [a-legal]="--arch transition_transformer_small"
    [c]=""
    [d]="--state-positions"
)
mkdir -p "$out"
for seed in "$@"; do
    for variant in d c a-legal a; do
        name=$corpus-$variant-$seed
        grep -q "^$name " "$out/figures.txt" 2>/dev/null && continue
        common=$out/$name.flags
        sed '/^--state-positions$/d' "$config" >"$common"
        # shellcheck disable=SC2086  # several flags
        bash "$root/run/train.sh" "$common" "$data" "$out/$name" ${flags[$variant]} --seed "$seed" \
            --max-epoch "$epochs" --warmup-epochs "$(LC_ALL=C awk "BEGIN { print $epochs / 8 }")" \
            --keep-best-checkpoints 1 >"$out/$name.log"
        for beam in 1 10; do
            parsed=$out/$name.$beam.${dev##*.}
            transition-parser parse "$out/$name/checkpoint_best.pt" "$dev" --beam $beam --precision fp32 -o "$parsed"
            echo "$name beam $beam epochs $epochs" \
                "$(transition-parser score "$dev" "$parsed" --json $([ "$corpus" = ewt ] && echo --full-labels))"
        done >"$out/$name.figures"
        cat "$out/$name.figures" >>"$out/figures.txt"
        rm -f "$common"
    done
done
cat "$out/figures.txt"
