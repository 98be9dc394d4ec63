"""Facts about the AMR of a sentence, followed along a hypothesis.

`SentenceFacts` follows a hypothesis with the pure-Python system, and knows which nodes of facts are made and which
edges are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from transition_parser.graphs.amr import Edge, edge_of, quoted
from transition_parser.parsing.given import Given, GivenName, Span, normal_edge
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.action import joined
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_frames import FrameActions
from transition_parser.transitions.amr_naming import (
    CONSTANTS,
    ON_STACK,
    Word,
    copied_concept,
    copied_value,
    entity_strings,
)
from transition_parser.transitions.amr_state import AmrState, Node

OPEN = -1  # in `Record.made`: the node is not made yet


class NodeFact(NamedTuple):
    """A fact about a node (`GivenNode`), or about a named node (`GivenName`; `name` is True)."""

    span: Span
    label: str
    constant: bool
    name: bool
    exact: frozenset[Action]  # the actions that make exactly this node
    strings: tuple[str, ...]  # of a name: the labels of its strings


class FactEnd(NamedTuple):
    """An end of an edge fact, or the given top of the graph."""

    fact: int  # the number of the node fact whose node is the end; −1 if any node from a word of `span` may be the end
    span: Span

    @property
    def narrow(self) -> bool:
        """True where all nodes that may be the end come from a single span of the derivation."""
        return self.fact >= 0 or self.span[0] == self.span[1]


class EdgeFact(NamedTuple):
    """A fact about an edge. The role is not inverse unless the target is a constant."""

    source: FactEnd
    role: str
    target: FactEnd

    @property
    def narrow(self) -> bool:
        return self.source.narrow and self.target.narrow


class Record(NamedTuple):
    """A configuration, and which facts hold there."""

    state: AmrState
    made: tuple[int, ...]  # for each node fact its node, or `OPEN`
    open_edges: tuple[int, ...]  # the numbers of the edge facts that no edge fulfils yet
    in_span: int  # the number of nodes of the current span, including nodes made by DEPENDENT


class SentenceFacts:
    """The facts about one sentence, with methods that compare derivations of the sentence with the facts."""

    def __init__(self, given: Given, words: Sequence[Word], frames: FrameActions | None = None) -> None:
        self.given, self.words = given, words
        self.nodes = [_node_fact(given, number, words, frames) for number in range(len(given.made))]
        self.edges = [
            EdgeFact(self._end(source), role, self._end(target))
            for source, role, target in (normal_edge(given, edge) for edge in given.edges)
        ]
        self.top = None if given.top is None else self._end(given.resolved(given.top))
        self.by_span: dict[Span, list[int]] = {}
        for number, fact in enumerate(self.nodes):
            self.by_span.setdefault(fact.span, []).append(number)
        # words that must join the word before them, and words that must not
        self.merged = {word for fact in self.nodes for word in range(fact.span[0] + 1, fact.span[1] + 1)}
        cut = {border for first, last in self.by_span for border in (first, last + 1)}
        cut |= {border for word in given.none for border in (word, word + 1)}
        for edge in self.edges:  # adjacent ends of an edge must not become one span
            for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if one.span[1] + 1 == other.span[0]:
                    cut.add(other.span[0])
        self.cut = cut - self.merged

    def _end(self, place: int | Span) -> FactEnd:
        return FactEnd(place, self.given.made[place].span) if isinstance(place, int) else FactEnd(-1, place)

    def initial(self, system: AmrSystem) -> Record:
        """Return the record before the first action."""
        return Record(system.initial(self.words), (OPEN,) * len(self.nodes), tuple(range(len(self.edges))), 0)

    def due(self, record: Record) -> list[int]:
        """Return the numbers of the open node facts whose span is the current span, names first."""
        state = record.state
        span = (state.first, state.position - 1)
        return [i for i in self.by_span.get(span, ()) if record.made[i] == OPEN] if state.position else []

    def to_come(self, record: Record) -> int:
        """Return the number of open node facts whose nodes can still be made."""
        first, facts = record.state.first, zip(record.made, self.nodes, strict=True)
        return sum(made == OPEN and fact.span[0] >= first for made, fact in facts)

    def fits(self, end: FactEnd, record: Record, node: int) -> bool:
        """Return True where a node is this end of an edge, or may become this end."""
        if end.fact >= 0:
            return record.made[end.fact] == node
        made = record.state.nodes[node]
        if made.constant and node in record.made:  # facts that name a given constant give it its one head
            return False
        return overlaps(end.span, (made.first, made.last))

    def can_come(self, end: FactEnd, record: Record) -> bool:
        """Return True where nodes that are made later may be this end."""
        if end.fact >= 0:
            return record.made[end.fact] == OPEN and self.nodes[end.fact].span[0] >= record.state.first
        return end.span[1] >= record.state.first

    def between(self, record: Record, one: int, other: int) -> Iterator[tuple[int, bool]]:
        """Yield the number of each open edge fact between two nodes, with True where `one` is the source."""
        for k in record.open_edges:
            edge = self.edges[k]
            if self.fits(edge.source, record, one) and self.fits(edge.target, record, other):
                yield k, True
            elif self.fits(edge.source, record, other) and self.fits(edge.target, record, one):
                yield k, False

    def is_awaited(self, record: Record, node: int) -> bool:
        """Return True if a node must stay on the stack for an open edge fact.

        If all nodes that fit had to stay, and not only the last, search would meet stacks that training never has.
        """
        top, others = record.state.stack[-1], {*record.state.stack, *record.state.aside} - {node}
        for k in record.open_edges:
            edge = self.edges[k]
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if not self.fits(here, record, node):
                    continue
                is_last = here.fact >= 0 or not any(self.fits(here, record, other) for other in others)
                if (is_last and self.can_come(there, record)) or (top != node and self.fits(there, record, top)):
                    return True
        return False

    def dependents(self, record: Record) -> dict[Action, int]:
        """Return DEPENDENT action → the number of its node fact, for due constants of the stack's top."""
        due = [i for i in self.due(record) if self.nodes[i].constant]
        if not due or not record.state.stack:
            return {}
        return {
            Action(Kind.DEPENDENT, joined(edge.role, self.nodes[edge.target.fact].label)): edge.target.fact
            for edge in (self.edges[k] for k in record.open_edges)
            if edge.target.fact in due and self.fits(edge.source, record, record.state.stack[-1])
        }

    def after(self, system: AmrSystem, record: Record, action: Action) -> Record:
        """Return the record after an action."""
        before, made = record.state, list(record.made)
        fact = None
        if action.kind in ON_STACK:
            due, constant = self.due(record), action.kind in CONSTANTS
            exact = [i for i in due if action in self.nodes[i].exact]
            alike = [i for i in due if self.nodes[i].constant == constant and not (self.nodes[i].name and before.named)]
            fact = next(iter([*exact, *alike]), None)
        elif action.kind is Kind.DEPENDENT:
            fact = self.dependents(record).get(action)
        if fact is not None:
            made[fact] = len(before.nodes)
        state = system.apply(before, action)
        in_span = 0 if action.kind is Kind.SHIFT else record.in_span + (before.nodes_left - state.nodes_left)
        record = Record(state, tuple(made), record.open_edges, in_span)
        new = state.edges[len(before.edges) :]
        still = tuple(k for k in record.open_edges if not any(self._fulfils(k, record, edge) for edge in new))
        return record._replace(open_edges=still)

    def _fulfils(self, k: int, record: Record, edge: Edge) -> bool:
        fact, nodes = self.edges[k], record.state.nodes
        source, role, target = as_normal(edge, nodes)
        return role == fact.role and self.fits(fact.source, record, source) and self.fits(fact.target, record, target)

    def replayed(self, system: AmrSystem, actions: Iterable[Action]) -> Record:
        """Return the record at the end of a derivation."""
        record = self.initial(system)
        for action in actions:
            record = self.after(system, record, action)
        return record


