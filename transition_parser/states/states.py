"""The parts of parser states that networks can see, and the base of the batched machines that make them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import torch
from torch import Tensor

from transition_parser.states.device_table import DeviceTable
from transition_parser.states.table import ActionClass

# The names of fields of `States` that a model may list in its `needs`.
RANKS = ("stack", "buffer")
STEPS_SINCE = ("steps_since_stack", "steps_since_buffer")
TREE = ("head", "relation")
FIELDS = (*RANKS, *STEPS_SINCE, *TREE)
FRAMES = "frames"  # a model may need this field, too; it is not of words


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
    frames: (…, 2); for AMR, the classes (`RoleFunctions`) of the frames of the node on top and of the second node
    """

    columns: Tensor
    context: Tensor | None = None
    stack: Tensor | None = None
    buffer: Tensor | None = None
    steps_since_stack: Tensor | None = None
    steps_since_buffer: Tensor | None = None
    head: Tensor | None = None
    relation: Tensor | None = None
    frames: Tensor | None = None

    def tensors(self) -> dict[str, Tensor]:
        """Return the fields that are not None, by name, for batches of fairseq."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in named if value is not None}

    def flattened(self) -> States:
        """Return the states with the dimensions (B, T) merged into one dimension of B · T rows."""
        return States(**{name: value.flatten(0, 1) for name, value in self.tensors().items()})

    def at(self, *index: Tensor | int | slice | None) -> States:
        """Return the states at the given index of the leading dimensions; None adds a dimension."""
        return States(**{name: value[index] for name, value in self.tensors().items()})

    def has(self, needs: Collection[str]) -> bool:
        """Return True if none of the named fields is None."""
        return all(getattr(self, name) is not None for name in needs)

    @staticmethod
    def of_steps(steps: Sequence[States]) -> States:
        """Return states (R, T, …) from T states of one step each, (R, …); those that models need become int16."""
        first = steps[0].tensors()
        stacked = {name: torch.stack([getattr(step, name) for step in steps], 1) for name in first}
        small = (*FIELDS, FRAMES)
        return States(**{name: value.short() if name in small else value for name, value in stacked.items()})


class BatchedMachine(ABC):
    """The configurations of R rows (hypotheses), which take their actions at once. `table` has V tokens, C columns.

    per_sentence: names of the tensors that are equal in all rows of a sentence
    per_row: names of the other tensors with one row for each hypothesis
    top_ranks: the highest rank in `stack_ranks` that the two words (in AMR, nodes) on top of the stack have
    width: P, the number of words of the longest sentence plus one
    needs: names of the fields of `States` that `observe` returns; their history is recorded from the first action on
    """

    per_sentence: ClassVar[Sequence[str]] = ()
    per_row: ClassVar[Sequence[str]] = ()
    top_ranks: ClassVar[int] = 2
    table: DeviceTable
    width: int
    _columns: Tensor  # the result of `legal_columns`, which subclasses compute after each action

    def __init__(self, needs: Collection[str] = ()) -> None:
        self.needs = frozenset(needs)
        self.steps = 0
        # For `stack` and `buffer`: (R, P), the value of `steps` when each word was last on the stack or in the buffer;
        # −1 for never.
        self._last: dict[str, Tensor] = {}

    # --- what a network sees ----------------------------------------------------------------

    @abstractmethod
    def stack_ranks(self) -> Tensor:
        """Return the field `stack` of `States`, (R, P)."""

    @abstractmethod
    def buffer_ranks(self) -> Tensor:
        """Return the field `buffer` of `States`, (R, P)."""

    def tree(self) -> tuple[Tensor, Tensor]:
        """Return the fields `head` and `relation` of `States`, (R, P) each. Raises `ValueError` if there is no tree."""
        raise ValueError(f"{self.table.system} builds no tree")

    def frames(self) -> Tensor:
        """Return the field `frames` of `States`, (R, 2). Raises `ValueError` if nodes have no frames."""
        raise ValueError(f"{self.table.system} has no frames")

    def observe(self) -> States:
        """Return the configurations before the next action, with the fields in `needs`."""
        seen = dict(zip(RANKS, (self.stack_ranks, self.buffer_ranks), strict=True))
        values = {name: rank() for name, rank in seen.items() if name in self.needs}
        for name, there in zip(STEPS_SINCE, RANKS, strict=True):
            if name in self.needs:
                last = self._last[there]
                values[name] = torch.where(last >= 0, self.steps - last, 0)
        if self.needs.intersection(TREE):
            values |= {name: value for name, value in zip(TREE, self.tree(), strict=True) if name in self.needs}
        if FRAMES in self.needs:
            values[FRAMES] = self.frames()
        return States(self.legal_columns(), self.context(), **values)

    # --- legality ---------------------------------------------------------------------------

    def legal_columns(self) -> Tensor:
        """Return (R, C) bool, True for the legal columns of the `ActionTable`."""
        return self._columns

    @abstractmethod
    def context(self) -> Tensor | None:
        """Return the values that legality depends on besides the columns, (R, K), or None (`DeviceTable.legality`)."""

    def is_final(self) -> Tensor:
        """Return (R,) bool, True for final rows."""
        return self._columns[:, ActionClass.END].clone()

    def legal(self) -> Tensor:
        """Return (R, V) bool, True for legal tokens. `</s>` is legal exactly in final states."""
        return self.legality() > 0

    def legality(self) -> Tensor:
        """Return the legality of tokens, (R, V) float: 1, 0 or −1, see `DeviceTable.legality`."""
        return self.table.legality(self.legal_columns(), self.context())

    # --- taking actions and choosing rows ---------------------------------------------------

    def apply(self, tokens: Tensor) -> None:
        """Take the action of each row's token, (R,). An illegal token leaves its row unchanged."""
        self._apply(tokens)
        self.steps += 1
        self.follow()

    @abstractmethod
    def _apply(self, tokens: Tensor) -> None:
        """Change the configurations as `apply` does, without counting the step or recording the history."""

    def reorder(self, rows: Tensor, same_sentences: bool = False) -> None:
        """Replace each row i by a copy of row `rows[i]`; if all rows keep their sentences, less is copied."""
        for name in (*self.per_row, *(() if same_sentences else self.per_sentence)):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, value.index_select(0, rows))
        self._last = {name: last.index_select(0, rows) for name, last in self._last.items()}

    def follow(self) -> None:
        """Record which words are on the stack and in the buffer. This must run before the first action, too."""
        for name, there, ranks in zip(STEPS_SINCE, RANKS, (self.stack_ranks, self.buffer_ranks), strict=True):
            if name in self.needs:
                rank = ranks()
                before = self._last.get(there, torch.full_like(rank, -1))
                self._last[there] = torch.where(rank > 0, self.steps, before)

    def unroll(self, actions: Tensor) -> States:
        """Return the states (B, T, …) before each token of `actions` (B, T). The last action is not taken."""
        steps = []
        for step in range(actions.size(1)):
            if step:
                self.apply(actions[:, step - 1])
            steps.append(self.observe())
        return States.of_steps(steps)
