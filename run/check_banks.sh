#!/usr/bin/env bash
# Every AMR of every bank to actions and back: bash run/check_banks.sh FOLDER (of */*.amr). Entries that can't be read
# are named and left out; exit status 1 if another graph is lost or one step is illegal.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
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
