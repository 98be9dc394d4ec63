"""The completion of an AMR by the facts that search has not fulfilled, so that each fact holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from transition_parser.graphs.amr import AmrGraph, Edge, edge_of
from transition_parser.parsing.facts import EdgeFact, FactEnd, NodeFact, SentenceFacts, overlaps
from transition_parser.transitions.amr_limits import ONCE

_ROLE = "mod"  # the role of edges that are added only to connect the graph


@dataclass(frozen=True)
class Completed:
    """A graph that fulfils all facts."""

    graph: AmrGraph
    alignments: tuple[tuple[int, ...], ...]  # the words of each node
    origins: tuple[int | None, ...]  # for each node its number before the completion; None for a new node
    added: int  # the number of changes that the facts required


def complete(
    graph: AmrGraph, alignments: Sequence[Sequence[int]], facts: SentenceFacts, made: Mapping[int, int]
) -> Completed:
    """Return the graph, changed so that it fulfils all facts."""
    draft = _Draft(graph, alignments, facts, made)
    draft.clear_none()
    for number, fact in enumerate(facts.nodes):
        draft.make(number, fact)
    for edge in [edge for edge in facts.edges if not draft.has(edge)]:
        draft.connect(edge)
    draft.join()
    if facts.top is not None:
        draft.choose_top(facts.top)
    if facts.given.complete:
        draft.remove_others()
    return draft.result()


class _Draft:
    """A graph during its completion. A role in `edges` is not inverse unless the target is a constant."""

    def __init__(
        self, graph: AmrGraph, alignments: Sequence[Sequence[int]], facts: SentenceFacts, made: Mapping[int, int]
    ) -> None:
        self.facts, self.node = facts, dict(made)
        self.labels, self.constants = list(graph.labels), set(graph.constants)
        self.alignments = [tuple(words) for words in alignments]
        self.edges = [edge if edge.target in self.constants else edge_of(*edge) for edge in graph.edges]
        self.top, self.added = graph.top, 0
        self.origins: list[int | None] = list(range(len(graph)))
        self.given: set[Edge] = set()  # the edges that fulfil facts
        self.removed: set[int] = set()

    def result(self) -> Completed:
        nodes = [i for i in range(len(self.labels)) if i not in self.removed]
        place = {old: new for new, old in enumerate(nodes)}
        graph = AmrGraph(
            tuple(self.labels[i] for i in nodes),
            frozenset(place[i] for i in self.constants if i in place),
            tuple(Edge(place[s], role, place[t]) for s, role, t in dict.fromkeys(self.edges)),
            place[self.top],
        )
        aligned = tuple(self.alignments[i] for i in nodes)
        return Completed(graph, aligned, tuple(self.origins[i] for i in nodes), self.added)

    # --- nodes ---------------------------------------------------------------------------------------

    def clear_none(self) -> None:
        """Remove words that must have no node from alignments. An empty alignment gets the nearest other word."""
        none = self.facts.given.none
        others = [word for word in range(len(self.facts.words)) if word not in none]
        for node, words in enumerate(self.alignments):
            kept = tuple(word for word in words if word not in none)
            if kept != words:
                self.added += 1
                self.alignments[node] = kept or (min(others, key=lambda word: abs(word - words[0])),)

    def make(self, number: int, fact: NodeFact) -> None:
        """Give a node fact its node: the node that search made, another node of the same words, or a new node."""
        words = tuple(range(fact.span[0], fact.span[1] + 1))
        node = self.node.get(number)
        if node is not None and self.labels[node] == fact.label and self._has_name(node, fact):
            return
        self.added += 1
        if node is None:
            taken = {*self.node.values()}
            node = next((i for i in self._alike(fact) if i not in taken and self.alignments[i] == words), None)
        if node is None:
            node = self._new(fact.label, fact.constant, words)
        self.labels[node] = fact.label
        self.node[number] = node
        if not self._has_name(node, fact):
            self._name(node, fact.strings, words)

    def _has_name(self, node: int, fact: NodeFact) -> bool:
        """Return True where the node has the name of the fact, or the fact gives none."""
        names = [edge.target for edge in self.edges if edge.source == node and edge.role == "name"]
        of_names = ([edge for edge in self.edges if edge.source == name] for name in names)
        strings = [{edge.role: self.labels[edge.target] for edge in edges} for edges in of_names]
        return not fact.name or {f"op{n}": string for n, string in enumerate(fact.strings, 1)} in strings

    def _alike(self, fact: NodeFact) -> Iterable[int]:
        """Yield the nodes outside names that a fact may relabel: constants for a constant, concepts for a concept."""
        parts = self._parts_of_names()
        for node in range(len(self.labels)):
            if node not in parts and (node in self.constants) == fact.constant:
                yield node

    def _parts_of_names(self) -> set[int]:
        names = {edge.target for edge in self.edges if edge.role == "name"}
        return names | {edge.target for edge in self.edges if edge.source in names}

    def _new(self, label: str, constant: bool, words: tuple[int, ...]) -> int:
        self.labels.append(label)
        self.alignments.append(words)
        self.origins.append(None)
        if constant:
            self.constants.add(len(self.labels) - 1)
        return len(self.labels) - 1

    def _name(self, node: int, strings: Sequence[str], words: tuple[int, ...]) -> None:
        """Give a node a name, in place of the name that it may have."""
        for edge in [edge for edge in self.edges if edge.source == node and edge.role == "name"]:
            self._remove_name(edge)
        name = self._new("name", False, words)
        self.edges.append(Edge(node, "name", name))
        for number, string in enumerate(strings, 1):
            self.edges.append(Edge(name, f"op{number}", self._new(string, True, words)))

    def _remove_name(self, edge: Edge) -> None:
        name = edge.target
        own = [other for other in self.edges if other.source == name and other.target in self.constants]
        if sum(name in (other.source, other.target) for other in self.edges) == len(own) + 1:
            self.removed |= {name, *(other.target for other in own)}
            self.edges = [other for other in self.edges if other != edge and other not in own]

    # --- edges ---------------------------------------------------------------------------------------

    def has(self, fact: EdgeFact) -> bool:
        """Return True where the graph has the edge of a fact, and remember this edge."""
        sources, targets = set(self._candidates(fact.source)), set(self._candidates(fact.target))
        found = [
            edge
            for edge in self.edges
            if edge.role == fact.role
            and edge.source in sources
            and edge.target in targets
            and not self._is_taken(edge.target, fact.target)
        ]
        self.given.update(found[:1])
        return bool(found)

    def connect(self, fact: EdgeFact) -> None:
        """Add the edge of a fact. It replaces an edge without a fact between the same two nodes."""
        self.added += 1
        source, target = self._ends(fact, self._candidates(fact.source), self._candidates(fact.target))
        wanted = Edge(source, fact.role, target)
        between = next(
            (e for e in self.edges if {e.source, e.target} == {source, target} and e not in self.given), None
        )
        if between is not None:
            self.edges.remove(between)
        if target in self.constants:  # a constant has one head
            self.edges = [edge for edge in self.edges if edge.target != target]
        self.edges.append(wanted)
        self.given.add(wanted)
        self._remove_rivals(wanted)

    def _ends(self, fact: EdgeFact, sources: list[int], targets: list[int]) -> tuple[int, int]:
        """Return two different nodes for a new edge: for each end the `_head` of its candidates, or else `_node_of`."""
        given = {self.node.get(end.fact) for end in (fact.source, fact.target)}
        concepts = [n for n in sources if n not in self.constants and (fact.source.fact >= 0 or n not in given)]
        source = self._head(concepts) if concepts else self._node_of(fact.source)
        others = [n for n in targets if n != source and not self._is_taken(n, fact.target)]
        if not others and len(concepts) > 1 and fact.target.fact < 0 and source in targets:
            others = [source]  # the only candidate for the target is one of several for the source
            source = self._head([node for node in concepts if node != source])
        return source, self._head(others) if others else self._node_of(fact.target)

    def _is_taken(self, node: int, end: FactEnd) -> bool:
        """Return True for a constant whose only edge comes, or will come, from another fact than that of `end`."""
        if node not in self.constants or end.fact >= 0:
            return False
        return node in self.node.values() or any(edge.target == node for edge in self.given)

    def _candidates(self, end: FactEnd) -> list[int]:
        """Return the nodes that may be an end of an edge."""
        if end.fact >= 0:
            return [self.node[end.fact]] if end.fact in self.node else []
        parts = self._parts_of_names() | self.removed
        return [
            node
            for node, words in enumerate(self.alignments)
            if node not in parts and words and overlaps(end.span, (words[0], words[-1]))
        ]

    def _node_of(self, end: FactEnd) -> int:
        """Return a node for an end (of an edge, or the top) that no node of the graph can be."""
        if end.fact >= 0:
            return self.node[end.fact]
        word = max(w for w in range(end.span[0], end.span[1] + 1) if w not in self.facts.given.none)
        read = self.facts.words[word]
        return self._new(read.lemma if read.lemma_is_symbol else "thing", False, (word,))

    def _head(self, nodes: Sequence[int]) -> int:
        """Return the concept, or without concepts the constant, that is nearest to the top of the graph."""
        steps = self._steps_from_top()
        return min(nodes, key=lambda node: (node in self.constants, steps.get(node, len(self.labels)), node))

    def _steps_from_top(self) -> dict[int, int]:
        """Return node → its distance from the top, over edges in any direction, for nodes connected with the top."""
        around = _around(self.edges)
        steps, reach = {self.top: 0}, [self.top]
        for node in reach:
            for other in around.get(node, ()):
                if other not in steps:
                    steps[other] = steps[node] + 1
                    reach.append(other)
        return steps

    def _remove_rivals(self, wanted: Edge) -> None:
        """Remove other edges of this source and role if the role is in `ONCE` and the graph stays connected."""
        if wanted.role not in ONCE:
            return
        rivals = [e for e in self.edges if e[:2] == wanted[:2] and e not in self.given]
        for rival in rivals:
            rest = [edge for edge in self.edges if edge != rival]
            if rival.target not in self.constants and rival.target in _reached(rest, rival.source):
                self.edges = rest

    def remove_others(self) -> None:
        """Remove edges and nodes that no fact gives, as far as the graph stays connected."""
        known = {*self.node.values(), *self._known_names(), self.top}
        for edge in [edge for edge in self.edges if edge not in self.given]:
            if {edge.source, edge.target} <= self._known_names() | known and edge.target in self._known_names():
                continue
            rest = [other for other in self.edges if other != edge]
            reached = _reached(rest, edge.source)
            lost = {edge.target} if edge.target not in reached else set()
            if not lost or (edge.target not in known and _reached(rest, edge.target) == lost):
                self.edges = rest
                self.removed |= lost
                self.added += 1

    def _known_names(self) -> set[int]:
        """Return the nodes inside the names of given nodes."""
        owners = {self.node[i] for i, fact in enumerate(self.facts.nodes) if fact.name and i in self.node}
        names = {edge.target for edge in self.edges if edge.role == "name" and edge.source in owners}
        return names | {edge.target for edge in self.edges if edge.source in names}

    # --- the whole -------------------------------------------------------------------------------------

    def join(self) -> None:
        """Connect all components with that of the top, by edges from the concepts whose words are nearest."""
        nodes = [i for i in range(len(self.labels)) if i not in self.removed]
        if self.top in self.removed:
            self.top = next(i for i in nodes if i not in self.constants)
        while True:
            whole = _reached(self.edges, self.top)
            outside = [node for node in nodes if node not in whole]
            if not outside:
                return
            part = _reached(self.edges, outside[0])
            concepts = [node for node in part if node not in self.constants] or [outside[0]]
            inside = [node for node in whole if node not in self.constants and node not in self._parts_of_names()]
            child = self._head(sorted(concepts))
            parent = min(sorted(inside), key=lambda node: self._distance(node, child))
            self.edges.append(Edge(parent, _ROLE, child))

    def _distance(self, one: int, other: int) -> int:
        return min((abs(a - b) for a in self.alignments[one] for b in self.alignments[other]), default=0)

    def choose_top(self, end: FactEnd) -> None:
        """Make the `_head` of the candidates for `end` the new top, unless the old top is a candidate."""
        candidates = [node for node in self._candidates(end) if node not in self.constants]
        if self.top not in candidates:
            self.added += 1
            self.top = self._head(candidates) if candidates else self._node_of(end)
            self.join()


def _around(edges: Iterable[Edge]) -> dict[int, list[int]]:
    around: dict[int, list[int]] = {}
    for source, _, target in edges:
        around.setdefault(source, []).append(target)
        around.setdefault(target, []).append(source)
    return around


def _reached(edges: Iterable[Edge], start: int) -> set[int]:
    """Return the nodes of the connected component of `start`."""
    around = _around(edges)
    seen, reach = {start}, [start]
    while reach:
        for other in around.get(reach.pop(), ()):
            if other not in seen:
                seen.add(other)
                reach.append(other)
    return seen
