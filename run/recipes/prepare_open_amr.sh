#!/usr/bin/env bash
# Turns the open AMR corpora and the examples of the AMR guidelines into binarised data:
# bash run/recipes/prepare_open_amr.sh CORPORA DATA [FURTHER.amr …]
# CORPORA holds the folders lpp-v3.0, bio-union, qald9, wiser-dialogue-amr, scout-standard-amr and guidelines (which may
# be missing). Each has a train.amr made from the published files (see the cards of en-amr and en-amr-minilm);
# development and test data come from lpp-v3.0. FURTHER banks, such as a bank of run/recipes/silver.py, are for training, too.
# Entries that can't be read are named and left out.
. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
if [ $# -lt 2 ] || [ ! -d "$1" ]; then usage "CORPORA DATA [FURTHER.amr …]"; fi
corpora=$1 data=$2
shift 2
train=()
for corpus in lpp-v3.0 bio-union qald9 wiser-dialogue-amr scout-standard-amr guidelines; do
    if [ "$corpus" = guidelines ] && [ ! -d "$corpora/$corpus" ]; then continue; fi
    train+=("$corpora/$corpus/train.amr")
done
transition-parser preprocess amr --train "${train[@]}" "$@" --valid "$corpora/lpp-v3.0/dev.amr" \
    --test "$corpora/lpp-v3.0/test.amr" --dest "$data" --skip-bad --domains
bash "$root/run/binarise.sh" "$data"
