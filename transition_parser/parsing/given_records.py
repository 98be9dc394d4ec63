"""The facts about a sentence at a configuration of the AMR machine: the facts that hold, and the open facts.

A surrogate is an action that search takes in place of the action of a fact. `replayed` puts in the fact's action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

OPEN, GIVEN_UP = -1, -2  # in `Record.made`: the node is not made yet; the fact is contradicted


class NodeFact(NamedTuple):
    """A fact about a node (`GivenNode`), or about a named node (`GivenName`; `name` is True).

    exact: the actions that make exactly this node
    action: the action of `exact` that replaces surrogates
    weight: how many nats an action that contradicts the fact loses; None for a fact that must hold
    """

    span: Span
    label: str
    constant: bool
    name: bool
    exact: frozenset[Action]
    action: Action
    weight: float | None
    strings: tuple[str, ...]  # of a name: the labels of its strings


class Place(NamedTuple):
    """An end of an edge fact, or the given top of the graph.

    fact: the number of the node fact whose node is the end; −1 if any node from a word of `span` may be the end
    """

    fact: int
    span: Span

    @property
    def narrow(self) -> bool:
        """True where all nodes that may be the end come from a single span of the derivation."""
        return self.fact >= 0 or self.span[0] == self.span[1]


class EdgeFact(NamedTuple):
    """A fact about an edge. The role is not inverse unless the target is a constant."""

    source: Place
    role: str
    target: Place
    weight: float | None

    @property
    def narrow(self) -> bool:
        return self.source.narrow and self.target.narrow


class Record(NamedTuple):
    """A configuration, and which facts hold there.

    state: the configuration of the derivation in which surrogates are replaced
    made: for each node fact its node, `OPEN` or `GIVEN_UP`
    open_edges: the numbers of the edge facts that no edge fulfils yet
    in_span: the number of nodes of the current span, including nodes made by DEPENDENT
    """

    state: AmrState
    made: tuple[int, ...]
    open_edges: tuple[int, ...]
    in_span: int


class SentenceFacts:
    """The facts about one sentence, with methods that compare derivations of the sentence with the facts.

    given: the facts
    words: the sentence as the transition system reads it
    frames: the FRAME actions of the system; None where it has none
    """

    def __init__(self, given: Given, words: Sequence[Word], frames: FrameActions | None = None) -> None:
        self.given, self.words = given, words
        self.nodes = [_node_fact(given, number, words, frames) for number in range(len(given.made))]
        self.edges = [self._edge_fact(number) for number in range(len(given.edges))]
        self.top = None if given.top is None else self._place(given.resolved(given.top))
        self.by_span: dict[Span, list[int]] = {}
        for number, fact in enumerate(self.nodes):
            self.by_span.setdefault(fact.span, []).append(number)
        self.none = given.none
        self.weight = given.weight
        self.glued: dict[int, float | None] = {}  # word that joins the word before it → weight
        self.cut: dict[int, float | None] = {}  # word that must not join the word before it → weight
        self._find_borders()

    def _place(self, place: int | Span) -> Place:
        return Place(place, self.given.made[place].span) if isinstance(place, int) else Place(-1, place)

    def _edge_fact(self, number: int) -> EdgeFact:
        edge = self.given.edges[number]
        source, role, target = normal_edge(self.given, edge)
        return EdgeFact(self._place(source), role, self._place(target), self.given.weight_of(edge))

    def _find_borders(self) -> None:
        for fact in self.nodes:
            first, last = fact.span
            for word in range(first + 1, last + 1):
                self.glued[word] = fact.weight
            for word in (first, last + 1):
                _strengthen(self.cut, word, fact.weight)
        for word in self.none:
            for border in (word, word + 1):
                _strengthen(self.cut, border, self.weight)
        for edge in self.edges:  # adjacent ends of an edge must not become one span
            for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                if one.span[1] + 1 == other.span[0]:
                    _strengthen(self.cut, other.span[0], edge.weight)
        for word in self.glued:
            self.cut.pop(word, None)

    def initial(self, system: AmrSystem) -> Record:
        """Return the record before the first action."""
        return Record(system.initial(self.words), (OPEN,) * len(self.nodes), tuple(range(len(self.edges))), 0)

    # --- the facts that are open ------------------------------------------------------------------

    def due(self, record: Record) -> list[int]:
        """Return the numbers of the open node facts whose span is the current span, names first."""
        state = record.state
        if not state.position:
            return []
        span = (state.first, state.position - 1)
        return [i for i in self.by_span.get(span, ()) if record.made[i] == OPEN]

    def surrogate_for(self, record: Record, constant: bool) -> int | None:
        """Return the number of the first due node fact that must hold; None without one.

        constant: True for facts about constants, False for other facts. An action that makes such a node, but not the
            node of a due fact, is a surrogate for the result.
        """
        named = record.state.named
        for i in self.due(record):
            fact = self.nodes[i]
            if fact.weight is None and fact.constant == constant and not (fact.name and named):
                return i
        return None

    def to_come(self, record: Record) -> int:
        """Return the number of open node facts that must hold and whose nodes can still be made."""
        first = record.state.first
        return sum(
            made == OPEN and fact.weight is None and fact.span[0] >= first
            for made, fact in zip(record.made, self.nodes, strict=True)
        )

    def fits(self, place: Place, record: Record, node: int) -> bool:
        """Return True where a node is this end of an edge, or may become this end."""
        if place.fact >= 0:
            return record.made[place.fact] == node
        made = record.state.nodes[node]
        if made.constant and node in record.made:  # facts that name a given constant give it its one head
            return False
        return overlaps(place.span, (made.first, made.last))

    def can_come(self, place: Place, record: Record) -> bool:
        """Return True where nodes that are made later may be this end."""
        if place.fact >= 0:
            return record.made[place.fact] == OPEN and self.nodes[place.fact].span[0] >= record.state.first
        return place.span[1] >= record.state.first

    def between(self, record: Record, one: int, other: int) -> Iterator[tuple[int, bool]]:
        """Yield the number of each open edge fact between two nodes, with True where `one` is the source."""
        for k in record.open_edges:
            edge = self.edges[k]
            if self.fits(edge.source, record, one) and self.fits(edge.target, record, other):
                yield k, True
            elif self.fits(edge.source, record, other) and self.fits(edge.target, record, one):
                yield k, False

    def facts_awaiting(self, record: Record, node: int) -> list[int]:
        """Return the numbers of the open edge facts for which a node must stay on the stack.

        The node fits one end of such a fact, and the other end is the top of the stack or can still come. In the second
        case, the node must stay only if no other node on the stack, or set aside by SWAP, fits. If search had to keep
        all nodes that fit, it would meet stacks that training never has, and make nodes of a word again and again.
        """
        found = []
        top = record.state.stack[-1]
        for k in record.open_edges:
            edge = self.edges[k]
            for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                if self.fits(here, record, node) and (
                    (self.can_come(there, record) and self._is_last(here, record, node))
                    or (top != node and self.fits(there, record, top))
                ):
                    found.append(k)
                    break
        return found

    def _is_last(self, place: Place, record: Record, node: int) -> bool:
        """Return True where no other node on the stack, or set aside by SWAP, may be this end."""
        others = (*record.state.stack, *record.state.aside)
        return place.fact >= 0 or not any(other != node and self.fits(place, record, other) for other in others)

    # --- actions -----------------------------------------------------------------------------------

    def dependents(self, record: Record) -> dict[Action, tuple[int, int]]:
        """Return DEPENDENT action → numbers of its node fact and edge fact, for due constants of the stack's top."""
        found: dict[Action, tuple[int, int]] = {}
        state = record.state
        due = [i for i in self.due(record) if self.nodes[i].constant]
        if not due or not state.stack:
            return found
        for k in record.open_edges:
            edge = self.edges[k]
            if edge.target.fact in due and self.fits(edge.source, record, state.stack[-1]):
                label = joined(edge.role, self.nodes[edge.target.fact].label)
                found[Action(Kind.DEPENDENT, label)] = (edge.target.fact, k)
        return found

    def after(self, system: AmrSystem, record: Record, action: Action) -> tuple[Record, Action]:
        """Return the record after an action, and the action.

        If the action is a surrogate (see the top of this file), the fact's action is taken and returned instead.
        """
        before, made = record.state, list(record.made)
        if action.kind in ON_STACK:
            action = self._named(record, action, made)
        elif action.kind is Kind.DEPENDENT:
            found = self.dependents(record).get(action)
            if found is not None:
                made[found[0]] = len(before.nodes)
        elif action.kind in (Kind.LA, Kind.RA):
            action = self._arc(record, action)
        state = system.apply(before, action)
        in_span = 0 if action.kind is Kind.SHIFT else record.in_span + (before.nodes_left - state.nodes_left)
        record = Record(state, tuple(made), record.open_edges, in_span)
        new = state.edges[len(before.edges) :]
        if new and record.open_edges:
            still = tuple(k for k in record.open_edges if not any(self.fulfils(k, record, edge) for edge in new))
            record = record._replace(open_edges=still)
        return record, action

    def _named(self, record: Record, action: Action, made: list[int]) -> Action:
        number = len(record.state.nodes)
        due = self.due(record)
        exact = next((i for i in due if action in self.nodes[i].exact), None)
        if exact is None:
            exact = self.surrogate_for(record, action.kind in CONSTANTS)
            if exact is not None:
                action = self.nodes[exact].action
        if exact is not None:
            made[exact] = number
            return action
        for i in due:  # a fact that need not hold is penalised only once
            if self.nodes[i].weight is not None:
                made[i] = GIVEN_UP
        return action

    def _arc(self, record: Record, action: Action) -> Action:
        """Return the arc, or if it is a surrogate, the arc of an open edge fact between the two nodes on top."""
        second, top = record.state.stack[-2:]
        here = list(self.between(record, top, second))
        if any(action == arc_of(self.edges[k], from_top) for k, from_top in here):
            return action
        for k, from_top in here:
            edge = self.edges[k]
            arc = arc_of(edge, from_top)
            if edge.weight is None and edge.narrow and arc.kind is action.kind:
                return arc
        return action

    def fulfils(self, k: int, record: Record, edge: Edge) -> bool:
        """Return True where an edge of a configuration fulfils edge fact `k`."""
        fact = self.edges[k]
        source, role, target = as_normal(edge, record.state.nodes)
        return role == fact.role and self.fits(fact.source, record, source) and self.fits(fact.target, record, target)

    def replayed(self, system: AmrSystem, actions: Sequence[Action]) -> tuple[list[Action], Record]:
        """Return a derivation with its surrogates replaced, and the record at its end."""
        record, replaced = self.initial(system), []
        for action in actions:
            record, action = self.after(system, record, action)
            replaced.append(action)
        return replaced, record


