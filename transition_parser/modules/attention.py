"""Multi-head attention with a mask per head, query and key."""

from __future__ import annotations

from itertools import cycle
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.dropout import dropout as dropout_
from transition_parser.modules.linear import linear

_AT_ONCE = 1 << 24  # scores in search: of long sentences some words attend at a time


class HeadMask(NamedTuple):
    """An additive attention mask without rows that are all −inf.

    bias: 0 where a key may be seen, −inf elsewhere; (B, H or 1, T or 1, S). A row with nothing to see is all 0.
    alive: (B, H, T, 1), 0 for the heads and queries that had nothing to see: their output is zero. None where
        it is known that every row had something.
    """

    bias: Tensor
    alive: Tensor | None = None

    @classmethod
    def of(cls, visible: Tensor) -> HeadMask:
        """From a bool tensor, True where a key may be seen."""
        alive = visible.any(-1, keepdim=True)
        bias = torch.zeros_like(visible, dtype=torch.float)
        return cls(bias.masked_fill_(alive & ~visible, float("-inf")), alive.float())


class Attention(nn.Module):
    """Multi-head attention over `dim` features with `heads` heads.

    The key and value projections are apart from `attend`, so that search projects them once a sentence.
    """

    def __init__(self, dim: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"{heads} heads do not divide {dim} features")
        self.heads, self.dropout = heads, dropout
        self.query = linear(dim, dim)
        self.key_value = linear(dim, 2 * dim)
        self.out = linear(dim, dim)

    def split(self, x: Tensor) -> Tensor:
        """(B, T, dim) to (B, heads, T, dim / heads)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of (B, S, dim), each (B, heads, S, dim / heads)."""
        keys, values = self.key_value(memory).chunk(2, -1)
        return self.split(keys), self.split(values)

    def weighted_values(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: HeadMask | None, causal: bool = False
    ) -> Tensor:
        """What the heads read, (B, T, dim), before the output projection: from queries (B, heads, T, dim / heads), and
        keys and values (B, heads, S, dim / heads)."""
        bias = None if mask is None else mask.bias
        dropout = self.dropout if self.training else 0.0
        heads_read = scaled_dot_product_attention(query, keys, values, bias, dropout, causal)
        if mask is not None and mask.alive is not None:
            heads_read = heads_read * mask.alive.to(heads_read.dtype)
        return heads_read.transpose(1, 2).flatten(2)

    def attend(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: HeadMask | None, causal: bool = False
    ) -> Tensor:
        """`weighted_values`, and the output projection."""
        return self.out(self.weighted_values(query, keys, values, mask, causal))

    def forward(self, x: Tensor, memory: Tensor, mask: HeadMask | None, causal: bool = False) -> Tensor:
        """(B, T, dim) from x (B, T, dim) that attends memory (B, S, dim)."""
        return self.attend(self.split(self.query(x)), *self.keys_values(memory), mask, causal)


def rounds_sums(x: Tensor) -> bool:
    """True for numbers of which torch's sums differ by the shape of the batch, visibly once they are rounded."""
    return x.dtype is torch.bfloat16 and x.device.type == "cpu"


def summed_exactly(x: Tensor) -> Tensor:
    """Return x in the type in which products of it are summed up in search.

    Numbers in bf16 on a CPU become fp64, where such sums are exact or nearly so: torch chooses the order of a sum by the
    shape of the batch, and in fp32 the order would show once the sums are rounded to bf16, so that the same sentence
    would have another parse beside other sentences. Other numbers become fp32, or stay in fp64.
    """
    return x.double() if rounds_sums(x) else x.to(torch.promote_types(x.dtype, torch.float))


def scaled_dot_product_attention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    bias: Tensor | None = None,
    dropout: float = 0.0,
    causal: bool = False,
) -> Tensor:
    """torch's function of this name, on CPUs written out: on sentences the fused kernel takes up to seven times as long
    there in the backward pass in bf16 (`run/bench/training.py` sees the difference), and up to five times in search.

    bias: added to the scores, broadcast to (B, heads, T, S); no row may be all −inf.
    """
    dtype = query.dtype
    if query.device.type != "cpu":
        bias = None if bias is None else bias.to(dtype)
        return F.scaled_dot_product_attention(query, keys, values, bias, dropout, causal)
    if not torch.is_grad_enabled():  # in search sums are rounded once, as by `search_kernels`
        at_once = max(_AT_ONCE // (keys.size(-2) * query[..., 0, 0].numel()), 1)
        if query.size(-2) > at_once and not causal:
            biases = [bias] if bias is None or bias.size(-2) == 1 else bias.split(at_once, -2)
            some = zip(query.split(at_once, -2), cycle(biases), strict=False)
            return torch.cat([scaled_dot_product_attention(q, keys, values, b, dropout) for q, b in some], -2)
        query, keys, values = summed_exactly(query), summed_exactly(keys), summed_exactly(values)
    scores = query * query.size(-1) ** -0.5 @ keys.transpose(-1, -2)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    if causal:
        steps = scores.size(-1)
        later = torch.full((steps, steps), float("-inf"), dtype=scores.dtype).triu_(1)
        scores = scores + later
    # in bf16 the sum over the keys is slower, and less exact
    weights = dropout_(scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float)), dropout, True)
    return (weights.to(values.dtype) @ values).to(dtype)
