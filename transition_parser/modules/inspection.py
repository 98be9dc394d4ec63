"""Inspection of decoders: parts of the parser state that ablation hides and traces show.

This is a second, small contract beside the contract of a model; training and search need none of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from torch import Tensor

from transition_parser.modules.contract import Decoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.states.machine import Machine
from transition_parser.states.states import FIELDS, States


class Indicators(NamedTuple):
    """A table of learned vectors, which tell the decoder what part of a structure an item is.

    structures: the names of S structures
    vectors: (S, V, D); a parameter, with V vectors for each structure
    inside: (S, V) bool; True for the vectors of items that are in the structure now
    """

    structures: Sequence[str]
    vectors: Tensor
    inside: Tensor


class Inspectable(Decoder):
    """A second base class for decoders that ablation and traces can look into.

    By default the parts of the state are the fields of `States` that the decoder needs.

    hidden: the fields of `States` that the decoder sees empty, see `BatchedMachine`.
    """

    hidden: Collection[str] = ()

    @property
    def state_parts(self) -> Sequence[str]:
        """The parts of the parser state that the decoder sees and `hide` accepts."""
        return [name for name in FIELDS if name in self.needs]

    def hide(self, parts: Collection[str]) -> None:
        """Hide these parts from the decoder from now on, to measure how much the decoder relies on them.

        An empty collection makes all parts visible again. Raises `ValueError` for a part that is not in `state_parts`.
        """
        self.hidden = self.known_parts(parts)

    def known_parts(self, parts: Collection[str]) -> frozenset[str]:
        """Return the parts as a set. Raises `ValueError` for a part that is not in `state_parts`."""
        unknown = sorted(set(parts).difference(self.state_parts))
        if unknown:
            raise ValueError(f"the state that it sees has no part {unknown[0]!r}: {', '.join(self.state_parts)}")
        return frozenset(parts)

    def visible_words(self, states: States) -> dict[str, Tensor]:
        """Return the words that the decoder sees in some states (…), for people to look at.

        The result maps the name of each view of the words to (…, P), 0 for words that are not seen. By default the
        views are the fields of `States` that are present.
        """
        return {name: value for name, value in states.tensors().items() if name in FIELDS}

    def indicators(self) -> Sequence[Indicators]:
        """Return the tables of indicators by which the decoder sees structures; by default it has none."""
        return ()

    def machine(
        self, encoder_out: EncoderOut, needs: Collection[str] | None = None, in_search: bool = False
    ) -> Machine:
        machine = super().machine(encoder_out, needs, in_search)
        machine.hidden = self.hidden
        return machine
