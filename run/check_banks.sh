#!/usr/bin/env bash
# Turns every AMR of every bank into actions and back: bash run/check_banks.sh FOLDER (of */*.amr).
# Entries that can't be read are named and left out. Exit status 1 if any other graph is lost or any step is illegal.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -ne 1 ] || [ ! -d "$1" ]; then usage FOLDER; fi
status=0
for bank in "$1"/*/*.amr; do
    figures=$(transition-parser oracle "$bank" --system amr --check --skip-bad --json) || status=1
    echo "${bank#"$1"/} $figures"
done
exit $status
