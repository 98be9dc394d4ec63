"""The completion of an AMR by given facts that search has not fulfilled, so that each fact holds."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph, Edge, distances, edge_of, quoted
from transition_parser.parsing.edits.draft import Draft, Edited
from transition_parser.parsing.given import Given, Span, normal_edge
from transition_parser.transitions.amr_limits import ONCE
from transition_parser.transitions.amr_state import AmrWord

_ROLE = "mod"  # the role of edges that are added only to connect the graph


class NodeFact(NamedTuple):
    """A fact about a node (`GivenNode`)."""

    span: Span
    label: str
    constant: bool
    strings: tuple[str, ...]  # of a name: the labels of its strings; else empty


class FactEnd(NamedTuple):
    """An end of an edge fact, or the given top of the graph."""

    fact: int  # the number of the node fact whose node is the end; −1 if any node from a word of `span` may be the end
    span: Span


class EdgeFact(NamedTuple):
    """A fact about an edge. The role is not inverse unless the target is a constant."""

    source: FactEnd
    role: str
    target: FactEnd


class SentenceFacts:
    """The facts about one sentence, as search and completion read them."""

    def __init__(self, given: Given, words: Sequence[AmrWord]) -> None:
        self.given, self.words = given, words
        self.nodes: list[NodeFact] = []
        for fact in given.nodes:
            first, last = fact.span
            forms = (word.form.replace('"', "").replace("\\", "") for word in words[first : last + 1])
            strings = () if fact.name is None else fact.name or [form for form in forms if form] or ["-"]
            self.nodes.append(NodeFact(fact.span, fact.concept, fact.is_constant, tuple(map(quoted, strings))))
        self.named_first = sorted(enumerate(self.nodes), key=lambda one: not one[1].strings)
        self.edges = [
            EdgeFact(self._end(source), role, self._end(target))
            for source, role, target in (normal_edge(given, edge) for edge in given.edges)
        ]
        self.top = None if given.top is None else self._end(given.resolved(given.top))
        # words that must join the word before them, and words that must not
        self.merged = {word for fact in self.nodes for word in range(fact.span[0] + 1, fact.span[1] + 1)}
        cut = {border for fact in self.nodes for border in (fact.span[0], fact.span[1] + 1)}
        cut |= {border for word in given.none for border in (word, word + 1)}
        for edge in self.edges:  # adjacent ends of an edge must not become one span
            for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if one.span[1] + 1 == other.span[0]:
                    cut.add(other.span[0])
        self.cut = cut - self.merged

    def _end(self, place: int | Span) -> FactEnd:
        return FactEnd(place, self.given.nodes[place].span) if isinstance(place, int) else FactEnd(-1, place)


class Completed(NamedTuple):
    """A graph that fulfils all facts."""

    edited: Edited | None  # None if the graph is the same
    alignments: tuple[tuple[int, ...], ...]  # the words of each node
    added: int  # the number of changes that the facts required


def complete(graph: AmrGraph, alignments: Sequence[Sequence[int]], facts: SentenceFacts) -> Completed:
    """Return the graph, changed so that it fulfils all facts."""
    draft = _Completion(graph, alignments, facts)
    draft.clear_none()
    draft.find_nodes()
    draft.make_nodes()
    for edge in [edge for edge in facts.edges if not draft.has(edge)]:
        draft.connect(edge)
    draft.join()
    if facts.top is not None:
        draft.choose_top(facts.top)
    if facts.given.complete:
        draft.remove_others()
    return draft.completed()


class _Completion(Draft):
    """A graph during its completion. A role in `edges` is not inverse unless the target is a constant."""

    def __init__(self, graph: AmrGraph, alignments: Sequence[Sequence[int]], facts: SentenceFacts) -> None:
        super().__init__(graph)
        self.facts, self.added = facts, 0
        self.node: dict[int, int] = {}  # the number of a node fact → its node
        self.alignments = [tuple(words) for words in alignments]
        self.edges = [edge if edge.target in self.constants else edge_of(*edge) for edge in graph.edges]
        self.given: set[Edge] = set()  # the edges that fulfil facts

    def completed(self) -> Completed:
        number = {edge: number for number, edge in enumerate(self.graph.edges)}
        self.edges = [*dict.fromkeys(self.edges)]
        self.edge_origins = [number.get(edge, -1) for edge in self.edges]
        aligned = (words for node, words in enumerate(self.alignments) if node not in self.removed)
        return Completed(self.result(), tuple(aligned), self.added)

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

    def find_nodes(self) -> None:
        for number, fact in self.facts.named_first:
            for node in self._alike(fact):
                if self.labels[node] == fact.label and self._has_name(node, fact):
                    self.node[number] = node
                    break

    def make_nodes(self) -> None:
        """Give each other node fact another node of the same words, with a new label, or a new node."""
        for number, fact in self.facts.named_first:
            if number in self.node:
                continue
            self.added += 1
            words = tuple(range(fact.span[0], fact.span[1] + 1))
            found = self._alike(fact)
            node = self.node[number] = found[0] if found else self._new(fact.label, fact.constant, words)
            self.labels[node] = fact.label
            if not self._has_name(node, fact):
                self._name(node, fact.strings, words)

    def _alike(self, fact: NodeFact) -> list[int]:
        """Return the free nodes outside names of the words of a fact: constants for a constant, else concepts."""
        words, taken = tuple(range(fact.span[0], fact.span[1] + 1)), {*self.node.values(), *self._parts_of_names()}
        return [
            node
            for node, of_node in enumerate(self.alignments)
            if of_node == words and node not in taken and (node in self.constants) == fact.constant
        ]

    def _has_name(self, node: int, fact: NodeFact) -> bool:
        """Return True where the node has the name of the fact, or the fact gives none."""
        names = [edge.target for edge in self.edges if edge.source == node and edge.role == "name"]
        of_names = ([edge for edge in self.edges if edge.source == name] for name in names)
        strings = [{edge.role: self.labels[edge.target] for edge in edges} for edges in of_names]
        return not fact.strings or {f"op{n}": string for n, string in enumerate(fact.strings, 1)} in strings

    def _parts_of_names(self, owners: Container[int] | None = None) -> set[int]:
        """Return the nodes inside the names of some nodes, by default of all."""
        named = (edge for edge in self.edges if edge.role == "name" and (owners is None or edge.source in owners))
        names = {edge.target for edge in named}
        return names | {edge.target for edge in self.edges if edge.source in names}

    def _new(self, label: str, constant: bool, words: tuple[int, ...]) -> int:
        self.alignments.append(words)
        return self.new_node(label, constant)

    def _name(self, node: int, strings: Sequence[str], words: tuple[int, ...]) -> None:
        """Give a node a name, in place of the name that it may have."""
        for edge in [edge for edge in self.edges if edge.source == node and edge.role == "name"]:
            own = [other for other in self.edges if other.source == edge.target and other.target in self.constants]
            if sum(edge.target in (other.source, other.target) for other in self.edges) == len(own) + 1:
                self.removed |= {edge.target, *(other.target for other in own)}
                self.edges = [other for other in self.edges if other != edge and other not in own]
        name = self._new("name", False, words)
        self.edges.append(Edge(node, "name", name))
        for number, string in enumerate(strings, 1):
            self.edges.append(Edge(name, f"op{number}", self._new(string, True, words)))

    # --- edges ---------------------------------------------------------------------------------------

    def has(self, fact: EdgeFact) -> bool:
        """Return True where the graph has the edge of a fact, and remember this edge."""
        sources, targets = self._candidates(fact.source), self._candidates(fact.target)
        found = [
            edge
            for edge in self.edges
            if (edge.role == fact.role and edge.source in sources and edge.target in targets)
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
        if wanted.role not in ONCE:
            return
        for rival in [e for e in self.edges if e[:2] == wanted[:2] and e not in self.given]:
            rest = [edge for edge in self.edges if edge != rival]
            if rival.target not in self.constants and rival.target in distances(rest, rival.source):
                self.edges = rest

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
        if end.fact >= 0:
            return [self.node[end.fact]]
        parts, (first, last) = self._parts_of_names() | self.removed, end.span
        return [
            node
            for node, words in enumerate(self.alignments)
            if node not in parts and words and first <= words[-1] and words[0] <= last
        ]

    def _node_of(self, end: FactEnd) -> int:
        """Return the node of a fact, or a new node of the last word of a span that may have one."""
        if end.fact >= 0:
            return self.node[end.fact]
        word = max(w for w in range(end.span[0], end.span[1] + 1) if w not in self.facts.given.none)
        read = self.facts.words[word]
        return self._new(read.lemma if read.lemma_is_symbol else "thing", False, (word,))

    def _head(self, nodes: Sequence[int]) -> int:
        """Return the concept, or without concepts the constant, that is nearest to the top of the graph."""
        steps = distances(self.edges, self.top)
        return min(nodes, key=lambda node: (node in self.constants, steps.get(node, len(self.labels)), node))

    # --- the whole -------------------------------------------------------------------------------------

    def join(self) -> None:
        """Connect all components with that of the top, by edges from the concepts whose words are nearest."""
        nodes = [i for i in range(len(self.labels)) if i not in self.removed]
        if self.top in self.removed:
            self.top = next(i for i in nodes if i not in self.constants)
        while True:
            whole = distances(self.edges, self.top)
            outside = [node for node in nodes if node not in whole]
            if not outside:
                return
            part = distances(self.edges, outside[0])
            concepts = [node for node in part if node not in self.constants] or [outside[0]]
            inside = [node for node in whole if node not in self.constants and node not in self._parts_of_names()]
            child = self._head(sorted(concepts))

            def distance(node: int, words: Sequence[int] = self.alignments[child]) -> int:
                return min((abs(a - b) for a in self.alignments[node] for b in words), default=0)

            self.edges.append(Edge(min(sorted(inside), key=distance), _ROLE, child))

    def choose_top(self, end: FactEnd) -> None:
        """Make the `_head` of the candidates for `end` the new top, unless the old top is a candidate."""
        candidates = [node for node in self._candidates(end) if node not in self.constants]
        if self.top not in candidates:
            self.added += 1
            self.top = self._head(candidates) if candidates else self._node_of(end)
            self.join()

    def remove_others(self) -> None:
        """Remove the nodes and edges that no fact gives, except edges that the graph needs to be connected."""
        names = self._parts_of_names({self.node[i] for i, fact in enumerate(self.facts.nodes) if fact.strings})
        ends = (node for edge in self.given for node in (edge.source, edge.target))
        known = {*self.node.values(), *names, *ends, self.top}
        edges = [edge for edge in self.edges if edge in self.given or (edge.target in names and edge.source in known)]
        for edge in self.edges:
            if {edge.source, edge.target} <= known and edge.target not in distances(edges, edge.source):
                edges.append(edge)
        self.added += len({*self.edges} - {*edges})
        self.removed |= {*range(len(self.labels))} - known
        self.edges = edges
        self.join()
