"""Lists of an AMR, numbered without gaps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.graphs.amr import AmrGraph, Edge, without_gaps
from transition_parser.graphs.bank import parse_entry


@pytest.mark.parametrize(
    ("penman", "roles"),
    [
        ("(a / and :op1 (b / b) :op3 (c / c) :op7 (d / d))", ["op1", "op2", "op3"]),
        ("(a / and :op4 (b / b) :op1 (c / c) :mod (d / d))", ["op2", "op1", "mod"]),
        ("(a / and :op2 (b / b) :op1 (c / c) :op2 (d / d))", ["op2", "op1", "op3"]),
        ("(a / and :op2 (b / b))", ["op2"]),
        ("(a / or :op3 (b / b))", ["op1"]),
        ("(n / name :op2 (b / b))", ["op1"]),
        ("(m / multi-sentence :snt2 (b / b) :snt4 (c / c) :op2 (d / d))", ["snt1", "snt2", "op1"]),
        ("(a / a :ARG2 (b / b) :opaque (c / c))", ["ARG2", "opaque"]),
    ],
)
def test_lists_are_numbered_without_gaps(penman, roles):
    assert [edge.role for edge in without_gaps(parse_entry([penman]).graph).edges] == roles


@given(
    st.sets(st.tuples(st.sampled_from(["op", "snt"]), st.integers(0, 99)), max_size=9), st.sampled_from(["and", "a"])
)
def test_the_order_stays_and_nothing_else_changes(numbers, label):
    edges = tuple(Edge(0, f"{name}{number}", i) for i, (name, number) in enumerate(sorted(numbers), 1))
    graph = AmrGraph((label, *"b" * len(edges)), frozenset(), edges)
    done = without_gaps(graph)
    assert without_gaps(done) == done and (done.labels, done.top) == (graph.labels, graph.top)
    assert [edge.target for edge in done.edges] == [edge.target for edge in graph.edges]
    for name in ("op", "snt"):
        after = [int(edge.role[len(name) :]) for edge in done.edges if edge.role.startswith(name)]
        assert after in ([*range(1, len(after) + 1)], [2] * (label == "and"))
