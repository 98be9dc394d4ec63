"""Facts about the words of a sentence that search keeps: they limit the legal actions of the AMR machine.

Facts about nodes and edges limit none, because that would lead to states that training lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transition_parser.states.amr_machine import AmrMachine, Rows
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Kind
from transition_parser.transitions.amr_limits import WordFacts
from transition_parser.transitions.amr_state import MAKE_NODES


class Guide:
    """Masks of actions, from the facts about each of S sentences; `words` is the length of the longest sentence."""

    def __init__(self, table: ActionTable, facts: Sequence[WordFacts | None], words: int, device: torch.device) -> None:
        kinds = [action and action.kind for action in table.actions]
        self._merge = torch.tensor([kind is Kind.MERGE for kind in kinds], device=device)  # (V,) bool, for V actions
        self._makes = torch.tensor([kind in MAKE_NODES for kind in kinds], device=device)
        joins, cuts, bare = torch.zeros(3, len(facts), words + 2, dtype=torch.long)
        for sentence, one in enumerate(facts):
            if one is not None:
                joins[sentence, [*one.merged]] = 1
                cuts[sentence, [*one.cut]] = 1
                bare[sentence, [word + 1 for word in one.none]] = 1
        self._joins, self._cuts = joins.bool().to(device), cuts.bool().to(device)  # (S, P): MERGE at P, or not
        self._bare = bare.cumsum(1).to(device)  # words without nodes before each position

    def restrict(self, legal: Tensor, machine: AmrMachine) -> Tensor:
        """Return the legality (R, V) with −1 for actions against facts, the most important first; rows keep one."""
        rows = Rows(*machine.numbers.unbind(1))
        last = self._bare.size(1) - 1  # dead rows may go on
        sentence, first, position = rows.sentence, rows.first.clamp(max=last), rows.position.clamp(max=last)
        merge, makes = self._merge, self._makes
        is_bare = self._bare[sentence, position] > self._bare[sentence, first]
        join, cut = self._joins[sentence, position], self._cuts[sentence, position]
        allowed = was_legal = legal > 0
        for where, forbidden in ((join, ~merge), (cut, merge), (is_bare, makes)):
            narrowed = allowed & ~(where[:, None] & forbidden)
            allowed = torch.where(narrowed.any(1, keepdim=True), narrowed, allowed)
        return legal.masked_fill(was_legal & ~allowed, -1)
