"""The state machine of a whole batch as tensors: every hypothesis takes its step at once.

Shapes: R rows (hypotheses), P positions (the words of the longest sentence and the root), V action
tokens, C columns of `ActionTable`. The root of a sentence of n words is position n.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.kernels import machine_kernels
from transition_parser.states.amr_machine import AmrMachine
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.table import SHIFT_ID, Column
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.system import NO_HEAD

_PER_SENTENCE = ("root", "features")  # alike in all rows of a sentence
_PER_ROW = ("stack", "depth", "buffer", "left", "heads", "relations", "swaps_left")
_READ = ("_top", "_second", "_front", "_columns")  # from the others
_TAKEN = (  # in C's order
    *("root", "stack", "depth", "buffer", "left", "heads", "relations", "swaps_left"),
    *("_top", "_second", "_front"),
)


class _Effect(NamedTuple):
    """What the tokens of a column do. Words are named by where they are before the action:
    S0 and S1 the top of the stack and the word below it, B0 the front of the buffer."""

    dependent: int = 0
    head: int = 0
    stack_pops: int = 0
    stack_push: int = 0
    buffer_pops: int = 0
    swaps: int = 0
    buffer_pushes: tuple[int, int] = (0, 0)  # the second one becomes the front


_NONE, _S0, _S1, _B0 = range(4)

_SHIFT = _Effect(stack_push=_B0, buffer_pops=1)
_HYBRID = {
    Column.SHIFT: _SHIFT,
    Column.LEFT_ARC: _Effect(_S0, _B0, stack_pops=1),
    Column.LEFT_ARC_ROOT: _Effect(_S0, _B0, stack_pops=1),
    Column.RIGHT_ARC: _Effect(_S0, _S1, stack_pops=1),
    Column.SWAP: _Effect(stack_pops=1, buffer_pops=1, swaps=1, buffer_pushes=(_S0, _B0)),
}
_STANDARD = {
    Column.SHIFT: _SHIFT,
    Column.LEFT_ARC: _Effect(_S1, _S0, stack_pops=2, stack_push=_S0),
    Column.LEFT_ARC_ROOT: _Effect(_S1, _S0, stack_pops=2, stack_push=_S0),
    Column.RIGHT_ARC: _Effect(_S0, _S1, stack_pops=1),
    Column.SWAP: _Effect(stack_pops=2, stack_push=_S0, swaps=1, buffer_pushes=(_NONE, _S1)),
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


@lru_cache(maxsize=32)
def _effects(system: str, device: torch.device) -> Tensor:
    """(C, 8): the effect of each column, the fields in their order."""
    effects = [_EFFECTS[system].get(column, _Effect()) for column in Column]
    return torch.tensor([[*effect[:-1], *effect.buffer_pushes] for effect in effects], device=device)


class _Situation(NamedTuple):
    """What the legal columns of a state depend on (of arc-eager, they depend on the arcs, too): (R,) bool each."""

    front_is_root: Tensor
    some: Tensor  # words on the stack
    two: Tensor  # words on the stack, or more
    left: Tensor  # words in the buffer
    top_is_root: Tensor
    top_before_front: Tensor  # in the sentence
    second_before_top: Tensor
    may_swap: Tensor


def _hybrid_columns(s: _Situation) -> dict[Column, Tensor]:
    words = ~s.front_is_root
    return {
        Column.END: s.front_is_root & ~s.some,
        Column.SHIFT: words,
        Column.LEFT_ARC: s.some & words,
        Column.LEFT_ARC_ROOT: s.front_is_root & s.some & ~s.two,
        Column.RIGHT_ARC: s.two,
        Column.SWAP: s.some & words & s.top_before_front & s.may_swap,
    }


def _standard_columns(s: _Situation) -> dict[Column, Tensor]:
    rooted = s.some & s.top_is_root
    arc = s.two & ~rooted
    return {
        Column.END: rooted & ~s.two,
        Column.SHIFT: s.left & (~s.front_is_root | (s.some & ~s.two)),
        Column.LEFT_ARC: arc,
        Column.LEFT_ARC_ROOT: s.two & rooted,
        Column.RIGHT_ARC: arc,
        Column.SWAP: arc & s.second_before_top & s.may_swap,
    }


def _stack_columns(columns: dict[Column, Tensor]) -> Tensor:
    """(R, C) bool from some columns, (R,) each; the others are not legal."""
    never = torch.zeros_like(columns[Column.END])
    return torch.stack([columns.get(column, never) for column in Column], 1)


@lru_cache(maxsize=32)
def _columns_of_situations(system: str, device: torch.device) -> Tensor:
    """(256, C) bool: the legal columns of each situation, whose fields are the bits of its number."""
    bits = torch.arange(len(_Situation._fields), device=device)
    situations = (torch.arange(2 ** len(bits), device=device)[:, None] >> bits) & 1
    rules = _standard_columns if system.startswith("arc-standard") else _hybrid_columns
    columns = rules(_Situation(*situations.bool().unbind(1)))
    if not system.endswith("swap"):
        del columns[Column.SWAP]
    return _stack_columns(columns)


class DependencyMachine:
    """The batched twin of the pure-Python dependency systems.

    lengths: words of each row's sentence, (R,). features: (R, P, F), see `ActionTable.features`, needed
    where SHIFT is labelled. An illegal token leaves its row as it is (in beam search such a row
    has the score −inf, and whatever it does is thrown away).

    swaps_per_word: where given, a row may swap so many times its words at the most, so that search
    ends after linearly many steps; SWAP is never the only legal action.

    keep_arcs: False leaves out `heads` and `relations` (None then) where legality does not ask for them: search
    rebuilds the tree from the actions.
    """

    def __init__(
        self,
        table: DeviceTable,
        lengths: Tensor,
        features: Tensor | None = None,
        swaps_per_word: int | None = None,
        keep_arcs: bool = True,
    ) -> None:
        if table.labelled_shift and features is None:
            raise ValueError("SHIFT is labelled: the machine needs the features of the words")
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
        keep_arcs = keep_arcs or table.system == "arc-eager"
        self.heads = torch.full_like(self.stack, NO_HEAD) if keep_arcs else None
        self.relations = torch.zeros_like(self.stack) if keep_arcs else None
        self.features = features if table.labelled_shift else None
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

    def context(self) -> Tensor | None:
        """(R, 1): the shift id of the word at the front of the buffer; None if SHIFT has no labels."""
        if self.features is None:
            return None
        shift_ids = self.features[:, :, SHIFT_ID]
        return shift_ids.gather(1, self._front.clamp_max(shift_ids.size(1) - 1)[:, None])

    def legal(self) -> Tensor:
        """(R, V) bool: which tokens are legal; `</s>` exactly where the state is final."""
        return self.legality() > 0

    def legality(self, tokens: Tensor | None = None) -> Tensor:
        """(R, V) float: `legal` as 1 and 0; (R, U) for `tokens` (U,) that `legal_anywhere` gave."""
        return self.table.legality(self._columns, self.context(), tokens=tokens)

    def legal_anywhere(self) -> Tensor:
        """(U,) tokens: all that are legal in any row, and perhaps others."""
        return self.table.legal_anywhere(self._columns, self.context())

    def is_final(self) -> Tensor:
        """(R,) bool."""
        return self._columns[:, Column.END].clone()

    def closing(self) -> Tensor:
        """(R,) bool: the rows that are final, or that any legal action makes final."""
        if self.table.system.startswith("arc-standard"):
            last = (self._top == self.root) & (self.depth == 2)
        else:
            last = (self._front == self.root) & (self.depth == 1)
        return self._columns[:, Column.END] | last

    # --- what search does to it -------------------------------------------------------------

    def advance(self, tokens: Tensor) -> None:
        """Every row takes the action of its token, (R,)."""
        legal = self.table.token_legal(tokens, self._columns, self.context())
        column = torch.where(legal, self.table.column[tokens], Column.NEVER)
        effects = _effects(self.table.system, tokens.device)
        relation = None if self.relations is None else self.table.relation[tokens]
        if machine_kernels.supports(column):
            state = (getattr(self, name) for name in _TAKEN)
            self._read_columns(machine_kernels.take_actions(column, relation, effects, *state))
        else:
            words = torch.stack([self.root, self._top, self._second, self._front], 1)
            effect = effects[column]
            self._attach(words, effect, relation)
            self._move(words, effect)
            self._look()

    def reorder(self, rows: Tensor, same_sentences: bool = False) -> None:
        """Row i becomes a copy of what was row `rows[i]`; rows may repeat, or be left out. same_sentences: row i is of
        the same sentence as before, for each i, so that less is copied."""
        for name in (*_PER_ROW, *_READ, *(() if same_sentences else _PER_SENTENCE)):
            value = getattr(self, name)
            if value is not None:
                setattr(self, name, value.index_select(0, rows))

    def _attach(self, words: Tensor, effect: Tensor, relation: Tensor | None) -> None:
        if relation is None:
            return
        arc = effect[:, :1] > 0
        place = torch.where(arc, words.gather(1, effect[:, :1]), self.width)
        self.heads.scatter_(1, place, words.gather(1, effect[:, 1:2]))
        self.relations.scatter_(1, place, relation[:, None])

    def _move(self, words: Tensor, effect: Tensor) -> None:
        _, _, stack_pops, stack_push, buffer_pops, swaps, *buffer_pushes = effect.unbind(1)
        self.depth = self._push(self.stack, self.depth - stack_pops, words, stack_push)
        self.left = self.left - buffer_pops
        for source in buffer_pushes:
            self.left = self._push(self.buffer, self.left, words, source)
        if self.swaps_left is not None:
            self.swaps_left = self.swaps_left - swaps

    def _push(self, array: Tensor, size: Tensor, words: Tensor, source: Tensor) -> Tensor:
        pushed = source > 0
        place = torch.where(pushed, size, self.width)
        array.scatter_(1, place[:, None], words.gather(1, source[:, None]))
        return size + pushed

    # --- reading the state ------------------------------------------------------------------

    def _look(self) -> None:
        """Reads the words that effects name, and the legal columns."""
        self._top = self._word(self.stack, self.depth - 1)
        self._second = self._word(self.stack, self.depth - 2)
        self._front = self._word(self.buffer, self.left - 1)
        self._read_columns(self._situation())

    def _read_columns(self, situation: Tensor) -> None:
        """situation: (R,), its number."""
        if self.table.system == "arc-eager":
            self._columns = self._legal_eager()
        else:
            self._columns = _columns_of_situations(self.table.system, situation.device).index_select(0, situation)

    def _situation(self) -> Tensor:
        """(R,): the number of each row's `_Situation`."""
        situation = _Situation(
            self._front == self.root,
            self.depth > 0,
            self.depth > 1,
            self.left > 0,
            self._top == self.root,
            self._top < self._front,
            self._second < self._top,
            torch.ones_like(self.depth, dtype=torch.bool) if self.swaps_left is None else self.swaps_left > 0,
        )
        return sum(field.long() << bit for bit, field in enumerate(situation))

    def _word(self, array: Tensor, place: Tensor) -> Tensor:
        return array.gather(1, place.clamp_min(0)[:, None]).flatten()

    def _places_in(self, array: Tensor, size: Tensor) -> Tensor:
        if machine_kernels.supports(array):
            return machine_kernels.ranks_from_end(array, size)
        inside = self.places < size[:, None]
        target = torch.where(inside, array[:, : self.width], self.width)
        return torch.zeros_like(array).scatter_(1, target, size[:, None] - self.places)[:, : self.width]

    def _legal_eager(self) -> Tensor:
        at_root, last = self._front == self.root, self._front == self.root - 1
        some = self.depth > 0
        headed = self.heads.gather(1, self._top[:, None])[:, 0] != NO_HEAD
        on_stack = self.places < self.depth[:, None]
        stack_heads = self.heads.gather(1, self.stack[:, : self.width])
        headless = (on_stack & (stack_heads == NO_HEAD)).sum(1)
        return _stack_columns(
            {
                Column.END: at_root & ~some,
                Column.SHIFT: ~at_root & (~last | (headless == 0)),
                Column.REDUCE: some & headed,
                Column.LEFT_ARC: some & ~headed & ~at_root,
                Column.LEFT_ARC_ROOT: some & ~headed & at_root,
                Column.RIGHT_ARC: some & ~at_root & (~last | (headless == 1)),
            }
        )


