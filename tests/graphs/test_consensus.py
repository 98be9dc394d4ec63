"""The agreement of AMRs with each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.graphs import amr_matching
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.amr_matching import agreements
from transition_parser.graphs.amr_score import smatch_counts

SEE = AmrGraph(("see-01", "boy"), frozenset(), (Edge(0, "ARG0", 1),))
GRAPHS = [
    SEE,
    AmrGraph(("see-01", "girl", "-"), frozenset([2]), (Edge(0, "ARG0", 1), Edge(0, "polarity", 2))),
    AmrGraph(("boy", "see-01"), frozenset(), (Edge(1, "ARG1", 0),), 1),
    AmrGraph(("look-01", "boy"), frozenset(), (Edge(0, "ARG0", 1),), 1),
    AmrGraph(("boy",), frozenset(), ()),
]
WORDS = {"see-01": (1,), "look-01": (1,), "boy": (0,), "girl": (0,), "-": (2,)}


def words_of(graphs):
    return [[WORDS[label] for label in graph.labels] for graph in graphs]


@given(st.lists(st.tuples(st.sampled_from(GRAPHS), st.integers(1, 3)), min_size=1, max_size=6))
def test_an_agreement_is_the_mean_smatch_with_all(weighed):
    graphs, weights = zip(*weighed, strict=True)
    means = []
    for one in graphs:
        scores = [smatch_counts(one.to_penman(), other.to_penman()).f1 for other in graphs]
        means.append(sum(score * weight for score, weight in zip(scores, weights, strict=True)) / sum(weights))
    assert agreements(graphs, words_of(graphs), weights) == pytest.approx(means)


def test_the_climb_leaves_a_wrong_start():
    """Nodes of other words than their likes."""
    assert agreements([SEE, SEE], [((0,), (1,)), ((1,), (0,))], [1, 1]) == [1.0, 1.0]


def test_several_nodes_of_the_same_words():
    couple = AmrGraph(("and", "boy", "boy"), frozenset(), (Edge(0, "op1", 1), Edge(0, "op2", 2)))
    assert agreements([couple, couple], [[(0,)] * 3] * 2, [1, 3]) == [1.0, 1.0]


def test_large_graphs_are_not_compared(monkeypatch):
    monkeypatch.setattr(amr_matching, "LARGE", 3)
    assert agreements([SEE, SEE], words_of([SEE, SEE]), [1, 3]) == [0.0, 0.0]
