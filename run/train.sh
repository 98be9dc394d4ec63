#!/usr/bin/env bash
# Trains (or resumes) an experiment: bash run/train.sh configs/NAME.flags DATA CHECKPOINTS [more flags of fairseq-train]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -lt 3 ]; then
    echo "usage: bash run/train.sh configs/NAME.flags DATA CHECKPOINTS [flag ...]" >&2
    exit 2
fi
config=$1 data=$2 checkpoints=$3
shift 3
if [ ! -f "$config" ]; then
    echo "train.sh: no such file: $config" >&2
    exit 2
fi
[ -x "$root/.venv/bin/fairseq-train" ] && PATH="$root/.venv/bin:$PATH"
mapfile -t flags < <(sed '/^#/d; s/ /\n/' "$config")
exec fairseq-train "$data" --user-dir "$root/transition_parser" --task transition_parsing \
    --save-dir "$checkpoints" --log-format simple "${flags[@]}" "$@"
