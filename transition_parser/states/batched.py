"""What the batched machines of trees and of AMR share: how a network and search look at them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import ClassVar

import torch
from torch import Tensor

from transition_parser.states.device_table import DeviceTable
from transition_parser.states.states import LEFT, RANKS, TREE, States


class BatchedMachine(ABC):
    """R rows (hypotheses), each in a configuration of its own, that take their actions at once.

    per_sentence: the names of the tensors that are alike in all rows of a sentence; per_row: of all the others.
    top_ranks: how many ranks of `stack_ranks` the two words (nodes) on top take. width: P, the words of the longest
    sentence and one more. needs: the fields of `States` that `observe` will be asked
    for; what they take to follow is followed from the first action on. hidden: those that `observe` shows empty, as if
    no word had ever been there: what a network makes of the others says how much it relies on these.
    """

    per_sentence: ClassVar[Sequence[str]] = ()
    per_row: ClassVar[Sequence[str]] = ()
    top_ranks: ClassVar[int] = 2
    table: DeviceTable
    width: int
    hidden: Collection[str] = ()

    def __init__(self, needs: Collection[str] = ()) -> None:
        self.needs = frozenset(needs)
        self.steps = 0
        # for `left_stack` and `left_buffer`: before which action each word was there last, (R, P); −1: never
        self._last: dict[str, Tensor] = {}

    # --- what a network sees ----------------------------------------------------------------

    @abstractmethod
    def stack_ranks(self) -> Tensor:
        """(R, P): the field `stack` of `States`."""

    @abstractmethod
    def buffer_ranks(self) -> Tensor:
        """(R, P): the field `buffer` of `States`."""

    def tree(self) -> tuple[Tensor, Tensor]:
        """(R, P) each: the fields `head` and `relation` of `States`. Raises `ValueError` where there is no tree."""
        raise ValueError(f"{self.table.system} builds no tree")

    def observe(self) -> States:
        """The configurations before the next action, with the fields in `needs`."""
        seen = dict(zip(RANKS, (self.stack_ranks, self.buffer_ranks), strict=True))
        values = {name: rank() for name, rank in seen.items() if name in self.needs}
        for name, there in zip(LEFT, RANKS, strict=True):
            if name in self.needs:
                last = self._last[there]
                values[name] = torch.where(last >= 0, self.steps - last, 0)
        if self.needs.intersection(TREE):
            values |= {name: value for name, value in zip(TREE, self.tree(), strict=True) if name in self.needs}
        values |= {name: torch.zeros_like(values[name]) for name in self.hidden if name in values}
        return States(self.legal_columns(), self.context(), **values)

    # --- legality ---------------------------------------------------------------------------

    @abstractmethod
    def legal_columns(self) -> Tensor:
        """(R, C) bool: which columns of the `ActionTable` are legal."""

    @abstractmethod
    def context(self) -> Tensor | None:
        """(R, K) what legality depends on besides the columns, see `DeviceTable.legality`; None where nothing."""

    @abstractmethod
    def is_final(self) -> Tensor:
        """(R,) bool."""

    @abstractmethod
    def closing(self) -> Tensor:
        """(R,) bool: the rows that are final, or that some legal action makes final."""

    def legal(self) -> Tensor:
        """(R, V) bool: which tokens are legal; `</s>` exactly where the state is final."""
        return self.legality() > 0

    def legality(self, tokens: Tensor | None = None) -> Tensor:
        """(R, V) float: `legal` as 1 and 0, or −1, see `DeviceTable.legality`; (R, U) for `tokens` (U,) that
        `legal_anywhere` gave."""
        return self.table.legality(self.legal_columns(), self.context(), tokens=tokens)

    def legal_anywhere(self) -> Tensor:
        """(U,) tokens: all that are legal in any row, and perhaps others."""
        return self.table.legal_anywhere(self.legal_columns(), self.context())

    # --- what search and training do to it --------------------------------------------------

    def advance(self, tokens: Tensor) -> None:
        """Every row takes the action of its token, (R,). An illegal token leaves its row as it is."""
        self.take(tokens)
        self.steps += 1
        self.follow()

    @abstractmethod
    def take(self, tokens: Tensor) -> None:
        """What `advance` does to the configurations."""

    def reorder(self, rows: Tensor, same_sentences: bool = False) -> None:
        """Row i becomes a copy of what was row `rows[i]`; rows may repeat, or be left out. same_sentences: row i is of
        the same sentence as before, for each i, so that less is copied."""
        for name in (*self.per_row, *(() if same_sentences else self.per_sentence)):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, value.index_select(0, rows))
        self._last = {name: last.index_select(0, rows) for name, last in self._last.items()}

    def follow(self) -> None:
        """Remembers which words are where; called in each configuration, the first one too."""
        for name, there, ranks in zip(LEFT, RANKS, (self.stack_ranks, self.buffer_ranks), strict=True):
            if name in self.needs:
                rank = ranks()
                before = self._last.get(there, torch.full_like(rank, -1))
                self._last[there] = torch.where(rank > 0, self.steps, before)


def unroll(machine: BatchedMachine, actions: Tensor) -> States:
    """The states (B, T, …) before each token of `actions` (B, T); the machine is left as before the last one."""
    steps = []
    for step in range(actions.size(1)):
        if step:
            machine.advance(actions[:, step - 1])
        steps.append(machine.observe())
    return States.of_steps(steps)
