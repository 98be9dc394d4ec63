"""Facts about the AMR of a sentence as masks of the actions that search may take next.

`Guide` forbids legal actions that contradict a fact (`facts`), as long as another legal action is left. `completion`
adds what is missing after the last action.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.facts import Record, SentenceFacts
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import SECOND, TOP, role_given
from transition_parser.transitions.amr_naming import CONCEPTS, CONSTANTS, MAKE_NODES, ON_STACK
from transition_parser.transitions.amr_state import has_concept, limits_of

_LEAVING = (Kind.SHIFT, Kind.MERGE, Kind.CLOSE)
_ARCS = (Kind.LA, Kind.RA)
_KIND_IDS = {kind: number for number, kind in enumerate(Kind)}


class GuideTable:
    """The action vocabulary of V tokens as a guide reads it."""

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
    """The masks (V,) of actions against facts in one configuration, the most important first; see `_all`."""

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
        """Return (V,) bool: the legal actions that no mask forbids; a mask that leaves none is passed over."""
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
        """While nodes are due, forbid leaving the current span, and making other nodes."""
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
    """A guide for the search of one batch, which follows each hypothesis of a sentence with facts."""

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
        """Follow the R rows by an action: `tokens` (R,) from the rows `origin` (R,), −inf in `totals` (R,) if dead."""
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
