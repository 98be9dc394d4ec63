"""What a network may see of the parser state, made by the batched machine alone: in training and in search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

# what a model may name in its `needs`
RANKS = ("stack", "buffer")
LEFT = ("left_stack", "left_buffer")
TREE = ("head", "relation")
FIELDS = (*RANKS, *LEFT, *TREE)


@dataclass(frozen=True)
class States:
    """Configurations before an action. The leading dimensions are (R,) in search, one step of R hypotheses, and (B, T)
    in training, all T steps of B derivations. P positions: the words of the longest sentence, and the root; the root of
    a sentence of n words is position n. Fields that no model asked for are None.

    columns: (…, C) bool, the legal columns of `ActionTable`. context: (…, K) what else legality depends on, or None.
    stack, buffer: (…, P), k > 0 for the k-th word from the top of the stack (front of the buffer), 0 for a word that is
        not there. For AMR see `AmrMachine`.
    left_stack, left_buffer: (…, P), s > 0 for a word that left it s actions ago and is not there now, else 0.
    head: (…, P), the offset from a word to its head, 0 for a word without one. relation: (…, P), the id of its label
        (`ActionTable.relations`), 0 for none.
    """

    columns: Tensor
    context: Tensor | None = None
    stack: Tensor | None = None
    buffer: Tensor | None = None
    left_stack: Tensor | None = None
    left_buffer: Tensor | None = None
    head: Tensor | None = None
    relation: Tensor | None = None

    def tensors(self) -> dict[str, Tensor]:
        """The fields that are there, by name: what batches of fairseq hold."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in named if value is not None}

    def flattened(self) -> States:
        """(B, T) as one dimension of B · T rows."""
        return States(**{name: value.flatten(0, 1) for name, value in self.tensors().items()})

    def at(self, *index: Tensor | int | slice) -> States:
        """Some of them: the leading dimensions indexed so."""
        return States(**{name: value[index] for name, value in self.tensors().items()})

    def as_one_step(self) -> States:
        """(R, …) as (R, 1, …): derivations of one step."""
        return States(**{name: value.unsqueeze(1) for name, value in self.tensors().items()})

    def has(self, needs: Collection[str]) -> bool:
        """True if all the fields named are there."""
        return all(getattr(self, name) is not None for name in needs)

    @staticmethod
    def of_steps(steps: Sequence[States]) -> States:
        """(R, T, …) from the T states of one step each, (R, …). Numbers of words fit into 16 bits."""
        first = steps[0].tensors()
        stacked = {name: torch.stack([getattr(step, name) for step in steps], 1) for name in first}
        return States(**{name: value.short() if name in FIELDS else value for name, value in stacked.items()})
