"""Specs of transition systems as tensors: tables of effects and of legal columns."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.states.table import KIND_OF_CLASS, ActionClass
from transition_parser.transitions import TREE_SYSTEMS
from transition_parser.transitions.tree_system import B0, FACTS_WITHOUT_ARCS, S0, S1, Effect, Situation, Spec


def spec_of(system: str) -> Spec:
    """Return the spec of a system of dependency trees. Raises `InputError` for a name not in `TREE_SYSTEMS`."""
    if system not in TREE_SYSTEMS:
        raise InputError(
            f"the batched machine does not know the transition system {system!r}, only {', '.join(TREE_SYSTEMS)}"
        )
    return TREE_SYSTEMS[system].spec


@lru_cache(maxsize=32)
def effects_table(system: str, device: torch.device) -> Tensor:
    """Return the effect of each column, (C, 8) int64: the fields of `Effect` in order, for `C` too."""
    known = {ActionClass[kind.name]: rule.effect for kind, rule in spec_of(system).rules.items()}
    effects = [known.get(KIND_OF_CLASS.get(column, column), Effect()) for column in ActionClass]
    return torch.tensor([[*effect[:-1], *effect.buffer_pushes] for effect in effects], device=device)


@lru_cache(maxsize=32)
def columns_of_situations(system: str, device: torch.device) -> Tensor:
    """Return the legal columns of each situation, (256, C) bool, or (4096, C) where legality depends on arcs.

    Bit i of a situation's number is field i of `Situation`.
    """
    spec = spec_of(system)
    facts = len(Situation._fields) if spec.reads_arcs else FACTS_WITHOUT_ARCS
    situations = (Situation(*(bool(number >> bit & 1) for bit in range(facts))) for number in range(1 << facts))
    return torch.tensor([_legal_columns(spec, situation) for situation in situations], device=device)


def _legal_columns(spec: Spec, situation: Situation) -> list[bool]:
    legal = {ActionClass[kind.name]: spec.why_illegal(kind, situation) is None for kind in spec.rules}
    left, from_root = legal[ActionClass.LEFT_ARC], spec.left_arc_from_root(situation)
    legal[ActionClass.LEFT_ARC] = left and not from_root
    legal[ActionClass.LEFT_ARC_ROOT] = left and from_root
    legal[ActionClass.LEFT_ARC_ANY] = left
    legal[ActionClass.END] = spec.is_final(situation)
    return [legal.get(column, False) for column in ActionClass]


@lru_cache(maxsize=32)
def attached_in_situations(system: str) -> Tensor:
    """Return the words that some legal arc would attach in each situation, int64, as bits.

    Bit 1 stands for S0, bit 2 for S1 and bit 3 for B0. `TreeSystem.may_attach` returns the same words.
    """
    device = torch.device("cpu")
    legal, dependents = columns_of_situations(system, device), effects_table(system, device)[:, 0]
    bits = [(legal[:, dependents == word].any(1).long() << word) for word in (S0, S1, B0)]
    return bits[0] | bits[1] | bits[2]
