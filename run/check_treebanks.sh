#!/usr/bin/env bash
# Turns every tree of every treebank into actions of every system and back:
# bash run/check_treebanks.sh FOLDER (of */*.conllu).
# Prints one JSON object for each file and system. Exit status 1 if any tree is lost or any step is illegal.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
if [ $# -ne 1 ] || [ ! -d "$1" ]; then usage FOLDER; fi
lost=0
for system in arc-standard arc-hybrid arc-eager arc-standard-swap arc-hybrid-swap; do
    for file in "$1"/*/*.conllu; do
        figures=$(transition-parser oracle "$file" --system "$system" --check --json) || lost=1
        echo "$system $(basename "$(dirname "$file")")/$(basename "$file") $figures"
    done
done
exit "$lost"
