"""The data by which the batched machine knows a system of dependency trees: one `Spec` for each system.

Words are named by their place before the action: S0 and S1 are the top of the stack and the word below it, B0 is the
front of the buffer. The arrays are tensors of the batched machine; nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

Bools = Any  # (R,) bool tensor: one value for each row of the batched machine
Counts = Any  # (R,) int64 tensor


class Column(IntEnum):
    """Legality is decided for these groups of tokens; all tokens of a column are legal or illegal
    together (but for labelled SHIFTs, of which only that of the word in front is, and for what a lexicon limits)."""

    NEVER = 0
    END = 1
    SHIFT = 2
    REDUCE = 3
    LEFT_ARC = 4
    LEFT_ARC_ROOT = 5
    RIGHT_ARC = 6
    SWAP = 7
    MERGE = 8
    PRED = 9
    COPY_LEMMA = 10
    VALUE = 11
    COPY_WORD = 12
    ENTITY = 13
    COPY_ENTITY = 14
    DEPENDENT = 15
    LA = 16
    RA = 17
    ROOT = 18
    CLOSE = 19
    LEFT_ARC_ANY = 20  # its relation is for the root and for other heads


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

    front_is_root: Bools
    some: Bools  # words on the stack
    two: Bools  # words on the stack, or more
    left: Bools  # words in the buffer
    top_is_root: Bools
    top_before_front: Bools  # in the sentence
    second_before_top: Bools
    may_swap: Bools


class Arcs(NamedTuple):
    """What the legal columns of arc-eager depend on besides: (R,) each."""

    front_is_last: Bools  # bool: the last word of the sentence is at the front of the buffer
    top_has_head: Bools  # bool
    headless: Counts  # how many words on the stack have no head


Columns = dict[Column, Bools]  # (R,) bool for each column that may be legal


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


SHIFT_EFFECT = Effect(stack_push=B0, buffer_pops=1)
