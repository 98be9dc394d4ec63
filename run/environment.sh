# Sourced by the scripts beside it: `root` is the folder of the project; programs are those of the environment that
# run/setup.sh made there, if it did.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -x "$root/.venv/bin/transition-parser" ]; then PATH=$root/.venv/bin:$PATH; fi
# Threads that wait for work sleep, so that other programs, or a second training, have the cores. torch reads this when it
# is imported.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

# untagged FILE: a CoNLL-U file without lemmas, tags and features, so that a model that predicts them does; other files as
# they are
untagged() {
    case $1 in
    *.conllu) awk -F'\t' -v OFS='\t' 'NF == 10 && $1 !~ /[-.]/ { $3 = $4 = $5 = $6 = "_" } { print }' "$1" ;;
    *) cat "$1" ;;
    esac
}

# usage ARGUMENTS: says how the script is called
usage() {
    echo "usage: bash run/$(basename "$0") $*" >&2
    exit 2
}

# needs_fairseq: says how to get the programs that train
needs_fairseq() {
    command -v fairseq-train >/dev/null && return
    echo "$(basename "$0"): fairseq is not installed: bash run/setup.sh, or pip install 'transition-parser[train]'" >&2
    exit 2
}
