"""The guide of search: it keeps the hypotheses of a sentence to the facts that are given about its AMR.

A guide reads the tokens that search takes, follows each hypothesis with the pure-Python system, and tells which of the
legal actions contradict a fact. Actions that contradict facts that must hold may not be taken as long as another action
is legal; actions that contradict other facts lose the weight of the fact. Rows of sentences without facts are never
touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.given_records import NodeFact, Place, Record, SentenceFacts, arc_of
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_naming import CONCEPTS, CONSTANTS
from transition_parser.transitions.amr_roles import SECOND, TOP, role_given
from transition_parser.transitions.amr_state import has_concept, limits_of

# How bad it is to contradict a fact that must hold. Where all legal actions do, the least bad ones may be taken.
_NODES, _RESERVE, _PAIRS, _LOSSES, _ROLES, _OTHERS = 10_000.0, 1_000.0, 100.0, 10.0, 1.0, 0.5

_NAMING = (*CONCEPTS, *CONSTANTS, Kind.ENTITY)
_LEAVING = (Kind.SHIFT, Kind.MERGE, Kind.CLOSE)
_ARCS = (Kind.LA, Kind.RA)
_NUMBER = {kind: number for number, kind in enumerate(Kind)}


class Vocabulary:
    """The action vocabulary as a guide reads it.

    kind: (V,); the number of the kind of each token, −1 for tokens that are no action
    ids: action → token
    giving: place and role → the tokens that give the node at this place the role, for the roles that are borne once
    """

    def __init__(self, table: ActionTable) -> None:
        self.table = table
        self.system = cast(AmrSystem, table.system)
        self.kind = np.array([-1 if action is None else _NUMBER[action.kind] for action in table.actions])
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
        """Return the tokens of the actions that the vocabulary has."""
        return [self.ids[action] for action in actions if action in self.ids]

    def stand_in(self, facts: SentenceFacts, fact: NodeFact, due: Sequence[int]) -> int | None:
        """Return a token that makes a node like that of a fact; it is not the token of another due fact."""
        others = {action for i in due for action in facts.nodes[i].exact}
        first, last = fact.span
        words = facts.words[first : last + 1]
        lemma, plain = all(w.lemma_is_symbol for w in words), all(w.form_is_plain for w in words)
        if fact.name:
            like = [a for a in self.ids if a.kind is Kind.ENTITY and a.parts[0] == fact.label and len(a.parts) > 1]
            like += [a for a in self.ids if a.kind is Kind.ENTITY and (plain or len(a.parts) > 1)]
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
        """Return an action that makes a concept of the same lemma, where there is one."""
        action = self._of_lemma.get(_lemma(label))
        return [] if action is None else [action]


def _lemma(concept: str) -> str:
    stem, _, sense = concept.rpartition("-")
    return stem if stem and sense.isdigit() else concept


class _Rule(NamedTuple):
    """A penalty of the actions of some kinds, or of some tokens, but for others.

    weight: None where the actions contradict a fact that must hold; then `hard` says how bad this is
    """

    hard: float
    weight: float | None
    kinds: Sequence[Kind] = ()
    tokens: Sequence[int] = ()
    but: Sequence[int] = ()


class _Columns:
    """The actions that are scored at a step.

    tokens: (U,)
    kinds: (U,); the number of the kind of each token
    """

    def __init__(self, vocabulary: Vocabulary, tokens: Tensor | None) -> None:
        self.tokens = np.arange(len(vocabulary.kind)) if tokens is None else tokens.cpu().numpy()
        self.kinds = vocabulary.kind[self.tokens]
        self._index = np.full(len(vocabulary.kind), -1)
        self._index[self.tokens] = np.arange(len(self.tokens))

    def index(self, tokens: Sequence[int]) -> np.ndarray:
        """Return the indices of those of the tokens that are scored."""
        found = self._index[np.asarray(tokens, dtype=np.int64)]
        return found[found >= 0]

    def of(self, kinds: Sequence[Kind]) -> np.ndarray:
        """Return (U,) bool, True for the actions of some kinds."""
        wanted = np.zeros(len(_NUMBER) + 1, dtype=bool)
        wanted[[_NUMBER[kind] for kind in kinds]] = True
        return wanted[self.kinds]


class Guide:
    """The facts about the sentences of a batch, beside the hypotheses of search.

    vocabulary: the action vocabulary
    facts: the facts about each sentence, None for sentences without facts
    """

    def __init__(self, vocabulary: Vocabulary, facts: Sequence[SentenceFacts | None]) -> None:
        self._vocabulary, self._system = vocabulary, vocabulary.system
        self._rows = [None if one is None else (one, one.initial(self._system)) for one in facts]
        self._substitutes: dict[int, dict[int, int]] = {}  # row → chosen token → the token that is taken instead

    def restrict(self, scores: ActionScores) -> ActionScores:
        """Return the scores of the next action with the penalties of the actions that contradict facts."""
        self._substitutes = {}
        rows = [row for row, one in enumerate(self._rows) if one is not None]
        if not rows:
            return scores
        columns = _Columns(self._vocabulary, scores.tokens)
        index = torch.tensor(rows, device=scores.legal.device)
        legal = scores.legal[index].cpu().numpy().copy()
        weights = np.zeros(legal.shape, dtype=np.float32)
        for number, row in enumerate(rows):
            facts, record = self._rows[row]  # type: ignore[misc]
            self._substitutes[row] = self._restrict_row(facts, record, columns, legal[number], weights[number])
        changed = scores.legal.clone()
        changed[index] = torch.from_numpy(legal).to(changed)
        scores = scores._replace(legal=changed)
        return _penalised(scores, rows, weights) if weights.any() else scores

    def follow(self, tokens: Tensor, origin: Tensor | None, totals: Tensor) -> Tensor:
        """Return the tokens that the rows take: those that search chose, but for tokens that stand for others.

        tokens: (R,); the chosen tokens
        origin: (R,); the row before that each row continues; None where each row continues its own
        totals: (R,); the log-probability of each row, −inf for rows that no longer matter
        """
        if all(one is None for one in self._rows):
            self._rows = [None] * len(tokens)
            return tokens
        chosen, alive = tokens.tolist(), (totals > float("-inf")).tolist()
        origins = range(len(chosen)) if origin is None else origin.tolist()
        taken = list(chosen)
        rows: list[tuple[SentenceFacts, Record] | None] = []
        for number, (before, token, lives) in enumerate(zip(origins, chosen, alive, strict=True)):
            one = self._rows[before]
            if one is None or not lives:
                rows.append(None)
                continue
            taken[number] = self._substitutes.get(before, {}).get(token, token)
            action = self._vocabulary.table.actions[taken[number]]
            assert action is not None  # only `</s>` is none, and it comes after the end
            record, _ = one[0].after(self._system, one[1], action)
            rows.append(None if record.state.closed else (one[0], record))
        self._rows = rows
        return tokens if taken == chosen else torch.tensor(taken, device=tokens.device)

    def keep(self, rows: Tensor) -> None:
        """Let row i continue the former row `rows[i]`."""
        if any(one is not None for one in self._rows):
            self._rows = [self._rows[row] for row in rows.tolist()]
        else:
            self._rows = [None] * len(rows)

    def _restrict_row(
        self, facts: SentenceFacts, record: Record, columns: _Columns, legal: np.ndarray, weights: np.ndarray
    ) -> dict[int, int]:
        """Change the legality and the weights of the actions of a row; return the tokens that stand for others.

        legal: (U,); as in `ActionScores`
        weights: (U,); the penalties
        """
        may = legal > 0
        if not may.any():
            return {}
        rules = _Rules(self._vocabulary, facts, record, self._most_in_span, self._nodes_left(record))
        hard = np.zeros(len(legal))
        wanted = columns.index(rules.wanted)
        substitutes: dict[int, int] = {}
        exempt: np.ndarray | None = None
        if rules.missing is not None and not (legal[columns.index(rules.due_tokens)] != 0).any():
            exempt = self._stand_ins(rules.missing, columns, may)
            token = self._vocabulary.ids.get(rules.missing.action)
            if token is None:
                token = self._vocabulary.stand_in(facts, rules.missing, facts.due(record))
            if token is None:
                exempt = None
            elif exempt is not None:
                substitutes = {int(columns.tokens[i]): token for i in exempt}
        for rule in rules.all():
            hit = columns.of(rule.kinds)
            if rule.tokens:
                hit[columns.index(rule.tokens)] = True
            if rule.but:
                hit[columns.index(rule.but)] = False
            if rule.hard == _NODES and exempt is not None:
                hit[exempt] = False
            if rule.weight is None:
                hard[hit] += rule.hard
            else:
                weights[hit] += rule.weight
        may[wanted] |= legal[wanted] < 0
        best = hard[may].min()
        allowed = may & (hard == best)
        legal[allowed] = 1
        legal[(legal > 0) & ~allowed] = -1
        return substitutes

    def _stand_ins(self, fact: NodeFact, columns: _Columns, may: np.ndarray) -> np.ndarray | None:
        """Return the indices of legal actions whose scores stand for the action that makes a node."""
        families: list[Sequence[Kind]] = [_NAMING, _LEAVING]
        if fact.name:
            families.insert(0, (Kind.ENTITY,))
        elif fact.constant:
            families.insert(0, tuple(CONSTANTS))
        else:
            families.insert(0, tuple(CONCEPTS))
        for kinds in families:
            found = (may & columns.of(kinds)).nonzero()[0]
            if len(found):
                return found
        return None

    @property
    def _most_in_span(self) -> int:
        return self._system.limits.span

    def _nodes_left(self, record: Record) -> int:
        """Return how many nodes search may still make."""
        words = len(record.state.words)
        made = limits_of(words)[2] - record.state.nodes_left
        return min(limits_of(words)[2], self._system.limits.of_sentence(words)[1]) - made


def _penalised(scores: ActionScores, rows: Sequence[int], weights: np.ndarray) -> ActionScores:
    """Return the scores less the weights (number of rows, U) of some rows."""
    penalties = dict(zip(rows, weights, strict=True))
    places = range(len(scores.scores)) if scores.rows is None else scores.rows.tolist()
    changed = scores.scores.clone()
    for place, row in enumerate(places):
        if row in penalties:
            changed[place] -= torch.from_numpy(penalties[row]).to(changed)
    return scores._replace(scores=changed)


class _Rules:
    """The penalties in one configuration.

    due_tokens: the tokens that make a due node exactly
    missing: the due node that must be made now if none of these is legal
    wanted: the tokens that may be taken although a node would get a role twice
    """

    def __init__(
        self, vocabulary: Vocabulary, facts: SentenceFacts, record: Record, most_in_span: int, nodes_left: int
    ) -> None:
        self.vocabulary, self.facts, self.record, self.state = vocabulary, facts, record, record.state
        self.nodes_left, self.most_in_span = nodes_left, most_in_span
        self.top = self.state.stack[-1] if self.state.stack else None
        self.second = self.state.stack[-2] if len(self.state.stack) > 1 else None
        self.free = self.state.position == len(self.state.words) and not has_concept(self.state)
        self.room = (nodes_left > 0 and record.in_span < most_in_span) or self.free
        self.wanted: list[int] = []
        self.due_tokens: list[int] = []
        self.missing: NodeFact | None = None
        self._rules: list[_Rule] = []
        self._read_spans()
        self._read_due()
        self._read_none()
        self._read_pairs()
        self._read_losses()
        self._read_top()
        self._read_reserve()
        self._read_others()

    def all(self) -> Sequence[_Rule]:
        return self._rules

    def _add(self, hard: float, weight: float | None, kinds: Sequence[Kind] = (), tokens: Sequence[int] = (),
             but: Sequence[int] = ()) -> None:  # fmt: skip
        self._rules.append(_Rule(hard, weight, kinds, tokens, but))

    def _read_spans(self) -> None:
        """Words of a node are merged, and other words are not merged with them."""
        word, state = self.state.position, self.state
        if word == len(state.words) or state.named:
            return
        if word in self.facts.glued:
            merge = self.vocabulary.tokens([Action(Kind.MERGE)])
            self._add(_NODES, self.facts.glued[word], tuple(Kind), but=merge)
        elif word in self.facts.cut:
            self._add(_NODES, self.facts.cut[word], (Kind.MERGE,))

    def _read_due(self) -> None:
        """The nodes of the current span are made before search leaves the span, and before other nodes."""
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
        self.due_tokens = self.vocabulary.tokens([*exact, *dependents])
        hard = [facts.nodes[i] for i in due if facts.nodes[i].weight is None]
        for weight in [None] * bool(hard) + [facts.nodes[i].weight for i in due if facts.nodes[i].weight is not None]:
            self._add(_NODES, weight, _LEAVING)
            self._add(_NODES, weight, (*_NAMING, Kind.DEPENDENT), but=self.due_tokens)
        first = next((facts.nodes[i] for i in now if facts.nodes[i].weight is None), None)
        if first is not None and not (first.name and state.named):
            self.missing = first

    def _constant_may_come(self) -> bool:
        return self.nodes_left > 1 and self.state.position < len(self.state.words)

    def _read_none(self) -> None:
        """Words without nodes; a concept comes before a tail of such words."""
        state, none, weight = self.state, self.facts.none, self.facts.weight
        if not none:
            return
        nodes = (*_NAMING, Kind.DEPENDENT)
        if state.position and not self.free and not none.isdisjoint(range(state.first, state.position)):
            self._add(_NODES, weight, nodes)
        if not has_concept(state) and none.issuperset(range(state.position, len(state.words))):
            self._add(_NODES, weight, (Kind.SHIFT, *CONSTANTS))

    # --- edges -------------------------------------------------------------------------------------

    def _read_pairs(self) -> None:
        """Two nodes with an edge meet, and get the edge and no other before it."""
        if self.top is None:
            return
        facts, record = self.facts, self.record
        leaving = (*_LEAVING, *_NAMING)
        if self.second is not None:
            here = list(facts.between(record, self.top, self.second))
            for k, from_top in here:
                self._read_pair(k, from_top, [arc_of(facts.edges[j], top) for j, top in here])
        for node in self.state.stack[:-2]:
            for k, _ in facts.between(record, self.top, node):
                edge = facts.edges[k]
                if edge.narrow:
                    definite = edge.source.fact >= 0 and edge.target.fact >= 0
                    self._add(_PAIRS, edge.weight, leaving if definite else _LEAVING)
        self._read_roles()

    def _read_pair(self, k: int, from_top: bool, wanted: Sequence[Action]) -> None:
        edge = self.facts.edges[k]
        arcs = self.vocabulary.tokens(wanted)
        kinds = tuple(kind for kind in Kind if kind is not Kind.ROOT)
        if not edge.narrow:
            self._add(_ROLES, edge.weight, _ARCS, but=arcs)
            return
        if arc_of(edge, from_top) not in self.vocabulary.ids:  # any arc in this direction stands for it
            kind = arc_of(edge, from_top).kind
            kinds = tuple(other for other in kinds if other is not kind)
        self.wanted += arcs
        self._add(_PAIRS, edge.weight, kinds, but=arcs)

    def _read_roles(self) -> None:
        """A role that a node will get by an open fact, and gets once, it gets from no other node."""
        facts, record, giving = self.facts, self.record, self.vocabulary.giving
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
                arc = self.vocabulary.tokens([Action(Kind.LA if place == TOP else Kind.RA, edge.role)])
                dependents = self.vocabulary.tokens(facts.dependents(record))
                self._add(_ROLES, edge.weight, tokens=tokens, but=[*(arc if right else ()), *dependents])

    def _read_losses(self) -> None:
        """A node stays on the stack as long as one of its open edges can come."""
        if self.second is None:
            return
        for k in self.facts.is_awaited(self.record, self.second):
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
            self._add(_PAIRS / 2, weight, _LEAVING)

    def _may_come(self, place: Place) -> bool:
        return self.facts.can_come(place, self.record)

    def _is_on_stack(self, place: Place) -> bool:
        nodes = (*self.state.stack, *self.state.aside)
        return any(self.facts.fits(place, self.record, node) for node in nodes)

    def _read_reserve(self) -> None:
        """Leave as many nodes as facts still need, in the sentence and in the span."""
        to_come = self.facts.to_come(self.record)
        due = sum(self.facts.nodes[i].weight is None for i in self.facts.due(self.record))
        if not to_come:
            return
        if self.nodes_left <= to_come or (due and self.most_in_span - self.record.in_span <= due):
            self._add(_RESERVE, None, (*_NAMING, Kind.DEPENDENT), but=self.due_tokens)

    def _read_others(self) -> None:
        """Of complete facts, no other nodes and edges are made."""
        if not self.facts.given.complete:
            return
        self._add(_OTHERS, self.facts.weight, (*_NAMING, Kind.DEPENDENT), but=self.due_tokens)
        arcs: list[int] = []
        if self.second is not None and self.top is not None:
            here = self.facts.between(self.record, self.top, self.second)
            arcs = self.vocabulary.tokens(arc_of(self.facts.edges[k], from_top) for k, from_top in here)
        self._add(_OTHERS, self.facts.weight, _ARCS, but=arcs)
