"""Facts about the AMR of a sentence that are known before parsing, and that the parse keeps.

`complete` changes a graph so that it fulfills the facts that search has not fulfilled.

Words count from 0. A span is its first and its last word. An end of an edge, and the top, is a variable, or a span,
which stands for any node that comes from one of its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from transition_parser.base.errors import InputError, shortened
from transition_parser.graphs.amr import AmrGraph, Edge, distances, edge_of
from transition_parser.parsing.edits.draft import Draft, Edited
from transition_parser.transitions.amr_limits import ONCE, WordFacts
from transition_parser.transitions.amr_state import AmrWord, is_constant, limits_of

Span = tuple[int, int]  # first and last word
End = str | Span  # an end of an edge: the variable of a given node, or any node of a span


class GivenNode(NamedTuple):
    """A node that the graph has.

    span: the words that the node comes from; they become one span of the derivation
    concept: the label of the node, a concept (`price-01`) or a constant as PENMAN writes it (`-`, `6`, `"New"`)
    """

    span: Span
    concept: str

    @property
    def is_constant(self) -> bool:
        """True where the node is a constant."""
        return is_constant(self.concept)

    def __str__(self) -> str:
        return f"the node {shortened(self.concept)} of {_words(self.span)}"


class GivenEdge(NamedTuple):
    """An edge that the graph has.

    source, target: the variables of given nodes, or spans; a span stands for any node that comes from one of its words
    role: the role without its colon; inverse roles are allowed
    """

    source: End
    role: str
    target: End

    def __str__(self) -> str:
        return f"the edge :{shortened(self.role)} from {_end(self.source)} to {_end(self.target)}"


@dataclass(frozen=True)
class Given:
    """The facts about one sentence.

    nodes: variable → node; several nodes may come from one span
    none: words that no node comes from
    top: the top of the graph: a variable or a span, as for the end of an edge

    Raises `InputError` for facts that contradict each other.
    """

    nodes: Mapping[str, GivenNode] = field(default_factory=dict)
    edges: tuple[GivenEdge, ...] = ()
    none: frozenset[int] = frozenset()
    top: End | None = None

    def __post_init__(self) -> None:
        for what, end in self._ends():
            if isinstance(end, str) and end not in self.nodes:
                raise InputError(f"{what}: no node has the variable {end!r:.60}")
        for what, (first, last) in self._spans():
            if not 0 <= first <= last:
                raise InputError(f"{what}: a span is its first and its last word, counted from 0")
        nodes = sorted(self.nodes.values(), key=lambda node: node.span)
        for one, other in pairwise(nodes):
            if one.span != other.span and other.span[0] <= one.span[1]:
                raise InputError(f"{one} and {other} overlap: their spans must be equal, or have no word in common")
        for node in nodes:
            if inside := self._none_in(node.span):
                raise InputError(f"{node} contradicts that word {min(inside)} must have no node")
        for what, end in self._ends():
            if not isinstance(end, str) and len(self._none_in(end)) > end[1] - end[0]:
                raise InputError(f"{what}: a node of {_words(end)} is wanted, but {_words(end)} must have none")
        self._check_edges()

    def _check_edges(self) -> None:
        heads: dict[End, GivenEdge] = {}
        for edge, normal in zip(self.edges, self.normal_edges, strict=True):
            if edge.source == edge.target and (isinstance(edge.source, str) or edge.source[0] == edge.source[1]):
                raise InputError(f"{edge} goes from a node to itself")
            if edge.role in ("", "-of"):
                raise InputError(f"{edge} has no role")
            if self._is_constant(normal.source):
                raise InputError(f"{edge}: a constant has no edges of its own")
            if self._is_constant(normal.target) and heads.setdefault(normal.target, normal) != normal:
                raise InputError(f"{heads[normal.target]} and {edge} give a constant two heads")
        if self.top is not None and self._is_constant(self.top):
            raise InputError(f"the top is {_end(self.top)}, a constant")

    def check(self, words: int) -> None:
        """Raise `InputError` for facts that no graph of a sentence with this number of words can have."""
        bare = ((f"a word without a node, {shortened(str(word))}", (word, word)) for word in sorted(self.none))
        for what, span in (*self._spans(), *bare):
            if span[1] >= words:
                raise InputError(f"{what}: the sentence has {words} words, counted from 0")
        if len(self.none) == words:
            raise InputError("no word has a node, but a graph needs a concept")
        most = limits_of(words)[2]
        if len(self.nodes) > most:
            raise InputError(f"{len(self.nodes)} nodes, but a sentence of {words} words may have {most}")

    @cached_property
    def normal_edges(self) -> tuple[GivenEdge, ...]:
        """The edges; those with an inverse role and no constant as target are reversed."""
        edges = []
        for edge in self.edges:
            first, role, _last = edge_of(0, edge.role, 1)
            is_kept = first == 0 or self._is_constant(edge.target)
            edges.append(edge if is_kept else GivenEdge(edge.target, role, edge.source))
        return tuple(edges)

    @property
    def of_words(self) -> WordFacts:
        """The facts that limit actions."""
        merged = {word for node in self.nodes.values() for word in range(node.span[0] + 1, node.span[1] + 1)}
        found = {border for node in self.nodes.values() for border in (node.span[0], node.span[1] + 1)}
        found |= {border for word in self.none for border in (word, word + 1)}
        for edge in self.edges:  # adjacent ends of an edge must not become one span
            one, other = sorted(self.nodes[end].span if isinstance(end, str) else end for end in edge[::2])
            if one[1] + 1 == other[0]:
                found.add(other[0])
        return WordFacts(merged, found - merged, self.none)

    def _ends(self) -> list[tuple[str, End]]:
        """The ends of edges, and the top, each with its name for messages."""
        ends: list[tuple[str, End]] = [(str(edge), end) for edge in self.edges for end in (edge.source, edge.target)]
        return ends if self.top is None else [*ends, ("the top", self.top)]

    def _spans(self) -> list[tuple[str, Span]]:
        """The spans of nodes, edges and the top, each with its name for messages."""
        spans = [(what, end) for what, end in self._ends() if not isinstance(end, str)]
        return [*((str(node), node.span) for node in self.nodes.values()), *spans]

    def _none_in(self, span: Span) -> list[int]:
        """Return the words of a span, however long it is, that no node comes from."""
        return [word for word in self.none if span[0] <= word <= span[1]]

    def _is_constant(self, end: End) -> bool:
        return isinstance(end, str) and self.nodes[end].is_constant


def _words(span: Span) -> str:
    first, last = (shortened(str(word)) for word in span)
    return f"word {first}" if first == last else f"words {first}–{last}"


def _end(end: End) -> str:
    return shortened(end) if isinstance(end, str) else _words(end)


# --- completion ---------------------------------------------------------------------------------


_ROLE = "mod"  # the role of edges that are added only to connect the graph


def complete(
    graph: AmrGraph, alignments: Sequence[Sequence[int]], given: Given, words: Sequence[AmrWord]
) -> tuple[int, Edited | None, tuple[tuple[int, ...], ...]]:
    """Change the graph of a sentence with these words so that it fulfils all facts.

    Return the number of changes that the facts required, the edited graph (None if it is the same), and its alignments.
    """
    draft = _Completion(graph, alignments, given, words)
    draft.clear_none()
    draft.place_nodes()
    for edge in [edge for edge in given.normal_edges if not draft.has(edge)]:
        draft.connect(edge)
    draft.join()
    if given.top is not None:
        draft.choose_top(given.top)
    number = {edge: number for number, edge in enumerate(graph.edges)}
    draft.edges = [*dict.fromkeys(draft.edges)]
    draft.edge_origins = [number.get(edge, -1) for edge in draft.edges]
    return draft.added, draft.result(), tuple(draft.alignments)


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
