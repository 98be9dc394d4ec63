#!/usr/bin/env bash
# Runs fairseq-preprocess on a folder that `transition-parser preprocess` wrote: bash run/binarise.sh DATA
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -ne 1 ] || [ ! -f "$1/train.src" ]; then usage "DATA (a folder that transition-parser preprocess wrote)"; fi
data=$1
if [[ $data = *[,:]* ]]; then
    echo "binarise.sh: $data: fairseq divides a path at ',' and ':': give a folder without them" >&2
    exit 2
fi
splits=(--trainpref "$data/train" --validpref "$data/valid")
[ -f "$data/test.src" ] && splits+=(--testpref "$data/test")
needs_fairseq
fairseq-preprocess --user-dir "$root/transition_parser" --task transition_parsing --source-lang src --target-lang act \
    "${splits[@]}" --destdir "$data" >/dev/null
