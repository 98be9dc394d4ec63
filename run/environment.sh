# Sourced by the scripts beside it. Sets `root`, the folder of the project, and puts the programs of the environment
# that run/setup.sh makes first in PATH, where that environment exists.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -x "$root/.venv/bin/transition-parser" ]; then PATH=$root/.venv/bin:$PATH; fi
# Waiting threads sleep, so that other programs, or a second training, have the cores. torch reads this variable when it
# is imported.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

# usage ARGUMENTS: prints the call of the script, and ends it
usage() {
    echo "usage: bash run/$(realpath --relative-to "$root/run" "$0") $*" >&2
    exit 2
}

# needs_fairseq: sets up what training needs, where fairseq is missing
needs_fairseq() {
    command -v fairseq-train >/dev/null || . "$root/run/setup.sh" all
}
