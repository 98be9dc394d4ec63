"""The penalties of next actions that contradict the facts about the AMR of a sentence, in one configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np

from transition_parser.parsing.given_records import NodeFact, Place, Record, SentenceFacts, arc_of
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import SECOND, TOP, role_given
from transition_parser.transitions.amr_naming import CONSTANTS, MAKE_NODES, ON_STACK, is_listed
from transition_parser.transitions.amr_state import has_concept

# Penalties of actions against facts that must hold. Only legal actions with the smallest sum of penalties are allowed.
NODES, _RESERVE, _PAIRS, _LOSSES, _ROLES, _OTHERS = 10_000.0, 1_000.0, 100.0, 10.0, 1.0, 0.5

LEAVING = (Kind.SHIFT, Kind.MERGE, Kind.CLOSE)
_ARCS = (Kind.LA, Kind.RA)
KIND_IDS = {kind: number for number, kind in enumerate(Kind)}


class GuideTable:
    """The action vocabulary as a guide reads it.

    kind: (V,) int; the number of the kind of each of V tokens, −1 for tokens that are no action
    ids: action → token
    giving: (`TOP` or `SECOND`, role) → the tokens that give the role to this node of the stack, for roles in
        `SearchLimits.once`
    """

    def __init__(self, table: ActionTable) -> None:
        self.table = table
        self.system = cast(AmrSystem, table.system)
        self.kind = np.array([-1 if action is None else KIND_IDS[action.kind] for action in table.actions])
        self.ids = {action: token for token, action in enumerate(table.actions) if action is not None}
        self.giving: dict[tuple[int, str], list[int]] = {}
        for action, token in self.ids.items():
            given = role_given(action)
            if given is not None and given[1] in self.system.limits.once:
                self.giving.setdefault(given, []).append(token)
        self._of_lemma: dict[str, Action] = {}
        for action in self.ids:
            if action.kind is Kind.PRED:
                self._of_lemma.setdefault(_lemma(str(action.label)), action)

    def tokens(self, actions: Iterable[Action]) -> list[int]:
        """Return the tokens of the given actions, without actions that the vocabulary lacks."""
        return [self.ids[action] for action in actions if action in self.ids]

    def stand_in(self, facts: SentenceFacts, fact: NodeFact, due: Sequence[int]) -> int | None:
        """Return the token of an action that makes a node similar to the node of a fact; None without such an action.

        due: the numbers of the due node facts, whose exact actions are not returned
        """
        others = {action for i in due for action in facts.nodes[i].exact}
        first, last = fact.span
        words = facts.words[first : last + 1]
        lemma, plain = all(w.lemma_is_symbol for w in words), all(w.form_is_plain for w in words)
        if fact.name:
            like = [a for a in self.ids if a.kind is Kind.ENTITY and a.parts[0] == fact.label]
            like += [a for a in self.ids if a.kind is Kind.ENTITY]
            like = [a for a in like if plain or is_listed(a)]
        elif fact.constant:
            like = [Action(Kind.COPY_WORD)] if plain else []
            like += [a for a in self.ids if a.kind is Kind.VALUE]
        else:
            like = self._like(fact.label)
            sense = Kind.COPY_SENSE01 if fact.label[-3:-2] == "-" else Kind.COPY_LEMMA
            like += [Action(sense)] if lemma else []
            like += [a for a in self.ids if a.kind is Kind.PRED]
        return next((self.ids[a] for a in like if a in self.ids and a not in others), None)

    def _like(self, label: str) -> list[Action]:
        """Return a list with one PRED action for a concept of the same lemma, or an empty list."""
        action = self._of_lemma.get(_lemma(label))
        return [] if action is None else [action]


def _lemma(concept: str) -> str:
    stem, _, sense = concept.rpartition("-")
    return stem if stem and sense.isdigit() else concept


class Rule(NamedTuple):
    """A penalty for all actions of `kinds` and for `tokens`, except the tokens in `but`.

    hard: the penalty if the fact that the actions contradict must hold (`weight` is None)
    weight: the penalty otherwise, in nats
    """

    hard: float
    weight: float | None
    kinds: Collection[Kind] = ()
    tokens: Sequence[int] = ()
    but: Sequence[int] = ()


class Rules:
    """The penalties in one configuration. A given node is due if it comes from the current span and is not made yet.

    nodes_left: number of nodes that search may still make
    due_tokens: the tokens that make a due node exactly
    missing: the due node that must be made now, by a stand-in if none of `due_tokens` is legal
    wanted: the tokens of given edges, which may be taken although they give a node a role for the second time
    """

    def __init__(self, table: GuideTable, facts: SentenceFacts, record: Record, nodes_left: int) -> None:
        self.table, self.facts, self.record, self.state = table, facts, record, record.state
        self.nodes_left, self.most_in_span = nodes_left, table.system.limits.span
        self.top = self.state.stack[-1] if self.state.stack else None
        self.second = self.state.stack[-2] if len(self.state.stack) > 1 else None
        self.free = self.state.position == len(self.state.words) and not has_concept(self.state)
        self.room = (nodes_left > 0 and record.in_span < self.most_in_span) or self.free
        self.wanted: list[int] = []
        self.due_tokens: list[int] = []
        self.missing: NodeFact | None = None
        self._rules: list[Rule] = []
        self._read_spans()
        self._read_due()
        self._read_none()
        self._read_pairs()
        self._read_losses()
        self._read_top()
        self._read_reserve()
        self._read_others()

    def all(self) -> Sequence[Rule]:
        return self._rules

    def _add(self, hard: float, weight: float | None, kinds: Collection[Kind] = (), tokens: Sequence[int] = (),
             but: Sequence[int] = ()) -> None:  # fmt: skip
        self._rules.append(Rule(hard, weight, kinds, tokens, but))

    def _read_spans(self) -> None:
        """Penalise all actions but MERGE inside the words of a node, and MERGE at the borders of such words."""
        word, state = self.state.position, self.state
        if word == len(state.words) or state.named:
            return
        if word in self.facts.glued:
            merge = self.table.tokens([Action(Kind.MERGE)])
            self._add(NODES, self.facts.glued[word], tuple(Kind), but=merge)
        elif word in self.facts.cut:
            self._add(NODES, self.facts.cut[word], (Kind.MERGE,))

    def _read_due(self) -> None:
        """While nodes are due, penalise leaving the current span and making other nodes."""
        facts, state = self.facts, self.state
        due = facts.due(self.record)
        if not due:
            return
        if not self.room:
            return
        now = [i for i in due if facts.nodes[i].name and not state.named] or due
        concept_first = not has_concept(state) and not self._constant_may_come()
        now = [i for i in now if not (concept_first and facts.nodes[i].constant)]
        exact = {action for i in now for action in facts.nodes[i].exact}
        dependents = self.facts.dependents(self.record)
        self.due_tokens = self.table.tokens([*exact, *dependents])
        hard = [facts.nodes[i] for i in due if facts.nodes[i].weight is None]
        for weight in [None] * bool(hard) + [facts.nodes[i].weight for i in due if facts.nodes[i].weight is not None]:
            self._add(NODES, weight, LEAVING)
            self._add(NODES, weight, MAKE_NODES, but=self.due_tokens)
        first = next((facts.nodes[i] for i in now if facts.nodes[i].weight is None), None)
        if first is not None and not (first.name and state.named):
            self.missing = first

    def _constant_may_come(self) -> bool:
        return self.nodes_left > 1 and self.state.position < len(self.state.words)

    def _read_none(self) -> None:
        """Penalise nodes of words that must have none, and actions that leave only such words for the first concept."""
        state, none, weight = self.state, self.facts.none, self.facts.weight
        if not none:
            return
        if state.position and not self.free and not none.isdisjoint(range(state.first, state.position)):
            self._add(NODES, weight, MAKE_NODES)
        if not has_concept(state) and none.issuperset(range(state.position, len(state.words))):
            self._add(NODES, weight, (Kind.SHIFT, *CONSTANTS))

    # --- edges -------------------------------------------------------------------------------------

    def _read_pairs(self) -> None:
        """Penalise actions that move on before the top has its given edges to other nodes of the stack."""
        if self.top is None:
            return
        facts, record = self.facts, self.record
        leaving = (*LEAVING, *ON_STACK)
        if self.second is not None:
            here = list(facts.between(record, self.top, self.second))
            for k, from_top in here:
                self._read_pair(k, from_top, [arc_of(facts.edges[j], top) for j, top in here])
        for node in self.state.stack[:-2]:
            for k, _ in facts.between(record, self.top, node):
                edge = facts.edges[k]
                if edge.narrow:
                    definite = edge.source.fact >= 0 and edge.target.fact >= 0
                    self._add(_PAIRS, edge.weight, leaving if definite else LEAVING)
        self._read_roles()

    def _read_pair(self, k: int, from_top: bool, wanted: Sequence[Action]) -> None:
        edge = self.facts.edges[k]
        arcs = self.table.tokens(wanted)
        kinds = tuple(kind for kind in Kind if kind is not Kind.ROOT)
        if not edge.narrow:
            self._add(_ROLES, edge.weight, _ARCS, but=arcs)
            return
        if arc_of(edge, from_top) not in self.table.ids:  # without this token, any arc of its kind may stand in
            kind = arc_of(edge, from_top).kind
            kinds = tuple(other for other in kinds if other is not kind)
        self.wanted += arcs
        self._add(_PAIRS, edge.weight, kinds, but=arcs)

    def _read_roles(self) -> None:
        """Penalise actions that give a node a role that it may have only once, if an open edge fact needs this role."""
        facts, record, giving = self.facts, self.record, self.table.giving
        for k in record.open_edges:
            edge = facts.edges[k]
            if not edge.source.narrow:
                continue
            for place, node in ((TOP, self.top), (SECOND, self.second)):
                tokens = giving.get((place, edge.role), ())
                if node is None or not tokens or not facts.fits(edge.source, record, node):
                    continue
                other = self.second if place == TOP else self.top
                right = other is not None and facts.fits(edge.target, record, other)
                arc = self.table.tokens([Action(Kind.LA if place == TOP else Kind.RA, edge.role)])
                dependents = self.table.tokens(facts.dependents(record))
                self._add(_ROLES, edge.weight, tokens=tokens, but=[*(arc if right else ()), *dependents])

    def _read_losses(self) -> None:
        """Penalise REDUCE, which removes the second node of the stack, while an open edge fact needs this node."""
        if self.second is None:
            return
        for k in self.facts.facts_awaiting(self.record, self.second):
            self._add(_LOSSES, self.facts.edges[k].weight, (Kind.REDUCE,))

    # --- the top, and the number of nodes ------------------------------------------------------------

    def _read_top(self) -> None:
        place, weight = self.facts.top, self.facts.weight
        if place is None or self.state.top is not None or self.top is None:
            return
        right = self.facts.fits(place, self.record, self.top)
        if not right and (self._may_come(place) or self._is_on_stack(place)):
            self._add(_LOSSES, weight, (Kind.ROOT,))
        elif right and place.fact >= 0:
            self._add(_PAIRS / 2, weight, tuple(kind for kind in Kind if kind is not Kind.ROOT))
        elif right and place.narrow:
            self._add(_PAIRS / 2, weight, LEAVING)

    def _may_come(self, place: Place) -> bool:
        return self.facts.can_come(place, self.record)

    def _is_on_stack(self, place: Place) -> bool:
        nodes = (*self.state.stack, *self.state.aside)
        return any(self.facts.fits(place, self.record, node) for node in nodes)

    def _read_reserve(self) -> None:
        """Penalise nodes that are not due once the sentence or the span may get only the nodes that the facts need."""
        to_come = self.facts.to_come(self.record)
        due = sum(self.facts.nodes[i].weight is None for i in self.facts.due(self.record))
        if not to_come:
            return
        if self.nodes_left <= to_come or (due and self.most_in_span - self.record.in_span <= due):
            self._add(_RESERVE, None, MAKE_NODES, but=self.due_tokens)

    def _read_others(self) -> None:
        """If the facts are complete, penalise nodes and edges that are not among the facts."""
        if not self.facts.given.complete:
            return
        self._add(_OTHERS, self.facts.weight, MAKE_NODES, but=self.due_tokens)
        arcs: list[int] = []
        if self.second is not None and self.top is not None:
            here = self.facts.between(self.record, self.top, self.second)
            arcs = self.table.tokens(arc_of(self.facts.edges[k], from_top) for k, from_top in here)
        self._add(_OTHERS, self.facts.weight, _ARCS, but=arcs)
