#!/usr/bin/env bash
# Trees or AMRs to binarised data: bash run/prepare.sh SYSTEM TRAIN VALID TEST DATA [more options of `preprocess`]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -lt 5 ]; then
    echo "usage: bash run/prepare.sh SYSTEM TRAIN VALID TEST DATA [option ...]" >&2
    exit 2
fi
system=$1 train=$2 valid=$3 test=$4 data=$5
shift 5
kind=dependency
[ "$system" = amr ] && kind=amr
[ -x "$root/.venv/bin/fairseq-preprocess" ] && PATH="$root/.venv/bin:$PATH"
transition-parser preprocess "$kind" --system "$system" --train "$train" --valid "$valid" --test "$test" \
    --dest "$data" "$@"
bash "$root/run/binarise.sh" "$data"
