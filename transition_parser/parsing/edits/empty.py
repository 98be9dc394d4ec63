"""Nodes that say nothing, such as `or` without a member, leave the graph."""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph, Edge
from transition_parser.parsing.edits.draft import Draft, without
from transition_parser.transitions.amr_limits import SearchLimits, Sort, role_of_constants, sort_of

_COPIED = (Sort.NUMBER, Sort.STRING)  # constants that are copied from words always carry meaning


def remove_empty(draft: Draft) -> None:
    """Remove the nodes without meaning, if the draft has the limits of search."""
    if draft.limits is not None:
        draft.removed.update(without_meaning(draft.graph, draft.limits))


def without_meaning(graph: AmrGraph, limits: SearchLimits) -> frozenset[int]:
    """Return the nodes that carry no meaning; the top is never one of them.

    A conjunction or a `name` node with a single edge, unless this is an edge `:opN` to a member; a conjunction without
    outgoing edges if the rest stays connected; a constant that its parent has twice under one role; a constant whose
    role `limits` forbid, unless it is a number or a string. Search makes a node before its edges, so after the last
    words only a forbidden edge may be left.

    >>> graph = AmrGraph(("dog", "or", "+"), frozenset({2}), (Edge(1, "mod", 0), Edge(0, "mod", 2)))
    >>> sorted(without_meaning(graph, SearchLimits(0, 0, 1, targets={"polite": frozenset({Sort.PLUS})})))
    [1, 2]
    """
    removed = frozenset(node for node in _candidates(graph, limits) if node != graph.top)
    leaving = {edge.source for edge in graph.edges}
    for node, label in enumerate(graph.labels):
        if label in CONJUNCTIONS and node not in leaving | removed | graph.constants and node != graph.top:
            more = removed | {node}
            if without(graph, more).graph.is_connected():
                removed = more
    return removed


def _candidates(graph: AmrGraph, limits: SearchLimits) -> Iterator[int]:
    touching: list[list[Edge]] = [[] for _ in graph.labels]
    for edge in graph.edges:
        touching[edge.source].append(edge)
        touching[edge.target].append(edge)
    attributes: set[tuple[int, str, str]] = set()
    for node, edges in enumerate(touching):
        label, is_leaf = graph.labels[node], len(edges) == 1
        if node not in graph.constants:
            is_empty = is_leaf and (label in CONJUNCTIONS or label == Sort.NAME.value)
            if is_empty and not (edges[0].source == node and role_of_constants(edges[0].role) == "op"):
                yield node
        elif is_leaf:
            sort, attribute = sort_of(label, True), (edges[0].source, edges[0].role, label)
            if attribute in attributes or (sort not in limits.targets_under(edges[0].role) and sort not in _COPIED):
                yield node
            attributes.add(attribute)
