"""Strays: nodes of a finished AMR that carry no meaning. Search could not foresee them, but they can be removed."""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph, Edge
from transition_parser.transitions.amr_limits import SearchLimits, Sort, role_of_constants, sort_of

_COPIED = (Sort.NUMBER, Sort.STRING)  # constants that are copied from words always carry meaning


def strays(graph: AmrGraph, limits: SearchLimits) -> frozenset[int]:
    """Return the nodes that carry no meaning; the top is never one of them.

    A conjunction or a `name` node is a stray if it has a single edge, and this is not an edge `:opN` to a member. A
    conjunction without outgoing edges is a stray if the rest of the graph stays connected. A constant is a stray if its
    parent has the same constant under the same role already, or if `limits` forbid its role and it is neither a number
    nor a string. Search makes a node before its edges, so after the last words only a forbidden edge may be left.

    >>> graph = AmrGraph(("dog", "or", "+"), frozenset({2}), (Edge(1, "mod", 0), Edge(0, "mod", 2)))
    >>> sorted(strays(graph, SearchLimits(0, 0, 1, targets={"polite": frozenset({Sort.PLUS})})))
    [1, 2]
    """
    gone = frozenset(node for node in _found(graph, limits) if node != graph.top)
    leaving = {edge.source for edge in graph.edges}
    for node, label in enumerate(graph.labels):
        if label in CONJUNCTIONS and node not in leaving | gone | graph.constants and node != graph.top:
            more = gone | {node}
            if without(graph, more)[0].is_connected():
                gone = more
    return gone


def _found(graph: AmrGraph, limits: SearchLimits) -> Iterator[int]:
    touching: list[list[Edge]] = [[] for _ in graph.labels]
    for edge in graph.edges:
        touching[edge.source].append(edge)
        touching[edge.target].append(edge)
    attributes: set[tuple[int, str, str]] = set()
    for node, edges in enumerate(touching):
        label, alone = graph.labels[node], len(edges) == 1
        if node not in graph.constants:
            if alone and (label in CONJUNCTIONS or label == Sort.NAME.value) and not _has_member(node, edges[0]):
                yield node
        elif alone:
            sort, attribute = sort_of(label, True), (edges[0].source, edges[0].role, label)
            if attribute in attributes or (sort not in limits.targets_under(edges[0].role) and sort not in _COPIED):
                yield node
            attributes.add(attribute)


def _has_member(node: int, edge: Edge) -> bool:
    return edge.source == node and role_of_constants(edge.role) == "op"


def without(graph: AmrGraph, gone: frozenset[int]) -> tuple[AmrGraph, list[int], list[int]]:
    """Return the graph without the nodes `gone`, and the old numbers of the nodes and edges that are left."""
    nodes = [node for node in range(len(graph)) if node not in gone]
    edges = [number for number, edge in enumerate(graph.edges) if not gone & {edge.source, edge.target}]
    place = {old: new for new, old in enumerate(nodes)}
    left = [graph.edges[number] for number in edges]
    return (
        AmrGraph(
            tuple(graph.labels[node] for node in nodes),
            frozenset(place[node] for node in nodes if node in graph.constants),
            tuple(Edge(place[source], role, place[target]) for source, role, target in left),
            place[graph.top],
        ),
        nodes,
        edges,
    )
