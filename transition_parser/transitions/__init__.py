"""Floor 2 (see CONTRIBUTING.md): the transition systems. `make_system` makes the system of a given name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from transition_parser.base.errors import InputError
from transition_parser.text.frames import Frames
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.arc_systems import (
    ArcEager,
    ArcHybrid,
    ArcHybridSwap,
    ArcStandard,
    ArcStandardSwap,
)
from transition_parser.transitions.system import Action, Kind, TransitionSystem
from transition_parser.transitions.tree_system import RootRelations, State, TreeSystem

# The systems that build dependency trees. Each class defines its system completely, except for the batched costs.
TREE_SYSTEMS: dict[str, type[TreeSystem]] = {
    system.name: system for system in (ArcStandard, ArcHybrid, ArcEager, ArcStandardSwap, ArcHybridSwap)
}

SYSTEMS: dict[str, type[TransitionSystem]] = {**TREE_SYSTEMS, AmrSystem.name: AmrSystem}

__all__ = [
    "SYSTEMS",
    "TREE_SYSTEMS",
    "Action",
    "Kind",
    "RootRelations",
    "State",
    "TransitionSystem",
    "TreeSystem",
    "make_system",
]


def make_system(
    name: str,
    shift_words: Sequence[str] = (),
    lexicon: Mapping[str, Collection[str]] | None = None,
    roots: RootRelations | None = None,
    limits: SearchLimits | None = None,
    frames: Frames | None = None,
    once: Sequence[Collection[str]] = (),
) -> TransitionSystem:
    """Return the transition system called `name`. Raises `InputError` for a name that is not in `SYSTEMS`."""
    if name == AmrSystem.name:
        return AmrSystem(shift_words, lexicon, limits, frames)
    if name not in TREE_SYSTEMS:
        raise InputError(f"unknown transition system {name!r}: choose from {', '.join(SYSTEMS)}")
    return TREE_SYSTEMS[name](shift_words, roots, once)
