#!/usr/bin/env bash
# Sets up, parses plain English sentences into trees and AMRs with the models of the package, and scores the models
# on the sample corpora.
if [ $# -ne 0 ]; then
    echo "usage: bash run/quickstart.sh" >&2
    exit 2
fi
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" parsing
data=$root/tests/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== $(wc -l <"$data/sentences.txt") English sentences, one a line, to trees (transition-parser parse en --tokenize)"
transition-parser parse en "$data/sentences.txt" --tokenize -o "$work/sentences.conllu"
cut -f 1-4,7,8 "$work/sentences.conllu"

echo "== $(wc -l <"$data/amr_sentences.txt") English sentences, one a line, to AMRs (transition-parser parse amr --tokenize --alignments marks)"
transition-parser parse amr "$data/amr_sentences.txt" --tokenize --alignments marks --beam 10 -o "$work/sentences.amr"
grep -v -E '^# ::(id|tok|alignments|node)' "$work/sentences.amr"

cat <<END

The two sample corpora are English sentences with gold graphs, written by hand for this package, not drawn from real text:
$(grep -c '^# sent_id' "$data/sample.conllu") with dependency trees (tests/data/sample.conllu), $(grep -c '^# ::id' "$data/sample.amr") with AMRs (tests/data/sample.amr).
The lemmas of the trees were drafted by en-ewt-minilm and corrected by hand: their score below measures little.
END
echo "== the oracles: gold trees to actions and back (transition-parser oracle --check)"
transition-parser oracle "$data/sample.conllu" --system arc-hybrid-swap --check
echo "== the oracles: gold AMRs to actions and back"
transition-parser oracle "$data/sample.amr" --system amr --check

echo "== the trees, parsed by the model en without gold tags, and scored in percent (transition-parser parse, score)"
untagged "$data/sample.conllu" >"$work/untagged.conllu"
transition-parser parse en "$work/untagged.conllu" -o "$work/sample.conllu"
transition-parser score "$data/sample.conllu" "$work/sample.conllu"
echo "== the AMRs, parsed by the model amr, and scored from 0 to 1"
transition-parser parse amr "$data/sample.amr" --beam 10 -o "$work/sample.amr"
transition-parser score "$data/sample.amr" "$work/sample.amr"
