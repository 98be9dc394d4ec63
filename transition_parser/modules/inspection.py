"""Inspection of decoders: parts of the parser state that ablation hides and traces show.

This small interface is separate from `modules.contract`; training and search do not need it.
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
    """A table of learned vectors, which tell the decoder about an item, such as its distance from the top of the stack.

    structures: the names of S structures, such as the stack
    vectors: (S, V, D); a parameter, with V vectors of width D for each structure
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
            raise ValueError(f"the state that is seen has no part {unknown[0]!r}: {', '.join(self.state_parts)}")
        return frozenset(parts)

    def visible_words(self, states: States) -> dict[str, Tensor]:
        """Return the words that the decoder sees in the given states, for display.

        The result maps names to tensors (…, P) over P positions, 0 at words that are not seen. By default these are
        the fields of `States` that are present. The dimensions … are those of `states`.
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
