# Sourced by the scripts beside it. Sets `root`, the folder of the project, and puts the programs of the environment
# that run/setup.sh makes first in PATH, where that environment exists.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -x "$root/.venv/bin/transition-parser" ]; then PATH=$root/.venv/bin:$PATH; fi
# Waiting threads sleep, so that other programs, or a second training, have the cores. torch reads this variable when it
# is imported.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

# given_columns MODEL …: prints the columns that one of the models, which parse together, reads and does not predict
given_columns() {
    python - "$@" <<'END'
import sys

from transition_parser import Parser
from transition_parser.base.errors import InputError

model, *others = sys.argv[1:]
try:
    print(*Parser.load(model, others=others).given_columns)
except InputError as error:
    sys.stderr.write(f"{error}\n")
    sys.exit(2)
END
}

# untagged FILE [MODEL …]: prints a CoNLL-U file without lemmas, tags and features, so that models that predict them do
# so; keeps the columns that the models must be given; prints other files unchanged
untagged() {
    local kept=
    case $1 in
    *.conllu)
        [ $# -lt 2 ] || kept=$(given_columns "${@:2}")
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
    echo "usage: bash run/$(realpath --relative-to "$root/run" "$0") $*" >&2
    exit 2
}

# needs_fairseq: sets up what training needs, where fairseq is missing
needs_fairseq() {
    command -v fairseq-train >/dev/null || . "$root/run/setup.sh" all
}
