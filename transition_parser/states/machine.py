"""The state machine of a whole batch as tensors: every hypothesis takes its step at once.

Shapes: R rows (hypotheses), P positions (the words of the longest sentence and the root), V action
tokens, C columns of `ActionTable`. The root of a sentence of n words is position n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.states.table import ActionTable, Column
from transition_parser.transitions.system import NO_HEAD

_PER_ROW = ("root", "stack", "depth", "buffer", "left", "heads", "relations", "shift_ids", "swaps_left")


class _Effect(NamedTuple):
    """What the tokens of a column do. Words are named by where they are before the action:
    S0 and S1 the top of the stack and the word below it, B0 the front of the buffer."""

    dependent: int = 0
    head: int = 0
    stack_pops: int = 0
    stack_push: int = 0
    buffer_pops: int = 0
    buffer_pushes: tuple[int, int] = (0, 0)  # the second one becomes the front


_NONE, _S0, _S1, _B0 = range(4)

_SHIFT = _Effect(stack_push=_B0, buffer_pops=1)
_HYBRID = {
    Column.SHIFT: _SHIFT,
    Column.LEFT_ARC: _Effect(_S0, _B0, stack_pops=1),
    Column.LEFT_ARC_ROOT: _Effect(_S0, _B0, stack_pops=1),
    Column.RIGHT_ARC: _Effect(_S0, _S1, stack_pops=1),
    Column.SWAP: _Effect(stack_pops=1, buffer_pops=1, buffer_pushes=(_S0, _B0)),
}
_STANDARD = {
    Column.SHIFT: _SHIFT,
    Column.LEFT_ARC: _Effect(_S1, _S0, stack_pops=2, stack_push=_S0),
    Column.LEFT_ARC_ROOT: _Effect(_S1, _S0, stack_pops=2, stack_push=_S0),
    Column.RIGHT_ARC: _Effect(_S0, _S1, stack_pops=1),
    Column.SWAP: _Effect(stack_pops=2, stack_push=_S0, buffer_pushes=(_NONE, _S1)),
}
_EAGER = {
    Column.SHIFT: _SHIFT,
    Column.REDUCE: _Effect(stack_pops=1),
    Column.LEFT_ARC: _Effect(_S0, _B0, stack_pops=1),
    Column.LEFT_ARC_ROOT: _Effect(_S0, _B0, stack_pops=1),
    Column.RIGHT_ARC: _Effect(_B0, _S0, stack_push=_B0, buffer_pops=1),
}
_EFFECTS = {
    "arc-hybrid": _HYBRID,
    "arc-hybrid-swap": _HYBRID,
    "arc-standard": _STANDARD,
    "arc-standard-swap": _STANDARD,
    "arc-eager": _EAGER,
}


@dataclass
class DeviceTable:
    """The arrays of an `ActionTable` as tensors on one device."""

    system: str
    end: int
    column: Tensor  # (V,)
    shift_word: Tensor  # (V,)
    relation: Tensor  # (V,)
    effects: dict[str, Tensor]  # each (C,) or (C, 2)
    labelled_shift: bool

    @classmethod
    def of(cls, table: ActionTable, device: torch.device | str = "cpu") -> DeviceTable:
        effects = [_EFFECTS[table.system.name].get(c, _Effect()) for c in Column]
        fields = {name: torch.tensor([getattr(e, name) for e in effects], device=device) for name in _Effect._fields}
        return cls(
            table.system.name,
            table.end,
            *(torch.from_numpy(a).to(device) for a in (table.column, table.shift_word, table.relation)),
            fields,
            table.labelled_shift,
        )

    def legal_tokens(self, columns: Tensor, front_shift: Tensor | None) -> Tensor:
        """(..., V) bool from the legal columns (..., C) and the shift id of the front word (...)."""
        legal = columns[..., self.column]
        if front_shift is None:
            return legal
        other = (self.shift_word >= 0) & (self.shift_word != front_shift.unsqueeze(-1))
        return legal & ~other


class DependencyMachine:
    """The batched twin of the pure-Python dependency systems.

    lengths: words of each row's sentence, (R,). shift_ids: the shift id of each word, (R, P), needed
    where SHIFT is labelled. An illegal token leaves its row as it is (in beam search such a row
    has the score −inf, and whatever it does is thrown away).

    swaps_per_word: where given, a row may swap so many times its words at the most, so that search
    ends after linearly many steps; SWAP is never the only legal action.
    """

    def __init__(
        self,
        table: DeviceTable,
        lengths: Tensor,
        shift_ids: Tensor | None = None,
        swaps_per_word: int | None = None,
    ) -> None:
        if table.labelled_shift and shift_ids is None:
            raise ValueError("SHIFT is labelled: the machine needs the shift ids of the words")
        self.table = table
        self.root = lengths
        device, rows = lengths.device, len(lengths)
        self.width = int(lengths.max()) + 1
        # One column more than there are positions: writes that do not count go there.
        places = torch.arange(self.width + 1, device=device)
        self.places = places[: self.width]
        self.stack = torch.zeros(rows, self.width + 1, dtype=torch.long, device=device)
        self.depth = torch.zeros(rows, dtype=torch.long, device=device)
        self.buffer = (lengths[:, None] - places).clamp_min(0)  # the front is the last one
        self.left = lengths + 1  # words left in the buffer
        self.heads = torch.full_like(self.stack, NO_HEAD)
        self.relations = torch.zeros_like(self.stack)
        self.shift_ids = shift_ids if table.labelled_shift else None
        self.swaps_left = None if swaps_per_word is None else swaps_per_word * lengths
        self._look()

    # --- what a network sees ----------------------------------------------------------------

    def stack_places(self) -> Tensor:
        """(R, P): k for the k-th word from the top of the stack, 0 for words that are not on it."""
        return self._places_in(self.stack, self.depth)

    def buffer_places(self) -> Tensor:
        """(R, P): k for the k-th word from the front of the buffer, 0 for words not in it."""
        return self._places_in(self.buffer, self.left)

    def legal_columns(self) -> Tensor:
        """(R, C) bool: which columns of the `ActionTable` are legal."""
        return self._columns

    def front_shift(self) -> Tensor | None:
        """(R,): the shift id of the word at the front of the buffer; None if SHIFT has no labels."""
        if self.shift_ids is None:
            return None
        front = self._front.clamp_max(self.shift_ids.size(1) - 1)
        return self.shift_ids.gather(1, front[:, None])[:, 0]

    def legal(self) -> Tensor:
        """(R, V) bool: which tokens are legal; `</s>` exactly where the state is final."""
        return self.table.legal_tokens(self._columns, self.front_shift())

    def is_final(self) -> Tensor:
        """(R,) bool."""
        return self._columns[:, Column.END].clone()

    # --- what search does to it -------------------------------------------------------------

    def advance(self, tokens: Tensor) -> None:
        """Every row takes the action of its token, (R,)."""
        column = self.table.column[tokens]
        legal = self._columns.gather(1, column[:, None])[:, 0]
        shift = self.front_shift()
        if shift is not None:
            wanted = self.table.shift_word[tokens]
            legal = legal & ((wanted < 0) | (wanted == shift))
        column = torch.where(legal, column, Column.NEVER)
        effect = {name: values[column] for name, values in self.table.effects.items()}
        if self.swaps_left is not None:
            self.swaps_left = self.swaps_left - (column == Column.SWAP).long()
        words = torch.stack([self.root, self._top, self._second, self._front], 1)
        self._attach(words, effect, self.table.relation[tokens])
        self._move(words, effect)
        self._look()

    def reorder(self, rows: Tensor) -> None:
        """Row i becomes a copy of what was row `rows[i]`; rows may repeat, or be left out."""
        for name in _PER_ROW:
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, value.index_select(0, rows))
        self._look()

    def _attach(self, words: Tensor, effect: dict[str, Tensor], relation: Tensor) -> None:
        arc = effect["dependent"] > 0
        dependent = words.gather(1, effect["dependent"][:, None])
        head = words.gather(1, effect["head"][:, None])
        place = torch.where(arc[:, None], dependent, self.width)
        self.heads.scatter_(1, place, head)
        self.relations.scatter_(1, place, relation[:, None])

    def _move(self, words: Tensor, effect: dict[str, Tensor]) -> None:
        self.depth = self.depth - effect["stack_pops"]
        self.left = self.left - effect["buffer_pops"]
        self.depth = self._push(self.stack, self.depth, words, effect["stack_push"])
        for source in effect["buffer_pushes"].unbind(1):
            self.left = self._push(self.buffer, self.left, words, source)

    def _push(self, array: Tensor, size: Tensor, words: Tensor, source: Tensor) -> Tensor:
        pushed = source > 0
        place = torch.where(pushed, size, self.width)
        array.scatter_(1, place[:, None], words.gather(1, source[:, None]))
        return size + pushed

    # --- reading the state ------------------------------------------------------------------

    def _look(self) -> None:
        """Reads the words that legality asks for, and the legal columns."""
        self._top = self._word(self.stack, self.depth - 1)
        self._second = self._word(self.stack, self.depth - 2)
        self._front = self._word(self.buffer, self.left - 1)
        self._columns = _LEGAL[self.table.system](self)
        if self.swaps_left is not None:
            self._columns[:, Column.SWAP] &= self.swaps_left > 0

    def _word(self, array: Tensor, place: Tensor) -> Tensor:
        return array.gather(1, place.clamp_min(0)[:, None])[:, 0]

    def _places_in(self, array: Tensor, size: Tensor) -> Tensor:
        inside = self.places < size[:, None]
        target = torch.where(inside, array[:, : self.width], self.width)
        place = torch.where(inside, size[:, None] - self.places, 0)
        return torch.zeros_like(array).scatter_(1, target, place)[:, : self.width]

    def _stack_columns(self, columns: dict[Column, Tensor]) -> Tensor:
        never = torch.zeros_like(self.depth, dtype=torch.bool)
        return torch.stack([columns.get(column, never) for column in Column], 1)

    def _legal_hybrid(self) -> Tensor:
        at_root = self._front == self.root
        some = self.depth > 0
        columns = {
            Column.END: at_root & ~some,
            Column.SHIFT: ~at_root,
            Column.LEFT_ARC: some & ~at_root,
            Column.LEFT_ARC_ROOT: at_root & (self.depth == 1),
            Column.RIGHT_ARC: self.depth > 1,
        }
        if self.table.system.endswith("swap"):
            columns[Column.SWAP] = some & ~at_root & (self._top < self._front)
        return self._stack_columns(columns)

    def _legal_standard(self) -> Tensor:
        rooted = (self.depth > 0) & (self._top == self.root)
        two = self.depth > 1
        shift_root = self._front == self.root
        columns = {
            Column.END: rooted & ~two,
            Column.SHIFT: (self.left > 0) & (~shift_root | (self.depth == 1)),
            Column.LEFT_ARC: two & ~rooted,
            Column.LEFT_ARC_ROOT: two & rooted,
            Column.RIGHT_ARC: two & ~rooted,
        }
        if self.table.system.endswith("swap"):
            columns[Column.SWAP] = two & ~rooted & (self._second < self._top)
        return self._stack_columns(columns)

    def _legal_eager(self) -> Tensor:
        at_root, last = self._front == self.root, self._front == self.root - 1
        some = self.depth > 0
        headed = self.heads.gather(1, self._top[:, None])[:, 0] != NO_HEAD
        on_stack = self.places < self.depth[:, None]
        stack_heads = self.heads.gather(1, self.stack[:, : self.width])
        headless = (on_stack & (stack_heads == NO_HEAD)).sum(1)
        return self._stack_columns(
            {
                Column.END: at_root & ~some,
                Column.SHIFT: ~at_root & (~last | (headless == 0)),
                Column.REDUCE: some & headed,
                Column.LEFT_ARC: some & ~headed & ~at_root,
                Column.LEFT_ARC_ROOT: some & ~headed & at_root,
                Column.RIGHT_ARC: some & ~at_root & (~last | (headless == 1)),
            }
        )


_LEGAL = {
    "arc-hybrid": DependencyMachine._legal_hybrid,
    "arc-hybrid-swap": DependencyMachine._legal_hybrid,
    "arc-standard": DependencyMachine._legal_standard,
    "arc-standard-swap": DependencyMachine._legal_standard,
    "arc-eager": DependencyMachine._legal_eager,
}


class Unrolled(NamedTuple):
    """The states before each of T actions: places (B, T, P), columns (B, T, C), front shift ids (B, T)."""

    stack: Tensor
    buffer: Tensor
    columns: Tensor
    front_shift: Tensor | None


def unroll(machine: DependencyMachine, actions: Tensor) -> Unrolled:
    """The states before each token of `actions` (B, T), and the machine left after the one before the last."""
    stack, buffer, columns, shift = [], [], [], []
    for step in range(actions.size(1)):
        if step:
            machine.advance(actions[:, step - 1])
        stack.append(machine.stack_places().short())
        buffer.append(machine.buffer_places().short())
        columns.append(machine.legal_columns())
        shift.append(machine.front_shift())
    return Unrolled(
        torch.stack(stack, 1),
        torch.stack(buffer, 1),
        torch.stack(columns, 1),
        None if shift[0] is None else torch.stack([s for s in shift if s is not None], 1),
    )
