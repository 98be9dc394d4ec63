"""A canonical numbering of the nodes of AMRs, by which equal graphs are recognised.

Source: colour refinement with individualisation, as in McKay 1981, without the search over all ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from transition_parser.graphs.amr import AmrGraph


def canonical(graph: AmrGraph) -> AmrGraph:
    """Return the same graph with a numbering of nodes that depends only on their labels and on the edges around them.

    Different graphs never have equal canonical graphs. Graphs that differ only in their numbering have equal canonical
    graphs, with one exception. Nodes that refinement can't tell apart are numbered in any order. This makes no
    difference if these nodes are interchangeable, as in AMRs. In very regular graphs, such as two rings of equal nodes
    and roles, these nodes may not be interchangeable. Renumbering such a graph may then change its canonical graph.

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
    """Return a colour for each node. Nodes of one colour have the same edges to and from nodes of the same colours.

    `colours` is refined until no colour splits any more.
    """
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
    """Return the rank, from 0, of each value among the sorted distinct values."""
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return [place[value] for value in values]
