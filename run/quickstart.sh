#!/usr/bin/env bash
# Sets up, parses plain English sentences with the model of the package, prints the trees, and scores
# the model on the sample treebank.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
sentences=$root/tests/data/sentences.txt
sample=$root/tests/data/sample.conllu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== $(wc -l <"$sentences") plain sentences to trees (transition-parser parse en-ewt --tokenize)"
transition-parser parse en-ewt "$sentences" --tokenize --beam 10 -o "$work/sentences.conllu"
cut -f 1,2,7,8 "$work/sentences.conllu"

echo "== the sample treebank: gold trees to actions and back (transition-parser oracle --check)"
transition-parser oracle "$sample" --system arc-hybrid-swap --check

echo "== the sample treebank, parsed and scored (transition-parser parse, score)"
transition-parser parse en-ewt "$sample" --beam 10 -o "$work/sample.conllu"
transition-parser score "$sample" "$work/sample.conllu"
