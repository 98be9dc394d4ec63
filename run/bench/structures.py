"""How many structures of a model's AMRs are certainly errors, and how many imperatives have `:mode imperative`.

    python run/bench/structures.py MODEL TREEBANK.conllu [--gold GOLD.amr ...] [--beam 10]

MODEL: a model of AMRs. It parses the sentences of the treebank, with the treebank's words. The odd structures are those
that run/recipes/silver.py leaves out; --gold counts them in banks, too. The imperatives are the verbs with Mood=Imp in
the treebank's features.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

from common import ROOT, amr_model, amr_options

from transition_parser import AmrParse
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import Sentence, read_conllu

sys.path.insert(0, str(ROOT / "run" / "recipes"))
from odd_structures import odd_structures


def imperatives(sentence: Sentence) -> set[int]:
    """Return the imperative verbs of a sentence; words count from 0."""
    return {i for i, word in enumerate(sentence.words) if word.upos == "VERB" and "Mood=Imp" in word.feats.split("|")}


def imperatives_of(parse: AmrParse) -> set[int]:
    """Return the words of nodes with `:mode imperative`."""
    graph = parse.graph
    nodes = {one.source for one in graph.edges if one.role == "mode" and graph.labels[one.target] == "imperative"}
    return {word for node in nodes for word in parse.alignments[node]}


def main() -> None:
    """Print the figures as JSON."""
    options = amr_options(__doc__ or "")
    options.add_argument("treebank", metavar="TREEBANK.conllu")
    options.add_argument("--gold", nargs="+", default=[], metavar="GOLD.amr", help="count odd structures here, too")
    arguments = options.parse_args()
    sentences = list(read_conllu(arguments.treebank))
    parses = amr_model(arguments).parse([one.forms for one in sentences])
    verbs = Counter(verbs=0, imperative=0, others=0)
    for sentence, parse in zip(sentences, parses, strict=True):
        gold, found = imperatives(sentence), imperatives_of(parse)
        verbs.update(verbs=len(gold), imperative=len(gold & found), others=len(found - gold))
    broken: list[InputError] = []
    gold_graphs = [entry.amr for path in arguments.gold for entry in read_bank(path, broken)]
    for name, graphs in (("parses", [parse.graph for parse in parses]), ("gold", gold_graphs)):
        kinds = Counter(kind for graph in graphs for kind in odd_structures(graph))
        print(json.dumps({name: len(graphs), "odd": kinds.total(), **dict(kinds.most_common())}))
    print(json.dumps({"imperative verbs of the treebank": verbs}))


if __name__ == "__main__":
    main()
