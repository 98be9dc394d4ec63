#!/usr/bin/env bash
# Turns every tree and AMR of a folder of corpora (*/*.conllu, */*.amr) into actions of every system, and back:
# bash run/check_corpora.sh FOLDER
# Prints a JSON object for each file and system. AMRs that can't be read are named and left out. Exit status 1 if any
# other graph is lost or any step is illegal.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -ne 1 ] || [ ! -d "$1" ]; then usage FOLDER; fi
shopt -s nullglob
lost=0
for file in "$1"/*/*.{conllu,amr}; do
    case $file in
    *.amr) systems=(amr) more=(--skip-bad) ;;
    *) systems=(arc-standard arc-hybrid arc-eager arc-standard-swap arc-hybrid-swap) more=() ;;
    esac
    for system in "${systems[@]}"; do
        figures=$(transition-parser oracle "$file" --system "$system" --check --json "${more[@]}") || lost=1
        echo "$system ${file#"$1"/} $figures"
    done
done
exit "$lost"