Machine = DependencyMachine | AmrMachine


def make_machine(
    table: DeviceTable,
    lengths: Tensor,
    features: Tensor | None = None,
    swaps_per_word: int | None = None,
    keep_arcs: bool = True,
) -> Machine:
    """The batched machine of the table's system before the first action. swaps_per_word, keep_arcs: see
    `DependencyMachine`; the AMR machine has limits of its own, and needs its arcs."""
    if table.system == AmrSystem.name:
        return AmrMachine(table, lengths, features)
    return DependencyMachine(table, lengths, features, swaps_per_word, keep_arcs)


class Unrolled(NamedTuple):
    """The states before each of T actions: places (B, T, P), columns (B, T, C), contexts (B, T, K) or None."""

    stack: Tensor
    buffer: Tensor
    columns: Tensor
    context: Tensor | None


def unroll(machine: Machine, actions: Tensor) -> Unrolled:
    """The states before each token of `actions` (B, T), and the machine left after the one before the last."""
    stack, buffer, columns, context = [], [], [], []
    for step in range(actions.size(1)):
        if step:
            machine.advance(actions[:, step - 1])
        stack.append(machine.stack_places().short())
        buffer.append(machine.buffer_places().short())
        columns.append(machine.legal_columns())
        context.append(machine.context())
    return Unrolled(
        torch.stack(stack, 1),
        torch.stack(buffer, 1),
        torch.stack(columns, 1),
        None if context[0] is None else torch.stack([c for c in context if c is not None], 1),
    )
