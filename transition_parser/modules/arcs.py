"""The arcs that actions of dependency trees make: between which words, and which tokens have their relations."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.states.states import States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Kind
from transition_parser.transitions.spec import NONE, Column

ARC_KINDS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)
S0, S1, B0 = range(3)  # the places that arcs are between: on top of the stack, below it, at the front of the buffer


class Arcs(nn.Module):
    """Those of a system: `ARC_KINDS`, LEFT-ARC and RIGHT-ARC, each with all relations.

    heads, dependents: the place of the head and of the dependent of each of `ARC_KINDS`.
    slot: (V,), where the score of each token is among those of `ARC_KINDS` × relations; behind them is a 0.
    """

    slot: Tensor

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        effects = table.system.spec.effects
        known = [effects[Column[kind.name]] for kind in ARC_KINDS]
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
        """(…, V), of the tokens; 0 for those that make no arc. scores: (…, 2, relations)."""
        return F.pad(scores.flatten(-2), (0, 1)).index_select(-1, self.slot)

    def positions(self, states: States) -> tuple[Tensor, Tensor]:
        """(N, 2) each: the position of the head and of the dependent that either arc would have; that of any word where
        it is not legal."""
        words, _ = places(states)
        return words[:, self.heads], words[:, self.dependents]


def places(states: States) -> tuple[Tensor, Tensor]:
    """(N, 3) each, for S0, S1 and B0: the position of the word there, and whether there is one (else any position)."""
    assert states.stack is not None and states.buffer is not None
    there = torch.stack([states.stack == 1, states.stack == 2, states.buffer == 1], 1)
    some, position = there.byte().max(2)
    return position, some.bool()
