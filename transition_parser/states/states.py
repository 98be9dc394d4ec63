"""The parts of parser states that networks can see. The batched machine makes them, in training and in search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

# The names of fields of `States` that a model may list in its `needs`.
RANKS = ("stack", "buffer")
STEPS_SINCE = ("steps_since_stack", "steps_since_buffer")
TREE = ("head", "relation")
FIELDS = (*RANKS, *STEPS_SINCE, *TREE)


@dataclass(frozen=True)
class States:
    """Configurations before an action.

    The leading dimensions are (R,) in search, for one step of R hypotheses, and (B, T) in training, for all T steps of
    B derivations. There are P positions, for the words of the longest sentence and the root. The root of a sentence of
    n words is position n. Fields that no model needs are None.

    columns: (…, C) bool; the legal columns of `ActionTable`
    context: (…, K); the values that legality depends on besides the columns; None if there are none
    stack: (…, P); k > 0 for the k-th word from the top of the stack, 0 for words that are not on the stack; for AMR see
        `AmrMachine`
    buffer: (…, P); k > 0 for the k-th word from the front of the buffer, 0 for words that are not in the buffer; for
        AMR see `AmrMachine`
    steps_since_stack: (…, P); s > 0 for a word that left the stack s actions ago and is not on the stack now, else 0
    steps_since_buffer: (…, P); s > 0 for a word that left the buffer s actions ago and is not in the buffer now, else 0
    head: (…, P); the offset from each word to its head, 0 for words without a head
    relation: (…, P); the id of each word's relation (`ActionTable.relations`), 0 for words without a head
    """

    columns: Tensor
    context: Tensor | None = None
    stack: Tensor | None = None
    buffer: Tensor | None = None
    steps_since_stack: Tensor | None = None
    steps_since_buffer: Tensor | None = None
    head: Tensor | None = None
    relation: Tensor | None = None

    def tensors(self) -> dict[str, Tensor]:
        """Return the fields that are not None, by name, for batches of fairseq."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in named if value is not None}

    def flattened(self) -> States:
        """Return the states with the dimensions (B, T) merged into one dimension of B · T rows."""
        return States(**{name: value.flatten(0, 1) for name, value in self.tensors().items()})

    def at(self, *index: Tensor | int | slice) -> States:
        """Return the states at the given index of the leading dimensions."""
        return States(**{name: value[index] for name, value in self.tensors().items()})

    def as_one_step(self) -> States:
        """Return states (R, …) as (R, 1, …), as derivations of one step."""
        return States(**{name: value.unsqueeze(1) for name, value in self.tensors().items()})

    def has(self, needs: Collection[str]) -> bool:
        """Return True if none of the named fields is None."""
        return all(getattr(self, name) is not None for name in needs)

    @staticmethod
    def of_steps(steps: Sequence[States]) -> States:
        """Return states (R, T, …) from T states of one step each, (R, …).

        The fields in `FIELDS` become int16, because numbers of words fit into 16 bits.
        """
        first = steps[0].tensors()
        stacked = {name: torch.stack([getattr(step, name) for step in steps], 1) for name in first}
        return States(**{name: value.short() if name in FIELDS else value for name, value in stacked.items()})
