"""Specs of transition systems as tensors: tables of effects and of legal columns."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.transitions import TREE_SYSTEMS
from transition_parser.transitions.spec import B0, S0, S1, ActionClass, ActionClasses, Effect, Situation, Spec


def spec_of(system: str) -> Spec:
    """Return the spec of a system of dependency trees. Raises `InputError` for a name not in `TREE_SYSTEMS`."""
    if system not in TREE_SYSTEMS:
        raise InputError(
            f"the batched machine does not know the transition system {system!r}, only {', '.join(TREE_SYSTEMS)}"
        )
    return TREE_SYSTEMS[system].spec


def stack_columns(columns: ActionClasses) -> Tensor:
    """Return the legal columns, (R, C) bool. LEFT_ARC_ANY is added; classes that `columns` lacks are illegal."""
    never = torch.zeros_like(columns[ActionClass.END])
    either = {ActionClass.LEFT_ARC_ANY: columns[ActionClass.LEFT_ARC] | columns[ActionClass.LEFT_ARC_ROOT]}
    columns = columns | either
    return torch.stack([columns.get(column, never) for column in ActionClass], 1)


@lru_cache(maxsize=32)
def effects_table(system: str, device: torch.device) -> Tensor:
    """Return the effect of each column, (C, 8) int64: the fields of `Effect` in order, for `machine_kernels.c` too."""
    known = dict(spec_of(system).effects)
    known[ActionClass.LEFT_ARC_ANY] = known[ActionClass.LEFT_ARC]
    effects = [known.get(column, Effect()) for column in ActionClass]
    return torch.tensor([[*effect[:-1], *effect.buffer_pushes] for effect in effects], device=device)


@lru_cache(maxsize=32)
def columns_of_situations(system: str, device: torch.device) -> Tensor:
    """Return the legal columns of each situation, (256, C) bool. Bit i of its number is field i of `Situation`."""
    bits = torch.arange(len(Situation._fields), device=device)
    situations = (torch.arange(2 ** len(bits), device=device)[:, None] >> bits) & 1
    return stack_columns(spec_of(system).legal(Situation(*situations.bool().unbind(1))))


@lru_cache(maxsize=32)
def attached_in_situations(system: str) -> Tensor:
    """Return the words that some legal arc would attach in each situation, (256,) int64, as bits.

    Bit 1 stands for S0, bit 2 for S1 and bit 3 for B0. `TreeSystem.may_attach` returns the same words.
    """
    device = torch.device("cpu")
    legal, dependents = columns_of_situations(system, device), effects_table(system, device)[:, 0]
    bits = [(legal[:, dependents == word].any(1).long() << word) for word in (S0, S1, B0)]
    return bits[0] | bits[1] | bits[2]
