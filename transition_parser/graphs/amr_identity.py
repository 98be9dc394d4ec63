"""When two AMRs are the same graph: a numbering of nodes that does not depend on the one they have.

Source: colour refinement with individualisation, as in McKay 1981, without the search over all ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from transition_parser.graphs.amr import AmrGraph


def canonical(graph: AmrGraph) -> AmrGraph:
    """The same graph, its nodes numbered by what they are and what is around them: equal for equal graphs.

    Of nodes that look alike as far as edges lead, any is the first: they are interchangeable but in graphs of a
    regularity that AMRs do not have (two rings of equal nodes and roles), whose canonical graphs may differ. Different
    graphs never have equal ones.

    >>> from transition_parser.graphs.amr import Edge
    >>> one = AmrGraph(("want-01", "boy", "girl"), frozenset(), (Edge(0, "ARG0", 1), Edge(0, "ARG1", 2)))
    >>> other = AmrGraph(("girl", "want-01", "boy"), frozenset(), (Edge(1, "ARG1", 0), Edge(1, "ARG0", 2)), 1)
    >>> canonical(one) == canonical(other)
    True
    """
    kinds = [(label, node in graph.constants, node == graph.top) for node, label in enumerate(graph.labels)]
    colours = _refined(graph, _numbered(kinds))
    while len(set(colours)) < len(graph):
        tied = min(colour for colour, count in Counter(colours).items() if count > 1)
        first = colours.index(tied)
        colours = _refined(graph, _numbered([(colour, node != first) for node, colour in enumerate(colours)]))
    return graph.renumbered(sorted(range(len(graph)), key=colours.__getitem__))


def _refined(graph: AmrGraph, colours: list[int]) -> list[int]:
    """Colours that also say which roles lead to and from nodes of which colours, until nothing new is said."""
    while True:
        around: list[list[tuple]] = [[] for _ in colours]
        for source, role, target in graph.edges:
            around[source].append((role, 0, colours[target]))
            around[target].append((role, 1, colours[source]))
        finer = _numbered([(colour, tuple(sorted(own))) for colour, own in zip(colours, around, strict=True)])
        if len(set(finer)) == len(set(colours)):
            return finer
        colours = finer


def _numbered(values: Sequence[Any]) -> list[int]:
    """The place of each value among those that there are, sorted."""
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return [place[value] for value in values]
