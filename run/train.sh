#!/usr/bin/env bash
# Trains (or resumes) an experiment: bash run/train.sh configs/NAME.flags DATA CHECKPOINTS [more flags of fairseq-train]
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -lt 3 ] || [ ! -f "$1" ] || [ ! -d "$2" ]; then usage "configs/NAME.flags DATA CHECKPOINTS [flag ...]"; fi
config=$1 data=$2 checkpoints=$3
shift 3
needs_fairseq
lines=$(python -m transition_parser.training.flags "$config")
mapfile -t flags <<<"$lines"
exec fairseq-train "$data" --user-dir "$root/transition_parser" --task transition_parsing \
    --save-dir "$checkpoints" --log-format simple "${flags[@]}" "$@"
