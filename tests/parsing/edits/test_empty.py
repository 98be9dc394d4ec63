"""Nodes that say nothing are left out of a parse."""

import pytest

from tests.helpers.search_limits import TARGETS
from transition_parser.graphs.bank import parse_entry
from transition_parser.parsing.edits.draft import without
from transition_parser.parsing.edits.empty import without_meaning
from transition_parser.transitions.amr_limits import SearchLimits


@pytest.mark.parametrize(
    ("penman", "left"),
    [
        ("(d / dog :mod (o / or) :mod +)", "(d / dog)"),
        ("(d / dog :mod 5 :polarity -)", None),
        ("(d / dog :time - :mode expressive :mod expressive)", "(d / dog :mode expressive)"),
        ("(d / dog :quant 5 :quant 5 :li 5)", "(d / dog :quant 5 :li 5)"),
        ("(d / dog :name (n / name))", "(d / dog)"),
        ('(d / dog :name (n / name :op1 "Rex"))', None),
        ("(o / or)", None),
        ("(s / see-01 :ARG0 (o / or) :ARG1 (h / hear-01 :ARG0 o))", "(s / see-01 :ARG1 (h / hear-01))"),
        ("(s / see-01 :ARG0 (o / or :ARG0-of (h / hear-01)))", None),  # the hearing would be lost
        ("(s / see-01 :ARG0 (o / or :mod (d / dog)))", None),  # the dog would be lost
        ("(s / see-01 :ARG0 (d / dog :op1-of (a / and)))", None),
    ],
)
def test_what_says_nothing_is_left_out(penman, left):
    graph = parse_entry([penman]).graph
    smaller, nodes, edges = without(graph, without_meaning(graph, SearchLimits(9, 9, 9, targets=TARGETS)))
    assert smaller == (graph if left is None else parse_entry([left]).graph)
    assert [graph.labels[node] for node in nodes] == list(smaller.labels) and len(edges) == len(smaller.edges)
    assert smaller.is_connected()
