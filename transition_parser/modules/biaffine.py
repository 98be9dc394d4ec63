"""How well a head, or a relation, fits a word: biaffine forms of head and dependent.

Source: Dozat and Manning 2017; Ji et al. 2021, eq. 5
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.dropout import Dropout
from transition_parser.modules.linear import linear
from transition_parser.modules.places import at


class Ends(NamedTuple):
    """Of words, once a sentence: heads (B, P, w + 1), the last number 1; dependents (B, P, R (w + 1)), what each of R
    relations multiplies heads by."""

    heads: Tensor
    dependents: Tensor


class BiaffineRelations(nn.Module):
    """x_i W_1 x_j + (x_i + x_j) W_2 + b, + for being put side by side; the part of W_2 that reads the configuration is
    not here. All of it is one biaffine form of (x_i, 1) and (x_j, 1).

    x_i and x_j are reduced by linear maps, as Ji et al. do where words come from BERT (their footnote 4).

    dim: width of words. width: w. count: R, of relations.
    """

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.of_head, self.of_dependent = linear(dim, width), linear(dim, width)
        self.form = nn.Linear(width + 1, count * (width + 1), bias=False)
        nn.init.normal_(self.form.weight, std=1 / (width + 1))

    def ends(self, words: Tensor) -> Ends:
        """Of words (B, P, dim)."""
        heads, dependents = (F.pad(reduce(words), (0, 1), value=1.0) for reduce in (self.of_head, self.of_dependent))
        return Ends(heads, self.form(dependents))

    def of_all_pairs(self, ends: Ends) -> Tensor:
        """(B, P, P, R): the rows are dependents, the columns heads."""
        formed = ends.dependents.unflatten(-1, (-1, ends.heads.size(-1)))
        found = formed.flatten(1, 2) @ ends.heads.transpose(1, 2)
        return found.unflatten(1, (ends.heads.size(1), -1)).transpose(2, 3)

    def forward(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """(N, R) of N pairs: of heads (N, w + 1) and dependents (N, R (w + 1)), see `Ends`."""
        formed = dependents.unflatten(-1, (-1, heads.size(-1)))
        precise = torch.promote_types(formed.dtype, torch.float)
        with torch.autocast(formed.device.type, enabled=False):
            return (formed.to(precise) @ heads.to(precise)[..., None])[..., 0]


class BiaffineHeads(nn.Module):
    """x_i U x_j + x_j u of the hidden layers x_i of a word as a dependent, x_j of one as a head.

    Source: Dozat and Manning 2017, eqs 4 to 6

    dim: width of words. width: of the hidden layers.
    """

    def __init__(self, dim: int, width: int, dropout: float) -> None:
        super().__init__()
        self.of_head, self.of_dependent = linear(dim, width), linear(dim, width)
        self.form = nn.Linear(width + 1, width, bias=False)
        nn.init.normal_(self.form.weight, std=1 / (width + 1))
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor) -> Tensor:
        """(B, P, P) of words (B, P, dim): the rows are dependents, the columns heads."""
        heads, dependents = (
            self.dropout(F.relu(reduce(words))) for reduce in (self.of_head, self.of_dependent)
        )  # fmt: skip
        formed = self.form(F.pad(dependents, (0, 1), value=1.0))
        precise = torch.promote_types(formed.dtype, torch.float)
        with torch.autocast(formed.device.type, enabled=False):  # rounded, close scores would be equal
            return formed.to(precise) @ heads.to(precise).transpose(1, 2)


class RelationsOfHeads(nn.Module):
    """`BiaffineRelations` of words with one head each."""

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.pairs = BiaffineRelations(dim, width, count)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """(B, N, count) of words (B, P, dim), N of which have the heads (B, N): positions."""
        ends = self.pairs.ends(words)
        of_heads = at(ends.heads, heads)
        dependents = ends.dependents[:, : heads.size(1)]
        return self.pairs(of_heads.flatten(0, 1), dependents.flatten(0, 1)).unflatten(0, heads.shape)
