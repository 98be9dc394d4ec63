"""Figures of validation, without a network."""

from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.formalisms import AMR, TREES
from transition_parser.tasks.validation import FIGURES, counts_of

WANT = AmrGraph(
    ("want-01", "dog", "sleep-01"), frozenset(), (Edge(0, "ARG0", 1), Edge(0, "ARG1", 2), Edge(2, "ARG0", 1))
)


def figures(formalism, counts: list) -> dict:
    sums = {name: sum(count[name] for count in counts) for name in counts[0]}
    return {name: FIGURES[name](sums) for name in formalism.figures}


def test_counts_of_trees():
    gold = DependencyTree((2, 0, 2), ("nsubj", "root", "obj"))
    parsed = DependencyTree((2, 0, 1), ("obj", "root", "obj"))
    counts = [counts_of(gold, gold), counts_of(gold, parsed), counts_of(gold, None)]
    assert counts[1:] == [{"_words": 3, "_heads": 2, "_labeled": 1}, {"_words": 3, "_heads": 0, "_labeled": 0}]
    assert figures(TREES, counts) == {"uas": round(500 / 9, 2), "las": round(400 / 9, 2)}
    assert figures(TREES, [dict.fromkeys(counts[0], 0)]) == {"uas": 0.0, "las": 0.0}


def test_counts_of_amrs():
    parsed = AmrGraph(WANT.labels, frozenset(), WANT.edges[:2])
    depth = 1100
    deep = AmrGraph(("x",) * depth, frozenset(), tuple(Edge(i, "ARG0", i + 1) for i in range(depth - 1)))
    counts = [counts_of(WANT, graph) for graph in (WANT, parsed, None, deep)]
    assert [tuple(count.values()) for count in counts] == [(7, 7, 7), (6, 6, 7), (0, 0, 7), (2, 2200, 7)]
    assert figures(AMR, counts) == {"smatch": round(2 * 15 / (2213 + 28), 4)}
    assert figures(AMR, [dict.fromkeys(counts[0], 0)]) == {"smatch": 0.0}
