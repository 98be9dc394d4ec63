"""The guide of search: it keeps the hypotheses of a sentence to the facts that are given about its AMR.

A guide reads the tokens that search takes, follows each hypothesis with the pure-Python system, and tells which of the
legal actions contradict a fact. Actions that contradict facts that must hold may not be taken as long as another action
is legal. The scores of actions that contradict other facts are lowered by the weight of the fact. Rows of sentences
without facts stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import Tensor

from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.given_records import NodeFact, Record, SentenceFacts
from transition_parser.parsing.guide_rules import KIND_IDS, LEAVING, NODES, GuideTable, Rules
from transition_parser.transitions import Kind
from transition_parser.transitions.amr_naming import CONCEPTS, CONSTANTS, ON_STACK
from transition_parser.transitions.amr_state import limits_of

_NONE = np.empty(0, dtype=np.int64)


class _Columns:
    """The U actions that are scored at a step.

    tokens: (U,) int; the token of each action
    kinds: (U,) int; the number of the kind of each action
    """

    def __init__(self, table: GuideTable, tokens: Tensor | None) -> None:
        self.tokens = np.arange(len(table.kind)) if tokens is None else tokens.cpu().numpy()
        self.kinds = table.kind[self.tokens]
        self._index = np.full(len(table.kind), -1)
        self._index[self.tokens] = np.arange(len(self.tokens))
        self._of: dict[Collection[Kind], np.ndarray] = {}

    def index(self, tokens: Sequence[int]) -> np.ndarray:
        """Return the indices of the given tokens in `self.tokens`, without tokens that are not scored."""
        if not tokens:
            return _NONE
        found = self._index[np.asarray(tokens, dtype=np.int64)]
        return found[found >= 0]

    def of(self, kinds: Collection[Kind]) -> np.ndarray:
        """Return (U,) bool, True for the actions of some kinds. All rows of a step share the array."""
        if kinds not in self._of:
            wanted = np.zeros(len(KIND_IDS) + 1, dtype=bool)
            wanted[[KIND_IDS[kind] for kind in kinds]] = True
            self._of[kinds] = wanted[self.kinds]
        return self._of[kinds]


class Guide:
    """A guide for the search of one batch, which follows each hypothesis of a sentence with facts.

    table: the action vocabulary
    facts: the facts about each sentence, None for sentences without facts
    """

    def __init__(self, table: GuideTable, facts: Sequence[SentenceFacts | None]) -> None:
        self._table, self._system = table, table.system
        self._rows = [None if one is None else (one, one.initial(self._system)) for one in facts]
        self._substitutes: dict[int, dict[int, int]] = {}  # row → chosen token → the token that is taken instead

    def restrict(self, scores: ActionScores) -> ActionScores:
        """Return the scores and the legality of the next action, changed for actions that contradict facts."""
        self._substitutes = {}
        rows = [row for row, one in enumerate(self._rows) if one is not None]
        if not rows:
            return scores
        columns = _Columns(self._table, scores.tokens)
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
        """Return (R,) the tokens that the rows take: the chosen tokens, after the substitutions of `restrict`.

        tokens: (R,) int64; the token that search chose for each of R rows (hypotheses)
        origin: (R,) int64; the row of the previous step that each row continues; None if row i continues row i
        totals: (R,) float; the log-probability of each row, −inf for discarded rows
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
            action = self._table.table.action(taken[number])  # never `</s>`, which comes after CLOSE
            record, _ = one[0].after(self._system, one[1], action)
            rows.append(None if record.state.closed else (one[0], record))
        self._rows = rows
        return tokens if taken == chosen else torch.tensor(taken, device=tokens.device)

    def keep(self, rows: Tensor) -> None:
        """Let row i continue the former row `rows[i]`, after sentences left the batch. `rows` is (R,) int64."""
        if any(one is not None for one in self._rows):
            self._rows = [self._rows[row] for row in rows.tolist()]
        else:
            self._rows = [None] * len(rows)

    def _restrict_row(
        self, facts: SentenceFacts, record: Record, columns: _Columns, legal: np.ndarray, weights: np.ndarray
    ) -> dict[int, int]:
        """Write the legality and penalties of the actions of a row. Return chosen token → the token to take instead.

        legal: (U,) float; as in `ActionScores`
        weights: (U,) float; the penalties, to which the weights of contradicted facts are added
        """
        may = legal > 0
        if not may.any():
            return {}
        rules = Rules(self._table, facts, record, self._nodes_left(record))
        substitutes = self._substitutes_of(rules, facts, record, columns, legal)
        exempt = columns.index([*substitutes])
        hard = np.zeros(len(legal))
        for rule in rules.all():
            hit = columns.of(rule.kinds).copy()
            hit[columns.index(rule.tokens)] = True
            hit[columns.index(rule.but)] = False
            if rule.hard == NODES:
                hit[exempt] = False
            if rule.weight is None:
                hard[hit] += rule.hard
            else:
                weights[hit] += rule.weight
        wanted = columns.index(rules.wanted)
        may[wanted] |= legal[wanted] < 0
        allowed = may & (hard == hard[may].min())
        legal[allowed] = 1
        legal[(legal > 0) & ~allowed] = -1
        return substitutes

    def _substitutes_of(
        self, rules: Rules, facts: SentenceFacts, record: Record, columns: _Columns, legal: np.ndarray
    ) -> dict[int, int]:
        """Return legal token → the token that makes a due node and is taken instead.

        The result is empty where an action that makes a due node is legal. No such action is legal where the model
        lacks the label, or where the lexicon forbids the action.
        """
        missing = rules.missing
        if missing is None or (legal[columns.index(rules.due_tokens)] > 0).any():
            return {}
        token = self._table.ids.get(missing.action)
        if token is None:
            token = self._table.stand_in(facts, missing, facts.due(record))
        if token is None:
            return {}
        return dict.fromkeys(columns.tokens[self._stand_ins(missing, columns, legal > 0)].tolist(), token)

    def _stand_ins(self, fact: NodeFact, columns: _Columns, may: np.ndarray) -> np.ndarray:
        """Return the indices of the legal actions that may be replaced by the action that makes the node of a fact."""
        like = (Kind.ENTITY,) if fact.name else CONSTANTS if fact.constant else CONCEPTS
        for kinds in (like, ON_STACK, LEAVING):
            found = (may & columns.of(kinds)).nonzero()[0]
            if len(found):
                break
        return found

    def _nodes_left(self, record: Record) -> int:
        """Return how many nodes search may still make."""
        words = len(record.state.words)
        made = limits_of(words)[2] - record.state.nodes_left
        return min(limits_of(words)[2], self._system.limits.of_sentence(words)[1]) - made


def _penalised(scores: ActionScores, rows: Sequence[int], weights: np.ndarray) -> ActionScores:
    """Return the scores minus `weights`: for each of `rows`, the penalties of the U actions that are scored."""
    penalties = dict(zip(rows, weights, strict=True))
    places = range(len(scores.scores)) if scores.rows is None else scores.rows.tolist()
    changed = scores.scores.clone()
    for place, row in enumerate(places):
        if row in penalties:
            changed[place] -= torch.from_numpy(penalties[row]).to(changed)
    return scores._replace(scores=changed)
