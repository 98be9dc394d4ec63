"""When two AMRs are the same graph."""

import random

from hypothesis import given
from hypothesis import strategies as st

from transition_parser.graphs.amr import AmrGraph, Edge, canonical


@st.composite
def graphs(draw) -> AmrGraph:
    """Any, with few labels and roles, so that many nodes look alike."""
    n = draw(st.integers(1, 7))
    labels = draw(st.lists(st.sampled_from(["a", "b"]), min_size=n, max_size=n))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.builds(Edge, node, st.sampled_from(["mod", "ARG0"]), node), max_size=9, unique=True))
    constants = frozenset({n - 1} & {edge.target for edge in edges} - {edge.source for edge in edges} - {0})
    return AmrGraph(tuple(labels), constants, tuple(edges))


def shuffled(graph: AmrGraph, seed: int) -> AmrGraph:
    order = list(range(len(graph)))
    random.Random(seed).shuffle(order)
    return graph.renumbered(order)


@given(graphs())
def test_a_canonical_graph_is_the_same_graph(graph):
    """It has the same nodes and edges, and is canonical itself."""
    found = canonical(graph)
    assert sorted(found.labels) == sorted(graph.labels) and len(found.edges) == len(graph.edges)
    assert found.labels[found.top] == graph.labels[graph.top]
    assert sorted((found.labels[s], role, found.labels[t]) for s, role, t in found.edges) == sorted(
        (graph.labels[s], role, graph.labels[t]) for s, role, t in graph.edges
    )


# seven nodes do not hold two rings that refinement can't tell from one of six
@given(graphs(), st.integers(0, 2**32))
def test_numbering_does_not_matter(graph, seed):
    assert canonical(shuffled(graph, seed)) == canonical(graph)


def test_what_differs_matters():
    chain = AmrGraph(("a", "a", "a"), frozenset(), (Edge(0, "mod", 1), Edge(1, "mod", 2)))
    others = [
        AmrGraph(("a", "a", "a"), frozenset(), (Edge(0, "mod", 1), Edge(0, "mod", 2))),
        AmrGraph(("a", "a", "a"), frozenset(), (Edge(0, "mod", 1), Edge(1, "mod", 2)), 1),
        AmrGraph(("a", "a", "a"), frozenset({2}), (Edge(0, "mod", 1), Edge(1, "mod", 2))),
        AmrGraph(("a", "a", "a"), frozenset(), (Edge(0, "mod", 1), Edge(1, "ARG0", 2))),
        AmrGraph(("a", "a", "b"), frozenset(), (Edge(0, "mod", 1), Edge(1, "mod", 2))),
        AmrGraph(("a", "a"), frozenset(), (Edge(0, "mod", 1),)),
    ]
    found = [canonical(graph) for graph in (chain, *others)]
    assert len(set(found)) == len(found)
