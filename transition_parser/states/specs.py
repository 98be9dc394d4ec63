"""What the batched machine knows of each transition system: one `Spec` a system.

Words are named by where they are before the action: S0 and S1 the top of the stack and the word below it, B0 the front
of the buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.errors import InputError
from transition_parser.states.table import Column

NONE, S0, S1, B0 = range(4)


class Effect(NamedTuple):
    """What the tokens of a column do, in words named as above; `NONE` for nothing."""

    dependent: int = NONE
    head: int = NONE
    stack_pops: int = 0
    stack_push: int = NONE
    buffer_pops: int = 0
    swaps: int = 0
    buffer_pushes: tuple[int, int] = (NONE, NONE)  # the second one becomes the front


class Situation(NamedTuple):
    """What the legal columns of a state depend on: (R,) bool each."""

    front_is_root: Tensor
    some: Tensor  # words on the stack
    two: Tensor  # words on the stack, or more
    left: Tensor  # words in the buffer
    top_is_root: Tensor
    top_before_front: Tensor  # in the sentence
    second_before_top: Tensor
    may_swap: Tensor


class Arcs(NamedTuple):
    """What the legal columns of arc-eager depend on besides: (R,) each."""

    front_is_last: Tensor  # bool: the last word of the sentence is at the front of the buffer
    top_has_head: Tensor  # bool
    headless: Tensor  # how many words on the stack have no head


Columns = dict[Column, Tensor]  # (R,) bool for each column that may be legal


@dataclass(frozen=True)
class Spec:
    """A system that builds dependency trees.

    effects: what the tokens of each column do. legal: which columns are legal in a `Situation`; where `reads_arcs`, it
    is given the `Arcs` too. closes_on_stack: True where the derivation ends with an arc between S1 and the root at S0,
    False where between S0 and the root at B0.
    """

    effects: Mapping[Column, Effect]
    legal: Callable[..., Columns]
    closes_on_stack: bool
    reads_arcs: bool = False


def _hybrid(s: Situation) -> Columns:
    words = ~s.front_is_root
    return {
        Column.END: s.front_is_root & ~s.some,
        Column.SHIFT: words,
        Column.LEFT_ARC: s.some & words,
        Column.LEFT_ARC_ROOT: s.front_is_root & s.some & ~s.two,
        Column.RIGHT_ARC: s.two,
    }


def _hybrid_swap(s: Situation) -> Columns:
    return _hybrid(s) | {Column.SWAP: s.some & ~s.front_is_root & s.top_before_front & s.may_swap}


def _standard(s: Situation) -> Columns:
    rooted = s.some & s.top_is_root
    arc = s.two & ~rooted
    return {
        Column.END: rooted & ~s.two,
        Column.SHIFT: s.left & (~s.front_is_root | (s.some & ~s.two)),
        Column.LEFT_ARC: arc,
        Column.LEFT_ARC_ROOT: s.two & rooted,
        Column.RIGHT_ARC: arc,
    }


def _standard_swap(s: Situation) -> Columns:
    arc = s.two & ~(s.some & s.top_is_root)
    return _standard(s) | {Column.SWAP: arc & s.second_before_top & s.may_swap}


def _eager(s: Situation, arcs: Arcs) -> Columns:
    at_root = s.front_is_root
    return {
        Column.END: at_root & ~s.some,
        Column.SHIFT: ~at_root & (~arcs.front_is_last | (arcs.headless == 0)),
        Column.REDUCE: s.some & arcs.top_has_head,
        Column.LEFT_ARC: s.some & ~arcs.top_has_head & ~at_root,
        Column.LEFT_ARC_ROOT: s.some & ~arcs.top_has_head & at_root,
        Column.RIGHT_ARC: s.some & ~at_root & (~arcs.front_is_last | (arcs.headless == 1)),
    }


_SHIFT = Effect(stack_push=B0, buffer_pops=1)
_HYBRID_EFFECTS = {
    Column.SHIFT: _SHIFT,
    Column.LEFT_ARC: Effect(S0, B0, stack_pops=1),
    Column.LEFT_ARC_ROOT: Effect(S0, B0, stack_pops=1),
    Column.RIGHT_ARC: Effect(S0, S1, stack_pops=1),
    Column.SWAP: Effect(stack_pops=1, buffer_pops=1, swaps=1, buffer_pushes=(S0, B0)),
}
_STANDARD_EFFECTS = {
    Column.SHIFT: _SHIFT,
    Column.LEFT_ARC: Effect(S1, S0, stack_pops=2, stack_push=S0),
    Column.LEFT_ARC_ROOT: Effect(S1, S0, stack_pops=2, stack_push=S0),
    Column.RIGHT_ARC: Effect(S0, S1, stack_pops=1),
    Column.SWAP: Effect(stack_pops=2, stack_push=S0, swaps=1, buffer_pushes=(NONE, S1)),
}
_EAGER_EFFECTS = {
    Column.SHIFT: _SHIFT,
    Column.REDUCE: Effect(stack_pops=1),
    Column.LEFT_ARC: Effect(S0, B0, stack_pops=1),
    Column.LEFT_ARC_ROOT: Effect(S0, B0, stack_pops=1),
    Column.RIGHT_ARC: Effect(B0, S0, stack_push=B0, buffer_pops=1),
}

SPECS: dict[str, Spec] = {
    "arc-standard": Spec(_STANDARD_EFFECTS, _standard, closes_on_stack=True),
    "arc-standard-swap": Spec(_STANDARD_EFFECTS, _standard_swap, closes_on_stack=True),
    "arc-hybrid": Spec(_HYBRID_EFFECTS, _hybrid, closes_on_stack=False),
    "arc-hybrid-swap": Spec(_HYBRID_EFFECTS, _hybrid_swap, closes_on_stack=False),
    "arc-eager": Spec(_EAGER_EFFECTS, _eager, closes_on_stack=False, reads_arcs=True),
}


def spec_of(system: str) -> Spec:
    """The spec of a system of dependency trees. Raises `InputError` for a name that has none."""
    if system not in SPECS:
        raise InputError(f"the batched machine does not know the transition system {system!r}: {', '.join(SPECS)}")
    return SPECS[system]


def stack_columns(columns: Columns) -> Tensor:
    """(R, C) bool from some columns, (R,) each; the others are not legal."""
    never = torch.zeros_like(columns[Column.END])
    either = {Column.LEFT_ARC_ANY: columns[Column.LEFT_ARC] | columns[Column.LEFT_ARC_ROOT]}
    columns = columns | either
    return torch.stack([columns.get(column, never) for column in Column], 1)


@lru_cache(maxsize=32)
def effects_table(system: str, device: torch.device) -> Tensor:
    """(C, 8): the effect of each column, the fields in their order, as `machine_kernels.c` reads them."""
    known = dict(spec_of(system).effects)
    known[Column.LEFT_ARC_ANY] = known[Column.LEFT_ARC]
    effects = [known.get(column, Effect()) for column in Column]
    return torch.tensor([[*effect[:-1], *effect.buffer_pushes] for effect in effects], device=device)


@lru_cache(maxsize=32)
def columns_of_situations(system: str, device: torch.device) -> Tensor:
    """(256, C) bool: the legal columns of each situation, whose fields are the bits of its number."""
    bits = torch.arange(len(Situation._fields), device=device)
    situations = (torch.arange(2 ** len(bits), device=device)[:, None] >> bits) & 1
    return stack_columns(spec_of(system).legal(Situation(*situations.bool().unbind(1))))
