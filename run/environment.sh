# Sourced by the scripts beside it. Sets `root`, the folder of the project, and puts the programs of the environment
# that run/setup.sh makes first in PATH, where that environment exists.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -x "$root/.venv/bin/transition-parser" ]; then PATH=$root/.venv/bin:$PATH; fi
# Waiting threads sleep, so that other programs, or a second training, have the cores. torch reads this variable when it
# is imported.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

# untagged FILE [MODEL]: prints a CoNLL-U file without lemmas, tags and features, so that a model that predicts them does
# so; keeps the columns that MODEL reads and does not predict; prints other files unchanged
untagged() {
    local kept=
    case $1 in
    *.conllu)
        [ $# -lt 2 ] || kept=$(python -c 'import sys; from transition_parser import Parser
print(*Parser.load(sys.argv[1]).given_columns)' "$2")
        awk -F'\t' -v OFS='\t' -v kept="$kept" '
            function hide(name, column) { if (index(" " kept " ", " " name " ") == 0) $column = "_" }
            NF == 10 && $1 !~ /[-.]/ { hide("lemma", 3); hide("upos", 4); hide("xpos", 5); hide("feats", 6) }
            { print }' "$1"
        ;;
    *) cat "$1" ;;
    esac
}

# usage ARGUMENTS: prints the call of the script, and ends it
usage() {
    echo "usage: bash run/$(basename "$0") $*" >&2
    exit 2
}

# needs_fairseq: ends the script where fairseq is missing, with the commands that install it
needs_fairseq() {
    command -v fairseq-train >/dev/null && return
    echo "$(basename "$0"): fairseq is not installed: bash run/setup.sh, or pip install 'transition-parser[train]'" >&2
    exit 2
}
