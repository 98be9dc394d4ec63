#!/usr/bin/env bash
# Turns trees or AMRs into binarised data:
# bash run/prepare.sh SYSTEM TRAIN VALID TEST DATA [more options of `preprocess`]
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -lt 5 ]; then usage "SYSTEM TRAIN VALID TEST DATA [option ...]"; fi
system=$1 train=$2 valid=$3 test=$4 data=$5
shift 5
kind=dependency
[ "$system" = amr ] && kind=amr
transition-parser preprocess "$kind" --system "$system" --train "$train" --valid "$valid" --test "$test" \
    --dest "$data" "$@"
bash "$root/run/binarise.sh" "$data"
