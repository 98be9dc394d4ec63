#!/usr/bin/env bash
# Oracle and replay over all AMR banks of a folder: bash run/check_banks.sh FOLDER
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -ne 1 ]; then
    echo "usage: bash run/check_banks.sh FOLDER" >&2
    exit 2
fi
[ -x "$root/.venv/bin/transition-parser" ] && PATH="$root/.venv/bin:$PATH"
status=0
for bank in "$1"/*/*.amr; do
    figures=$(transition-parser oracle "$bank" --system amr --check --skip-bad --json) || status=1
    echo "${bank#"$1"/} $figures"
done
exit $status
