"""Gapless numbers for the members of lists in an AMR, whose roles are `:op1`, `:op2`, … or `:snt1`, `:snt2`, …"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from transition_parser.graphs.amr import AmrGraph, Edge

CONJUNCTIONS = ("and", "or")
_LISTED = re.compile(r"(op|snt)(\d+)")


def without_gaps(graph: AmrGraph) -> AmrGraph:
    """Return the graph with the roles of its lists numbered 1, 2, … without a gap, in the same order.

    Members with the same number get consecutive numbers, so repeating a number gives lists longer than in training. A
    conjunction whose only conjunct is `:op2` keeps this role, because gold graphs use it for a sentence that begins
    with "And". Gaps are removed from complete graphs only, because search adds the members of a list in any order.

    >>> graph = AmrGraph(("and", "dog", "cat"), frozenset(), (Edge(0, "op3", 1), Edge(0, "op1", 2)))
    >>> [edge.role for edge in without_gaps(graph).edges]
    ['op2', 'op1']
    """
    renamed: dict[Edge, Edge] = {}
    outgoing: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        outgoing.setdefault(edge.source, []).append(edge)
    for node, edges in outgoing.items():
        renamed |= zip(edges, gapless(graph.labels[node], edges), strict=True)
    return replace(graph, edges=tuple(renamed[edge] for edge in graph.edges))


def gapless(label: str, edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges that leave a node, with the roles of lists numbered without a gap. See `without_gaps`.

    label: the concept of the node
    """
    for name in ("op", "snt"):
        numbers = [(number, i) for i, edge in enumerate(edges) if (number := _number(edge.role, name)) is not None]
        if not (label in CONJUNCTIONS and [number for number, _ in numbers] == [2]):
            place = {i: place for place, (_, i) in enumerate(sorted(numbers), 1)}
            edges = [edge._replace(role=f"{name}{place[i]}") if i in place else edge for i, edge in enumerate(edges)]
    return list(edges)


def _number(role: str, name: str) -> int | None:
    match = _LISTED.fullmatch(role)
    return int(match[2]) if match and match[1] == name else None
