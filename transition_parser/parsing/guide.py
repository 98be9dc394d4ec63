"""Facts about the AMR of a sentence as masks of the actions that search may take next.

`SentenceFacts` follows a hypothesis with the pure-Python system, and knows which nodes of facts are made and which
edges are missing. `Guide` forbids legal actions that contradict a fact, as long as another legal action is left.
`completion` adds what is missing after the last action.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from transition_parser.graphs.amr import Edge, edge_of, quoted
from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.given import Given, GivenName, Span, normal_edge
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.action import joined
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_frames import FrameActions
from transition_parser.transitions.amr_limits import SECOND, TOP, role_given
from transition_parser.transitions.amr_naming import (
    CONCEPTS,
    CONSTANTS,
    MAKE_NODES,
    ON_STACK,
    Word,
    copied_concept,
    copied_value,
    entity_strings,
)
from transition_parser.transitions.amr_state import AmrState, Node, has_concept, limits_of

OPEN = -1  # in `Record.made`: the node is not made yet
_LEAVING = (Kind.SHIFT, Kind.MERGE, Kind.CLOSE)
_ARCS = (Kind.LA, Kind.RA)
_KIND_IDS = {kind: number for number, kind in enumerate(Kind)}


class NodeFact(NamedTuple):
    """A fact about a node (`GivenNode`), or about a named node (`GivenName`; `name` is True).

    exact: the actions that make exactly this node
    strings: of a name: the labels of its strings
    """

    span: Span
    label: str
    constant: bool
    name: bool
    exact: frozenset[Action]
    strings: tuple[str, ...]


class FactEnd(NamedTuple):
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

    source: FactEnd
    role: str
    target: FactEnd

    @property
    def narrow(self) -> bool:
        return self.source.narrow and self.target.narrow


class Record(NamedTuple):
    """A configuration, and which facts hold there.

    made: for each node fact its node, or `OPEN`. The node may have another label, which the completion replaces.
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

        The node fits one end of such a fact, and the other end is the top of the stack or can still come. In the second
        case, the node must stay only if no other node on the stack, or set aside by SWAP, fits. If search had to keep
        all nodes that fit, it would meet stacks that training never has, and make nodes of a word again and again.
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
        """Return the record after an action.

        A node from the span of a due fact stands for the fact's node if no action makes that node exactly.
        """
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


class GuideTable:
    """The action vocabulary of V tokens as a guide reads it.

    ids: action → token
    giving: (`TOP` or `SECOND`, role) → the actions that give the role to this node of the stack, for roles in
        `SearchLimits.once`
    """

    def __init__(self, table: ActionTable) -> None:
        self.table, self.system = table, cast(AmrSystem, table.system)
        self.ids = {action: token for token, action in enumerate(table.actions) if action is not None}
        self.giving: dict[tuple[int, str], list[Action]] = {}
        for action in self.ids:
            given = role_given(action)
            if given is not None and given[1] in self.system.limits.once:
                self.giving.setdefault(given, []).append(action)
        self._kinds = np.array([-1 if action is None else _KIND_IDS[action.kind] for action in table.actions])
        self._masks: dict[Collection[Kind], np.ndarray] = {}

    def mask(self, kinds: Collection[Kind], actions: Iterable[Action] = (), but: Iterable[Action] = ()) -> np.ndarray:
        """Return (V,) bool: True for actions of some kinds and for `actions`, False for the actions in `but`."""
        if kinds not in self._masks:
            self._masks[kinds] = np.isin(self._kinds, [_KIND_IDS[kind] for kind in kinds])
        mask = self._masks[kinds].copy()
        mask[[self.ids[action] for action in actions if action in self.ids]] = True
        mask[[self.ids[action] for action in but if action in self.ids]] = False
        return mask


