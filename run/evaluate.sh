#!/usr/bin/env bash
# Parses a treebank with a model, greedily and with a beam of 10, and scores it: bash run/evaluate.sh MODEL GOLD.conllu
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -ne 2 ]; then
    echo "usage: bash run/evaluate.sh MODEL GOLD.conllu" >&2
    exit 2
fi
[ -x "$root/.venv/bin/transition-parser" ] && PATH="$root/.venv/bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for beam in 1 10; do
    transition-parser parse "$1" "$2" --beam "$beam" -o "$work/$beam.conllu"
    for labels in "" --full-labels; do
        figures=$(transition-parser score "$2" "$work/$beam.conllu" --json $labels)
        echo "beam $beam $labels $figures"
    done
done
