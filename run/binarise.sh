#!/usr/bin/env bash
# fairseq-preprocess over a folder that `transition-parser preprocess` wrote: bash run/binarise.sh DATA
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -ne 1 ]; then
    echo "usage: bash run/binarise.sh DATA" >&2
    exit 2
fi
data=$1
[ -x "$root/.venv/bin/fairseq-preprocess" ] && PATH="$root/.venv/bin:$PATH"
splits=(--trainpref "$data/train" --validpref "$data/valid")
[ -f "$data/test.src" ] && splits+=(--testpref "$data/test")
fairseq-preprocess --user-dir "$root/transition_parser" --task transition_parsing --source-lang src --target-lang act \
    "${splits[@]}" --destdir "$data" >/dev/null
