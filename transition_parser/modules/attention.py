"""Multi-head attention with a mask for each head, query and key (B sentences, H heads, T queries, S keys)."""

from __future__ import annotations

from itertools import cycle
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.dropout import dropout as dropout_
from transition_parser.modules.linear import linear

_AT_ONCE = 1 << 24  # the most scores that search computes at once; more queries are computed in groups


class HeadMask(NamedTuple):
    """An additive attention mask in which no row is −inf throughout.

    bias: (B, H or 1, T or 1, S); 0 where a query may see a key, −inf elsewhere. A row in which nothing may be seen is
        all 0.
    alive: (B, H or 1, T or 1, 1); 0 for heads and queries without a visible key, whose output becomes zero, else 1.
        None if every row is known to have a visible key.
    """

    bias: Tensor
    alive: Tensor | None = None

    @classmethod
    def from_visible(cls, visible: Tensor) -> HeadMask:
        """Make a mask from a bool tensor of the shape of `bias`, which is True where a key may be seen."""
        alive = visible.any(-1, keepdim=True)
        bias = torch.zeros_like(visible, dtype=torch.float)
        return cls(bias.masked_fill_(alive & ~visible, float("-inf")), alive.float())


class Attention(nn.Module):
    """Multi-head attention over `dim` features with `heads` heads.

    The projection to keys and values is separate from `attend`, so that search projects the words of a sentence once.
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
        """Split (B, T, dim) into heads: (B, heads, T, dim / heads)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and the values, each (B, heads, S, dim / heads), of `memory` (B, S, dim)."""
        keys, values = self.key_value(memory).chunk(2, -1)
        return self.split(keys), self.split(values)

    def weighted_values(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: HeadMask | None, causal: bool = False
    ) -> Tensor:
        """Return the weighted mean of the values, (B, T, dim), before the output projection.

        query: (B, heads, T, dim / heads).
        keys, values: (B, heads, S, dim / heads).
        """
        bias = None if mask is None else mask.bias
        dropout = self.dropout if self.training else 0.0
        heads_read = scaled_dot_product_attention(query, keys, values, bias, dropout, causal)
        if mask is not None and mask.alive is not None:
            heads_read = heads_read * mask.alive.to(heads_read.dtype)
        return heads_read.transpose(1, 2).flatten(2)

    def attend(
        self, query: Tensor, keys: Tensor, values: Tensor, mask: HeadMask | None, causal: bool = False
    ) -> Tensor:
        """Return the output projection of `weighted_values`."""
        return self.out(self.weighted_values(query, keys, values, mask, causal))

    def forward(self, x: Tensor, memory: Tensor, mask: HeadMask | None, causal: bool = False) -> Tensor:
        """Let x (B, T, dim) attend to memory (B, S, dim) and return (B, T, dim)."""
        return self.attend(self.split(self.query(x)), *self.keys_values(memory), mask, causal)


def rounds_sums(x: Tensor) -> bool:
    """Return True if x is in bf16 on a CPU, where torch's sums over x depend on the shape of the batch."""
    return x.dtype is torch.bfloat16 and x.device.type == "cpu"


def summed_exactly(x: Tensor) -> Tensor:
    """Convert x to the dtype in which search sums products with x.

    bf16 on a CPU becomes fp64, in which these sums are almost exact. Other dtypes become fp32, or stay fp64.

    torch chooses the order of a sum by the shape of the batch. In fp32 this order would change some sums even after
    rounding to bf16, so that a sentence could have different parses in different batches.
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
    """Compute `torch.nn.functional.scaled_dot_product_attention`, on CPUs by separate operations.

    For sequences as long as sentences, torch's fused CPU kernel takes up to seven times as long as these
    operations in the bf16 backward pass (`run/bench/training.py` measures this), and up to five times in search.

    query: (B, heads, T, d); keys and values are (B, heads, S, d).
    bias: added to the scores, broadcast to (B, heads, T, S); no row may be −inf throughout.
    """
    dtype = query.dtype
    if query.device.type != "cpu":
        bias = None if bias is None else bias.to(dtype)
        return F.scaled_dot_product_attention(query, keys, values, bias, dropout, causal)
    if not torch.is_grad_enabled():  # search rounds each sum once, as `search_kernels` does
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
    # the softmax is in fp32 at least: in bf16 its sum over the keys is slower and less exact
    weights = dropout_(scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float)), dropout, True)
    return (weights.to(values.dtype) @ values).to(dtype)
