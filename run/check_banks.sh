#!/usr/bin/env bash
# Every AMR of every bank to actions and back: bash run/check_banks.sh FOLDER (of */*.amr). Entries that can't be read
# are named and left out; exit status 1 if another graph is lost or one step is illegal.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -ne 1 ] || [ ! -d "$1" ]; then usage FOLDER; fi
status=0
for bank in "$1"/*/*.amr; do
    figures=$(transition-parser oracle "$bank" --system amr --check --skip-bad --json) || status=1
    echo "${bank#"$1"/} $figures"
done
exit $status
