"""The structures of a configuration, and the indicators, numbers that tell the place of an item in a structure.

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
# the fields of `States` that indicators of words come from: for words in the structure, for words that have left it
_FIELDS = {
    STACK: ("stack", "steps_since_stack"),
    BUFFER: ("buffer", "steps_since_buffer"),
    ARCS: ("head",),
    RELATIONS: ("relation",),
}


@dataclass(frozen=True)
class Structures:
    """The structures, in the order of their heads: actions come first, structures of trees last.

    heads: number of heads of each structure, 0 for a structure that is not seen
    bound: indicators further from 0 than this are not told apart
    relations: number of relations, 0 (none) included
    """

    heads: dict[str, int]
    bound: int
    relations: int

    @classmethod
    def from_options(cls, options: UseOptions, relations: int, has_trees: bool) -> Structures:
        """Return the structures that the options ask for.

        has_trees: False leaves out arcs and relations
        """
        of_trees = (options.arc_heads, options.relation_heads) if has_trees else (0, 0)
        counts = (options.action_heads, options.stack_heads, options.buffer_heads, *of_trees)
        return cls(dict(zip(STRUCTURES, counts, strict=True)), options.indicator_bound, relations)

    @property
    def of_head(self) -> list[str]:
        """For each attention head, the name of the structure that it attends to, in the order of `STRUCTURES`."""
        return [name for name in STRUCTURES for _ in range(self.heads[name])]

    @property
    def of_words(self) -> list[str]:
        """The names of the structures that have heads and whose items are words."""
        return [name for name in _FIELDS if self.heads[name]]

    @property
    def needs(self) -> tuple[str, ...]:
        """The fields of `States` that indicators come from."""
        return tuple(field for name in self.of_words for field in _FIELDS[name])

    @property
    def word_values(self) -> int:
        """The number of rows in a table of indicators of words, enough for every structure."""
        return self.bound + max(self.bound + 1, self.relations)

    def word_rows(self, width: int, steps: int) -> slice:
        """Return the rows that the indicators of `width` words may have in the first `steps` steps."""
        below, above = min(self.bound, max(width, steps)), min(self.bound, width)
        if self.heads[RELATIONS]:
            above = max(above, self.relations - 1)
        return slice(self.bound - below, self.bound + above + 1)

    def action_rows(self, steps: int) -> slice:
        """Return the rows that the indicators of `steps` actions may have."""
        return slice(0, min(self.bound, steps) + 1)

    def rows(self, states: States) -> Tensor:
        """Return (structures of words, …, P) long, the table row of the indicator of each of P words."""
        return torch.stack([self.row(name, indicators(name, states)) for name in self.of_words]).long()

    def row(self, name: str, indicator: Tensor) -> Tensor:
        """Return the row that each indicator has in the table of a structure.

        Each relation has a row. In other structures each indicator from −bound to bound has a row; smaller and larger
        indicators have the first and the last of these rows. Actions have no rows below 0.

        indicator: any shape
        """
        if name == ACTIONS:
            return indicator.clamp_max(self.bound)
        return (indicator if name == RELATIONS else indicator.clamp(-self.bound, self.bound)) + self.bound


def indicators(name: str, states: States) -> Tensor:
    """Return (…, P), the indicators of P words in the structure `name`.

    For the stack and the buffer: k > 0 for the k-th word from the top of the stack (or front of the buffer), −s for a
    word that left s steps ago and has not come back, 0 for a word that was never there. For arcs: the offset from a
    word to its head. For relations: the id of the word's relation.
    """
    inside, *left = (getattr(states, field) for field in _FIELDS[name])
    return inside - left[0] if left else inside


def steps_back(steps: int, device: torch.device) -> Tensor:
    """Return (steps,), the indicators of the actions so far: `steps` for the first `</s>`, 1 for the newest action."""
    return torch.arange(steps, 0, -1, device=device)


def structure_numbers(names: Sequence[str], heads: Sequence[str]) -> Tensor:
    """Return (heads,), the index in `names` of the structure of each head."""
    return torch.tensor([list(names).index(name) for name in heads], dtype=torch.long)