def arc_of(edge: EdgeFact, from_top: bool) -> Action:
    """Return the action that builds an edge between the two nodes on top.

    from_top: True where the node on top is the source
    """
    return Action(Kind.LA if from_top else Kind.RA, edge.role)


def as_normal(edge: Edge, nodes: Sequence[Node]) -> Edge:
    """Return an edge of a configuration without an inverse role, unless its target is a constant."""
    return edge if nodes[edge.target].constant else edge_of(*edge)


def overlaps(one: Span, other: Span) -> bool:
    """Return True where two spans have a word in common."""
    return one[0] <= other[1] and other[0] <= one[1]


def _strengthen(weights: dict[int, float | None], word: int, weight: float | None) -> None:
    """Raise the weight of a word to `weight`, unless it is larger already. None is the largest weight."""
    old = weights.get(word, 0.0)
    weights[word] = None if weight is None or old is None else max(weight, old)


def _node_fact(given: Given, number: int, words: Sequence[Word], frames: FrameActions | None) -> NodeFact:
    fact = given.made[number]
    span = words[fact.span[0] : fact.span[1] + 1]
    weight = given.weight_of(fact)
    if isinstance(fact, GivenName):
        return _name_fact(fact, span, weight)
    label, constant = fact.concept, fact.is_constant
    exact = {Action(Kind.VALUE if constant else Kind.PRED, label)}
    if constant:
        if all(word.form_is_plain for word in span) and copied_value([word.form for word in span]) == label:
            exact.add(Action(Kind.COPY_WORD))
    elif all(word.lemma_is_symbol for word in span):
        lemmas = [word.lemma for word in span]
        exact |= {
            Action(kind) for kind in (Kind.COPY_LEMMA, Kind.COPY_SENSE01) if copied_concept(lemmas, kind) == label
        }
    if frames is not None and not constant:
        frame = frames.naming(label, span, words[fact.span[1] + 1 :])
        exact |= set() if frame is None else {frame}
    action = Action(Kind.VALUE if constant else Kind.PRED, label)
    return NodeFact(fact.span, label, constant, False, frozenset(exact), action, weight, ())


def _name_fact(fact: GivenName, span: Sequence[Word], weight: float | None) -> NodeFact:
    forms = [word.form for word in span]
    plain = all(word.form_is_plain for word in span)
    if fact.strings is None:
        bare = [form.replace('"', "").replace("\\", "") for form in forms]
        strings = tuple(quoted(form) for form in bare if form) or ('"-"',)
    else:
        strings = tuple(map(quoted, fact.strings))
    listed = Action(Kind.ENTITY, joined(fact.type, *strings))
    exact = {listed}
    for parts in ((), ("+",)):
        if plain and tuple(entity_strings(forms, parts)) == strings:
            exact.add(Action(Kind.ENTITY, joined(fact.type, *parts)))
    action = min(exact, key=lambda one: len(one.parts))
    return NodeFact(fact.span, fact.type, False, True, frozenset(exact), action, weight, strings)