def as_normal(edge: Edge, nodes: Sequence[Node]) -> Edge:
    """Return an edge of a configuration without an inverse role, unless its target is a constant."""
    return edge if nodes[edge.target].constant else edge_of(*edge)


def overlaps(one: Span, other: Span) -> bool:
    """Return True where two spans have a word in common."""
    return one[0] <= other[1] and other[0] <= one[1]


def _node_fact(given: Given, number: int, words: Sequence[Word], frames: FrameActions | None) -> NodeFact:
    fact = given.made[number]
    span = words[fact.span[0] : fact.span[1] + 1]
    forms, lemmas = [word.form for word in span], [word.lemma for word in span]
    plain = all(word.form_is_plain for word in span)
    if isinstance(fact, GivenName):
        bare = [form.replace('"', "").replace("\\", "") for form in forms]
        strings = tuple(map(quoted, fact.strings or [form for form in bare if form] or ["-"]))
        exact = {Action(Kind.ENTITY, joined(fact.type, *strings))}
        for parts in ((), ("+",)):
            if plain and tuple(entity_strings(forms, parts)) == strings:
                exact.add(Action(Kind.ENTITY, joined(fact.type, *parts)))
        return NodeFact(fact.span, fact.type, False, True, frozenset(exact), strings)
    label, constant = fact.concept, fact.is_constant
    exact = {Action(Kind.VALUE if constant else Kind.PRED, label)}
    if constant and plain and copied_value(forms) == label:
        exact.add(Action(Kind.COPY_WORD))
    if not constant and all(word.lemma_is_symbol for word in span):
        copies = (Kind.COPY_LEMMA, Kind.COPY_SENSE01)
        exact |= {Action(kind) for kind in copies if copied_concept(lemmas, kind) == label}
    if not constant and frames is not None:
        frame = frames.naming(label, span, words[fact.span[1] + 1 :])
        exact |= set() if frame is None else {frame}
    return NodeFact(fact.span, label, constant, False, frozenset(exact), ())
