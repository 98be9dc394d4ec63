"""The rules of the systems that build dependency trees, for the batched machine: one `Spec` for each system.

Words are named by their position before the action: S0 and S1 are the top of the stack and the word below it, B0 is
the front of the buffer. `Bools` and `Counts` are tensors of the batched machine, but nothing here needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

Bools = Any  # (R,) bool tensor: one value for each row of the batched machine
Counts = Any  # (R,) int64 tensor


class ActionClass(IntEnum):
    """The classes of tokens that are legal or illegal together: the columns of `ActionTable`.

    There are two exceptions. Only the SHIFT of the front word is legal (`TransitionSystem.shift`), and a lexicon may
    forbid single tokens of a class.
    """

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
    LEFT_ARC_ANY = 20  # left arcs whose relation both the root and other heads may give


# LEFT-ARC has three classes, by the heads that may give the relation. This maps two of them to the third, LEFT_ARC.
KIND_OF_CLASS = {ActionClass.LEFT_ARC_ROOT: ActionClass.LEFT_ARC, ActionClass.LEFT_ARC_ANY: ActionClass.LEFT_ARC}

NONE, S0, S1, B0 = range(4)


class Effect(NamedTuple):
    """The arc and the moves of a class's tokens. A field that names a word holds S0, S1 or B0, or NONE for no word."""

    dependent: int = NONE
    head: int = NONE
    stack_pops: int = 0
    stack_push: int = NONE
    buffer_pops: int = 0
    swaps: int = 0
    buffer_pushes: tuple[int, int] = (NONE, NONE)  # the second word of the pair becomes the front


class Situation(NamedTuple):
    """The facts about each state that legality depends on: (R,) bool each."""

    front_is_root: Bools
    some: Bools  # the stack is not empty
    two: Bools  # the stack holds two words or more
    has_buffer: Bools  # the buffer is not empty
    top_is_root: Bools
    top_before_front: Bools  # the top comes before the front in the sentence
    second_before_top: Bools  # the second word comes before the top in the sentence
    may_swap: Bools  # the limit on SWAPs is not reached


class ArcFacts(NamedTuple):
    """The further facts that the legality rules of arc-eager depend on: (R,) each."""

    front_is_last: Bools  # bool: the last word of the sentence is at the front of the buffer
    top_has_head: Bools  # bool
    headless: Counts  # how many words on the stack have no head


ActionClasses = dict[ActionClass, Bools]  # (R,) bool for each class that may be legal


@dataclass(frozen=True)
class Spec:
    """The rules of a system that builds dependency trees.

    effects: class → the effect of its tokens
    legal: function from a `Situation` to the legal classes; with `reads_arcs` it also takes the `ArcFacts`
    closes_on_stack: True where the derivation ends with an arc between S1 and the root at S0, False where it ends with
        an arc between S0 and the root at B0
    reads_arcs: True where legality depends on the arcs built so far
    """

    effects: Mapping[ActionClass, Effect]
    legal: Callable[..., ActionClasses]
    closes_on_stack: bool
    reads_arcs: bool = False


SHIFT_EFFECT = Effect(stack_push=B0, buffer_pops=1)