class _Masks:
    """The masks (V,) of actions against facts in one configuration, the most important first.

    legal: (V,) float; as in `ActionScores`
    """

    def __init__(self, table: GuideTable, facts: SentenceFacts, record: Record, legal: np.ndarray) -> None:
        self.mask, self.facts, self.record, self.state = table.mask, facts, record, record.state
        self.table, self.legal, self.limits = table, legal, table.system.limits
        words = len(record.state.words)
        most = limits_of(words)[2]
        self.nodes_left = min(most, self.limits.of_sentence(words)[1]) - (most - record.state.nodes_left)
        self.top, self.second = [*reversed(self.state.stack), None, None][:2]
        self.unfinished = self.state.position == words and not has_concept(self.state)
        self.due = facts.due(record)
        dependents = facts.dependents(record)
        exact = (action for i in self._due_now() for action in facts.nodes[i].exact)
        self.making = [*exact, *dependents]  # the actions that make a due node
        self.dependents = [*dependents]

    def narrowed(self) -> np.ndarray:
        """Return (V,) bool: the legal actions that no mask forbids; a mask that leaves none is passed over.

        A given edge is allowed even if it gives a node a role for the second time.
        """
        allowed = (self.legal > 0) | (self.mask((), self._arcs_here(True)) & (self.legal < 0))
        for mask in self._all():
            narrowed = allowed & ~mask
            allowed = narrowed if narrowed.any() else allowed
        return allowed

    def _all(self) -> Iterator[np.ndarray]:
        yield from self._of_spans()
        yield from self._of_due_nodes()
        yield from self._of_nodes_to_come()
        yield from self._of_edges()
        yield from self._of_top()
        if self.second is not None and self.facts.is_awaited(self.record, self.second):
            yield self.mask((Kind.REDUCE,))
        yield from self._of_roles()
        if self.facts.given.complete:
            yield self.mask(MAKE_NODES, but=self.making)
            yield self.mask(_ARCS, but=self._arcs_here())

    def _of_spans(self) -> Iterator[np.ndarray]:
        """Forbid all but MERGE inside a node's words, MERGE at their borders, and nodes of words without nodes."""
        state, none = self.state, self.facts.given.none
        if state.position < len(state.words) and not state.named:
            if state.position in self.facts.merged:
                yield self.mask(tuple(Kind), but=[Action(Kind.MERGE)])
            elif state.position in self.facts.cut:
                yield self.mask((Kind.MERGE,))
        if state.position and not self.unfinished and not none.isdisjoint(range(state.first, state.position)):
            yield self.mask(MAKE_NODES)
        if none and not has_concept(state) and none.issuperset(range(state.position, len(state.words))):
            yield self.mask((Kind.SHIFT, *CONSTANTS))

    def _due_now(self) -> list[int]:
        """Return the due node facts whose nodes may be made next: the name first, constants after a concept."""
        state, nodes = self.state, self.facts.nodes
        now = [i for i in self.due if nodes[i].name and not state.named] or self.due
        if not has_concept(state) and (self.nodes_left <= 1 or state.position == len(state.words)):
            now = [i for i in now if not nodes[i].constant]
        return now

    def _of_due_nodes(self) -> Iterator[np.ndarray]:
        """While nodes are due, forbid leaving the current span, and making other nodes.

        If none of the actions that make a due node is legal, because the vocabulary or the lexicon lacks its label,
        an action that makes a similar node takes its place.
        """
        may_make = (self.nodes_left > 0 and self.record.in_span < self.limits.span) or self.unfinished
        if not self.due or not may_make:
            return
        making = self.mask((), self.making)
        fact = next((self.facts.nodes[i] for i in self._due_now()), None)
        if fact is not None and not (fact.name and self.state.named):
            alike = (Kind.ENTITY,) if fact.name else CONSTANTS if fact.constant else CONCEPTS
            for kinds in (alike, ON_STACK):
                making = making if (making & (self.legal > 0)).any() else self.mask(kinds)
        if (making & (self.legal > 0)).any():
            yield self.mask(_LEAVING)
            yield self.mask(MAKE_NODES) & ~making

    def _of_nodes_to_come(self) -> Iterator[np.ndarray]:
        """Forbid other nodes once the sentence or the span may get only the nodes that the facts need."""
        to_come, due = self.facts.to_come(self.record), len(self.due)
        if to_come and (self.nodes_left <= to_come or (due and self.limits.span - self.record.in_span <= due)):
            yield self.mask(MAKE_NODES, but=self.making)

    def _arcs_here(self, narrow: bool = False) -> list[Action]:
        """Return the arcs of open edge facts between the two nodes on top; with `narrow`, of narrow facts alone."""
        if self.second is None or self.top is None:
            return []
        here = self.facts.between(self.record, self.top, self.second)
        edges = ((self.facts.edges[k], from_top) for k, from_top in here)
        return [Action(Kind.LA if top else Kind.RA, e.role) for e, top in edges if e.narrow or not narrow]

    def _of_edges(self) -> Iterator[np.ndarray]:
        """Forbid actions that move on before the top has its given edges to other nodes of the stack."""
        if self.top is None or self.second is None:
            return
        wanted = [action for action in self._arcs_here(narrow=True) if action in self.table.ids]
        if wanted:
            yield self.mask(tuple(kind for kind in Kind if kind is not Kind.ROOT), but=wanted)
        if others := [arc for arc in self._arcs_here() if arc not in wanted]:
            yield self.mask(_ARCS, but=[*wanted, *others])
        for node in self.state.stack[:-2]:
            for k, _ in self.facts.between(self.record, self.top, node):
                edge = self.facts.edges[k]
                if edge.narrow:
                    named = edge.source.fact >= 0 and edge.target.fact >= 0
                    yield self.mask((*_LEAVING, *ON_STACK) if named else _LEAVING)

    def _of_top(self) -> Iterator[np.ndarray]:
        end, state = self.facts.top, self.state
        if end is None or state.top is not None or self.top is None:
            return
        if self.facts.fits(end, self.record, self.top):
            if end.fact >= 0:
                yield self.mask(tuple(kind for kind in Kind if kind is not Kind.ROOT))
            elif end.narrow:
                yield self.mask(_LEAVING)
        elif self.facts.can_come(end, self.record) or any(
            self.facts.fits(end, self.record, node) for node in (*state.stack, *state.aside)
        ):
            yield self.mask((Kind.ROOT,))

    def _of_roles(self) -> Iterator[np.ndarray]:
        """Forbid actions that give a node a role that it may have only once, if an open edge fact needs this role."""
        for k in self.record.open_edges:
            edge = self.facts.edges[k]
            if not edge.source.narrow:
                continue
            for place, node, other in ((TOP, self.top, self.second), (SECOND, self.second, self.top)):
                giving = self.table.giving.get((place, edge.role), ())
                if node is None or not giving or not self.facts.fits(edge.source, self.record, node):
                    continue
                is_right = other is not None and self.facts.fits(edge.target, self.record, other)
                arc = [Action(Kind.LA if place == TOP else Kind.RA, edge.role)] if is_right else []
                yield self.mask((), giving, [*arc, *self.dependents])


