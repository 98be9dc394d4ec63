"""The structures of a configuration, and the indicators by which an item is told its part of each.

Source: Ji et al. 2021, sec. 3 and figures 3 and 7
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transition_parser.models.use_parser.options import UseOptions
from transition_parser.states.states import States

ACTIONS, STACK, BUFFER, ARCS, RELATIONS = STRUCTURES = ("actions", "stack", "buffer", "arcs", "relations")
# the fields of `States` that indicators of words come from: what is inside, what has left
_FIELDS = {
    STACK: ("stack", "left_stack"),
    BUFFER: ("buffer", "left_buffer"),
    ARCS: ("head",),
    RELATIONS: ("relation",),
}


@dataclass(frozen=True)
class Structures:
    """Which structures there are, in the order of their heads: that of actions comes first, those of trees last.

    heads: how many each structure has, 0 for one that is not seen. bound: indicators are told apart up to it.
    relations: how many relations there are, with 0 for none.
    """

    heads: dict[str, int]
    bound: int
    relations: int

    @classmethod
    def of(cls, options: UseOptions, relations: int, has_trees: bool) -> Structures:
        """As the options ask; without trees no arcs and no relations."""
        of_trees = (options.arc_heads, options.relation_heads) if has_trees else (0, 0)
        counts = (options.action_heads, options.stack_heads, options.buffer_heads, *of_trees)
        return cls(dict(zip(STRUCTURES, counts, strict=True)), options.indicator_bound, relations)

    @property
    def of_head(self) -> list[str]:
        """The structure of each head, those of words behind those of actions."""
        return [name for name in STRUCTURES for _ in range(self.heads[name])]

    @property
    def of_words(self) -> list[str]:
        """Those whose items are words, as far as they have heads."""
        return [name for name in _FIELDS if self.heads[name]]

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields of `States` that indicators come from."""
        return tuple(field for name in self.of_words for field in _FIELDS[name])

    @property
    def word_values(self) -> int:
        """How many rows a table of indicators of words has, for the structure with the most."""
        return self.bound + max(self.bound + 1, self.relations)

    def word_rows(self, width: int, steps: int) -> slice:
        """Those that the indicators of `width` words may have in the first `steps` steps."""
        below, above = min(self.bound, max(width, steps)), min(self.bound, width)
        if self.heads[RELATIONS]:
            above = max(above, self.relations - 1)
        return slice(self.bound - below, self.bound + above + 1)

    def action_rows(self, steps: int) -> slice:
        """Those that the indicators of so many actions may have."""
        return slice(0, min(self.bound, steps) + 1)

    def rows(self, states: States) -> Tensor:
        """(structures of words, …, P) long: which row of its table the indicator of each word is."""
        return torch.stack([self.row(name, indicators(name, states)) for name in self.of_words]).long()

    def row(self, name: str, indicator: Tensor) -> Tensor:
        """The row of the table of a structure that indicators (any shape) have. From −bound to bound each has one, and
        those beyond are like the last; but each relation has one. Actions have no rows below 0."""
        if name == ACTIONS:
            return indicator.clamp_max(self.bound)
        return (indicator if name == RELATIONS else indicator.clamp(-self.bound, self.bound)) + self.bound


def indicators(name: str, states: States) -> Tensor:
    """(…, P) of a structure of words: k > 0 for the k-th word from the top of the stack (front of the buffer), −s for
    one that left s steps ago and is not there, 0 for one that never was there; the offset from a word to its head; the
    id of its relation."""
    inside, *left = (getattr(states, field) for field in _FIELDS[name])
    return inside - left[0] if left else inside


def steps_back(steps: int, device: torch.device) -> Tensor:
    """(steps,): the indicators of the actions so far, `</s>` the first of them: 1 for the newest."""
    return torch.arange(steps, 0, -1, device=device)


def structure_numbers(names: Sequence[str], heads: Sequence[str]) -> Tensor:
    """(heads,): where in `names` the structure of each head is."""
    return torch.tensor([list(names).index(name) for name in heads], dtype=torch.long)
