"""AMRs that are edited after search, and where their nodes and edges come from."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, Edge


class Edited(NamedTuple):
    """A graph after an edit."""

    graph: AmrGraph
    nodes: list[int]  # for each node the old node whose words and confidence it has, -1 for none
    edges: list[int]  # for each edge its old number, -1 for a new edge


def without(graph: AmrGraph, removed: Collection[int]) -> Edited:
    """Return the graph without the nodes `removed` and their edges."""
    nodes = [node for node in range(len(graph)) if node not in removed]
    edges = [n for n, edge in enumerate(graph.edges) if edge.source not in removed and edge.target not in removed]
    return Edited(graph.part(nodes, [graph.edges[number] for number in edges]), nodes, edges)


class Draft:
    """A graph during an edit. Its nodes keep their numbers; those in `removed` stay until the result is made."""

    def __init__(self, graph: AmrGraph) -> None:
        self.graph, self.labels, self.edges, self.top = graph, [*graph.labels], [*graph.edges], graph.top
        self.constants, self.removed = {*graph.constants}, set[int]()
        self.node_origins, self.edge_origins = [*range(len(graph))], [*range(len(graph.edges))]

    def nodes_of(self, label: str) -> list[int]:
        """Return the nodes with a label."""
        return [node for node, known in enumerate(self.labels) if known == label]

    def neighbours(self, node: int) -> set[int]:
        """Return the nodes at the other ends of the edges of a node."""
        return {source + target - node for source, _, target in self.edges if node in (source, target)}

    def new_node(self, label: str, is_constant: bool, origin: int = -1) -> int:
        """Add a node and return its number. It has the words and confidence of `origin`, none and 1 for -1."""
        self.labels.append(label)
        self.node_origins.append(origin)
        if is_constant:
            self.constants.add(len(self.labels) - 1)
        return len(self.labels) - 1

    def add_edge(self, source: int, role: str, target: int) -> None:
        self.edges.append(Edge(source, role, target))
        self.edge_origins.append(-1)

    def result(self) -> Edited | None:
        """Return the edited graph, None if nothing has changed or the graph is not connected."""
        whole = AmrGraph(tuple(self.labels), frozenset(self.constants), tuple(self.edges), self.top)
        if whole == self.graph and not self.removed:
            return None
        graph, nodes, edges = without(whole, self.removed)
        if not graph.is_connected():
            return None
        return Edited(graph, [self.node_origins[node] for node in nodes], [self.edge_origins[edge] for edge in edges])
