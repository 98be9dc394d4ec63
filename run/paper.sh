#!/usr/bin/env bash
# Runs the table of a paper on open data: trains, parses and scores each row of configs/papers/PAPER.toml.
#   bash run/paper.sh PAPER [TABLE] DATA OUT [--seeds N] [--every N] [--epochs N] [--rows NAME ...]
#       [--vectors FILE] [--device D]
# DATA: a folder with train, dev and test files, either .conllu or .amr. TABLE: by default the first one of the paper.
# Run it again to go on after an interruption; finished rows are not repeated. See `python run/paper.py --help`.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
arguments="PAPER [TABLE] DATA OUT [--seeds N] [--every N] [--epochs N] [--rows NAME ...] [--vectors FILE] [--device D]"
if [ $# -lt 3 ] || [ ! -f "$root/configs/papers/$1.toml" ]; then usage "$arguments"; fi
needs_fairseq
exec python "$root/run/paper.py" "$@"
