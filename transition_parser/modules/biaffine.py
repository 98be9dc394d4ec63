"""Biaffine scores of heads and of relations (Dozat and Manning 2017; Ji et al. 2021, eq. 5)."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import encoders, loader
from transition_parser.modules.layers import Dropout, gather_rows, linear


class HeadsAndDependents(NamedTuple):
    """The words of B sentences, P each with padding, as heads and as dependents, computed once per sentence."""

    heads: Tensor  # (B, P, w + 1); each word reduced to width w, with a 1 appended
    dependents: Tensor  # (B, P, R (w + 1)); for each relation, the vector whose dot product with a head is the score


class BiaffineRelations(nn.Module):
    """The scores x_i W_1 x_j + (x_i ⊕ x_j) W_2 + b of R relations, as one form of (x_i, 1) and (x_j, 1).

    Linear maps reduce x_i and x_j first (Ji et al. 2021, footnote 4). Unlike theirs, W_2 reads no configuration.
    """

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.of_head, self.of_dependent = linear(dim, width), linear(dim, width)
        self.form = nn.Linear(width + 1, count * (width + 1), bias=False)
        nn.init.normal_(self.form.weight, std=1 / (width + 1))

    def ends(self, words: Tensor) -> HeadsAndDependents:
        heads, dependents = (F.pad(reduce(words), (0, 1), value=1.0) for reduce in (self.of_head, self.of_dependent))
        return HeadsAndDependents(heads, self.form(dependents))

    def of_all_pairs(self, ends: HeadsAndDependents) -> Tensor:
        """Return the scores (B, P, P, R) of all pairs of words: rows are dependents, columns are heads."""
        formed = ends.dependents.unflatten(-1, (-1, ends.heads.size(-1)))
        found = formed.flatten(1, 2) @ ends.heads.transpose(1, 2)
        return found.unflatten(1, (ends.heads.size(1), -1)).transpose(2, 3)

    def forward(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """Return the scores (N, R) of N pairs of words, given by rows of `HeadsAndDependents`."""
        formed = dependents.unflatten(-1, (-1, heads.size(-1)))
        precise = torch.promote_types(formed.dtype, torch.float)
        # the kernel reads bfloat16 directly, while torch would copy it to fp32; the kernel computes no gradients
        if formed.dtype is torch.bfloat16 and loader.supports(formed) and not torch.is_grad_enabled():
            return encoders.products_of_pairs(formed.contiguous(), heads.float().contiguous())
        with torch.autocast(formed.device.type, enabled=False):
            return (formed.to(precise) @ heads.to(precise)[..., None])[..., 0]


class BiaffineHeads(nn.Module):
    """The scores x_i U x_j + x_j u of hidden layers of dependents and heads (Dozat and Manning 2017, eqs 4 to 6)."""

    def __init__(self, dim: int, width: int, dropout: float) -> None:
        super().__init__()
        self.of_head, self.of_dependent = linear(dim, width), linear(dim, width)
        self.form = nn.Linear(width + 1, width, bias=False)
        nn.init.normal_(self.form.weight, std=1 / (width + 1))
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores (B, P, P) of words (B, P, dim): rows are dependents, columns are heads."""
        heads, dependents = (
            self.dropout(F.relu(reduce(words))) for reduce in (self.of_head, self.of_dependent)
        )  # fmt: skip
        formed = self.form(F.pad(dependents, (0, 1), value=1.0))
        precise = torch.promote_types(formed.dtype, torch.float)
        with torch.autocast(formed.device.type, enabled=False):  # in bf16 close scores would become equal
            return formed.to(precise) @ heads.to(precise).transpose(1, 2)


class RelationsOfHeads(nn.Module):
    """`BiaffineRelations` for words that have one head each."""

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.pairs = BiaffineRelations(dim, width, count)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return the scores (B, N, R) of relations of the first N words (B, P, dim) to their heads, at (B, N)."""
        ends = self.pairs.ends(words)
        of_heads = gather_rows(ends.heads, heads)
        dependents = ends.dependents[:, : heads.size(1)]
        return self.pairs(of_heads.flatten(0, 1), dependents.flatten(0, 1)).unflatten(0, heads.shape)
