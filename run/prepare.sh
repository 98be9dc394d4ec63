#!/usr/bin/env bash
# Treebank to binarised data: bash run/prepare.sh SYSTEM TRAIN VALID TEST DATA [more options of `preprocess dependency`]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -lt 5 ]; then
    echo "usage: bash run/prepare.sh SYSTEM TRAIN.conllu VALID.conllu TEST.conllu DATA [option ...]" >&2
    exit 2
fi
system=$1 train=$2 valid=$3 test=$4 data=$5
shift 5
[ -x "$root/.venv/bin/fairseq-preprocess" ] && PATH="$root/.venv/bin:$PATH"
transition-parser preprocess dependency --system "$system" --train "$train" --valid "$valid" --test "$test" \
    --dest "$data" "$@"
fairseq-preprocess --user-dir "$root/transition_parser" --task transition_parsing \
    --source-lang src --target-lang act --trainpref "$data/train" --validpref "$data/valid" \
    --testpref "$data/test" --destdir "$data" >/dev/null
