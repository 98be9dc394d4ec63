"""The completion of an AMR by given facts that search has not fulfilled, so that each fact holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, Edge, distances, edge_of
from transition_parser.parsing.edits.draft import Draft, Edited
from transition_parser.parsing.given import End, Given, GivenEdge, GivenNode
from transition_parser.transitions.amr_limits import ONCE
from transition_parser.transitions.amr_state import AmrWord

_ROLE = "mod"  # the role of edges that are added only to connect the graph


class Completed(NamedTuple):
    """A graph that fulfils all facts."""

    edited: Edited | None  # None if the graph is the same
    alignments: tuple[tuple[int, ...], ...]  # the words of each node
    added: int  # the number of changes that the facts required


def complete(graph: AmrGraph, alignments: Sequence[Sequence[int]], given: Given, words: Sequence[AmrWord]) -> Completed:
    """Return the graph of a sentence with these words, changed so that it fulfils all facts."""
    draft = _Completion(graph, alignments, given, words)
    draft.clear_none()
    draft.place_nodes()
    for edge in [edge for edge in given.normal_edges if not draft.has(edge)]:
        draft.connect(edge)
    draft.join()
    if given.top is not None:
        draft.choose_top(given.top)
    return draft.completed()


class _Completion(Draft):
    """A graph during its completion. A role in `edges` is not inverse unless the target is a constant."""

    def __init__(
        self, graph: AmrGraph, alignments: Sequence[Sequence[int]], given: Given, words: Sequence[AmrWord]
    ) -> None:
        super().__init__(graph, [*map(tuple, alignments)], words)
        self.given, self.added = given, 0
        self.node: dict[str, int] = {}  # the variable of a given node → the node
        self.edges = [edge if edge.target in self.constants else edge_of(*edge) for edge in graph.edges]
        self.fulfilled: set[Edge] = set()  # the edges that fulfil facts

    def completed(self) -> Completed:
        number = {edge: number for number, edge in enumerate(self.graph.edges)}
        self.edges = [*dict.fromkeys(self.edges)]
        self.edge_origins = [number.get(edge, -1) for edge in self.edges]
        return Completed(self.result(), tuple(self.alignments), self.added)

    # --- nodes ---------------------------------------------------------------------------------------

    def clear_none(self) -> None:
        """Remove words that must have no node from alignments. An empty alignment gets the nearest other word."""
        none = self.given.none
        others = [word for word in range(len(self.words)) if word not in none]
        for node, words in enumerate(self.alignments):
            kept = tuple(word for word in words if word not in none)
            if kept != words:
                self.added += 1
                self.alignments[node] = kept or (min(others, key=lambda word: abs(word - words[0])),)

    def place_nodes(self) -> None:
        """Find the node of each fact, or give another node of its words, outside names, its label, or make a node."""
        for variable, fact in self.given.nodes.items():
            alike = (node for node in self._free(fact) if self.labels[node] == fact.concept)
            if (node := next(alike, None)) is not None:
                self.node[variable] = node
        for variable, fact in self.given.nodes.items():
            if variable not in self.node:
                self.added += 1
                others, names = self._free(fact), self._parts_of_names()
                node = next((one for one in others if one not in names), None)
                if node is None:
                    node = self._new(fact.concept, fact.is_constant, tuple(range(fact.span[0], fact.span[1] + 1)))
                self.node[variable], self.labels[node] = node, fact.concept

    def _free(self, fact: GivenNode) -> list[int]:
        """Return the nodes of the words of a fact that no other fact has: constants for a constant, else concepts."""
        words, taken = tuple(range(fact.span[0], fact.span[1] + 1)), {*self.node.values()}
        return [
            node
            for node, of_node in enumerate(self.alignments)
            if of_node == words and node not in taken and (node in self.constants) == fact.is_constant
        ]

    def _parts_of_names(self) -> set[int]:
        """Return the nodes inside names."""
        names = {edge.target for edge in self.edges if edge.role == "name"}
        return names | {edge.target for edge in self.edges if edge.source in names}

    def _new(self, label: str, constant: bool, words: tuple[int, ...]) -> int:
        self.alignments.append(words)
        return self.new_node(label, constant)

    # --- edges ---------------------------------------------------------------------------------------

    def has(self, fact: GivenEdge) -> bool:
        """Return True where the graph has the edge of a fact, and remember this edge."""
        sources, targets = self._candidates(fact.source), self._candidates(fact.target)
        found = [
            edge
            for edge in self.edges
            if (edge.role == fact.role and edge.source in sources and edge.target in targets)
            and not self._is_taken(edge.target, fact.target)
        ]
        self.fulfilled.update(found[:1])
        return bool(found)

    def connect(self, fact: GivenEdge) -> None:
        """Add the edge of a fact. It replaces an edge without a fact between the same two nodes."""
        self.added += 1
        source, target = self._ends(fact, self._candidates(fact.source), self._candidates(fact.target))
        wanted = Edge(source, fact.role, target)
        free = [edge for edge in self.edges if edge not in self.fulfilled]
        between = next((edge for edge in free if {edge.source, edge.target} == {source, target}), None)
        if between is not None:
            self.edges.remove(between)
        if target in self.constants:  # a constant has one head
            self.edges = [edge for edge in self.edges if edge.target != target]
        self.edges.append(wanted)
        self.fulfilled.add(wanted)
        if wanted.role not in ONCE:
            return
        for rival in [e for e in self.edges if e[:2] == wanted[:2] and e not in self.fulfilled]:
            rest = [edge for edge in self.edges if edge != rival]
            if rival.target not in self.constants and rival.target in distances(rest, rival.source):
                self.edges = rest

    def _ends(self, fact: GivenEdge, sources: list[int], targets: list[int]) -> tuple[int, int]:
        """Return two different nodes for a new edge: for each end the `_head` of its candidates, or else `_node_of`."""
        given = {self.node[end] for end in (fact.source, fact.target) if isinstance(end, str)}
        is_given = isinstance(fact.source, str)
        concepts = [n for n in sources if n not in self.constants and (is_given or n not in given)]
        source = self._head(concepts) if concepts else self._node_of(fact.source)
        others = [n for n in targets if n != source and not self._is_taken(n, fact.target)]
        if not others and len(concepts) > 1 and not isinstance(fact.target, str) and source in targets:
            others = [source]  # the only candidate for the target is one of several for the source
            source = self._head([node for node in concepts if node != source])
        return source, self._head(others) if others else self._node_of(fact.target)

    def _is_taken(self, node: int, end: End) -> bool:
        """Return True for a constant whose only edge comes, or will come, from another fact than that of `end`."""
        if node not in self.constants or isinstance(end, str):
            return False
        return node in self.node.values() or any(edge.target == node for edge in self.fulfilled)

    def _candidates(self, end: End) -> list[int]:
        if isinstance(end, str):
            return [self.node[end]]
        parts, (first, last) = self._parts_of_names(), end
        return [
            node
            for node, words in enumerate(self.alignments)
            if node not in parts and words and first <= words[-1] and words[0] <= last
        ]

    def _node_of(self, end: End) -> int:
        """Return the node of a fact, or a new node of the last word of a span that may have one."""
        if isinstance(end, str):
            return self.node[end]
        word = max(w for w in range(end[0], end[1] + 1) if w not in self.given.none)
        read = self.words[word]
        return self._new(read.lemma if read.lemma_is_symbol else "thing", False, (word,))

    def _head(self, nodes: Sequence[int]) -> int:
        """Return the concept, or without concepts the constant, that is nearest to the top of the graph."""
        steps = distances(self.edges, self.top)
        return min(nodes, key=lambda node: (node in self.constants, steps.get(node, len(self.labels)), node))

    # --- the whole -------------------------------------------------------------------------------------

    def join(self) -> None:
        """Connect all components with that of the top, by edges from the concepts whose words are nearest."""
        whole = distances(self.edges, self.top)
        while outside := [node for node in range(len(self.labels)) if node not in whole]:
            part = distances(self.edges, outside[0])
            concepts = [node for node in part if node not in self.constants] or [outside[0]]
            inside = [node for node in whole if node not in self.constants and node not in self._parts_of_names()]
            child = self._head(sorted(concepts))

            def distance(node: int, words: Sequence[int] = self.alignments[child]) -> int:
                return min((abs(a - b) for a in self.alignments[node] for b in words), default=0)

            self.edges.append(Edge(min(sorted(inside), key=distance), _ROLE, child))
            whole = distances(self.edges, self.top)

    def choose_top(self, end: End) -> None:
        """Make the `_head` of the candidates for `end` the new top, unless the old top is a candidate."""
        candidates = [node for node in self._candidates(end) if node not in self.constants]
        if self.top not in candidates:
            self.added += 1
            self.top = self._head(candidates) if candidates else self._node_of(end)
            self.join()
