"""The LEFT-ARC and RIGHT-ARC actions of dependency systems: the words that they connect, and their scores."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.states.states import States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Kind, TreeSystem
from transition_parser.transitions.tree_system import NONE

ARC_KINDS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)
S0, S1, B0 = range(3)  # places that an arc connects: top of the stack, the word below it, front of the buffer


class ArcActions(nn.Module):
    """The LEFT-ARC and RIGHT-ARC actions (`ARC_KINDS`) of a transition system, each with every relation.

    heads, dependents: the place (S0, S1 or B0) of the head and of the dependent, for each of `ARC_KINDS`.
    slot: (V,) int64 for V action tokens; the index of each token in the flattened scores of `ARC_KINDS` × relations. A
        token that makes no arc has the index after the last score, where `of_tokens` appends a 0.
    """

    slot: Tensor

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        assert isinstance(table.system, TreeSystem)
        known = [table.system.spec.rules[kind].effect for kind in ARC_KINDS]
        self.heads = [effect.head - NONE - 1 for effect in known]
        self.dependents = [effect.dependent - NONE - 1 for effect in known]
        numbers, count = {kind: number for number, kind in enumerate(ARC_KINDS)}, len(table.relations)
        slots = [
            numbers[action.kind] * count + relation
            if action is not None and action.kind in numbers
            else len(ARC_KINDS) * count
            for action, relation in zip(table.actions, table.relation.tolist(), strict=True)
        ]
        self.register_buffer("slot", torch.tensor(slots), persistent=False)

    def of_tokens(self, scores: Tensor) -> Tensor:
        """Return the scores (…, V) of all tokens from the scores of arcs; a token that makes no arc gets 0.

        scores: (…, 2, relations); the score of each of `ARC_KINDS` with each relation.
        """
        return F.pad(scores.flatten(-2), (0, 1)).index_select(-1, self.slot)

    def positions(self, states: States) -> tuple[Tensor, Tensor]:
        """Return the positions of the heads and of the dependents in N states, (N, 2) each, a column for each arc kind.

        The positions of an illegal arc are arbitrary.
        """
        words, _ = places(states)
        return words[:, self.heads], words[:, self.dependents]


def places(states: States) -> tuple[Tensor, Tensor]:
    """Return the positions of the words at S0, S1 and B0, (N, 3), and True where there is such a word, (N, 3) bool.

    The position of a missing word is arbitrary.
    """
    assert states.stack is not None and states.buffer is not None
    there = torch.stack([states.stack == 1, states.stack == 2, states.buffer == 1], 1)
    some, position = there.byte().max(2)
    return position, some.bool()