class Guide:
    """A guide for the search of one batch, which follows each hypothesis of a sentence with facts.

    table: the action vocabulary
    facts: the facts about each sentence, None for sentences without facts
    """

    def __init__(self, table: GuideTable, facts: Sequence[SentenceFacts | None]) -> None:
        self._table, self._system = table, table.system
        self._rows = [None if one is None else (one, one.initial(self._system)) for one in facts]

    def restrict(self, scores: ActionScores) -> ActionScores:
        """Return the scores with another legality, −1 for legal actions that contradict facts."""
        rows = [row for row, one in enumerate(self._rows) if one is not None]
        if not rows:
            return scores
        tokens = slice(None) if scores.tokens is None else scores.tokens.cpu().numpy()
        index = torch.tensor(rows, device=scores.legal.device)
        legal = scores.legal[index].cpu().numpy().copy()
        for number, row in enumerate(rows):
            facts, record = self._rows[row]  # type: ignore[misc]
            before = np.zeros(len(self._table.table.actions), dtype=legal.dtype)
            before[tokens] = legal[number]
            if (before > 0).any():
                allowed = _Masks(self._table, facts, record, before).narrowed()[tokens]
                legal[number][(legal[number] > 0) & ~allowed] = -1
                legal[number][allowed] = 1
        changed = scores.legal.clone()
        changed[index] = torch.from_numpy(legal).to(changed)
        return scores._replace(legal=changed)

    def follow(self, tokens: Tensor, origin: Tensor | None, totals: Tensor) -> None:
        """Follow the rows by one action.

        tokens: (R,) int64; the token that each of R rows (hypotheses) took
        origin: (R,) int64; the row of the previous step that each row continues; None if row i continues row i
        totals: (R,) float; the log-probability of each row, −inf for discarded rows
        """
        if all(one is None for one in self._rows):
            self._rows = [None] * len(tokens)
            return
        alive = (totals > float("-inf")).tolist()
        origins = range(len(tokens)) if origin is None else origin.tolist()
        rows: list[tuple[SentenceFacts, Record] | None] = []
        for before, token, lives in zip(origins, tokens.tolist(), alive, strict=True):
            one = self._rows[before]
            if one is not None and lives:
                record = one[0].after(self._system, one[1], self._table.table.action(token))
                one = None if record.state.closed else (one[0], record)
            rows.append(one if lives else None)
        self._rows = rows

    def keep(self, rows: Tensor) -> None:
        """Let row i continue the former row `rows[i]`, after sentences left the batch. `rows` is (R,) int64."""
        self._rows = [self._rows[row] for row in rows.tolist()]
