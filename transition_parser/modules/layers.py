"""Transformer layers (pre-norm) and what they are made of.

Source: Vaswani et al. 2017; pre-norm: Nguyen and Salazar 2019.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.compat import padded
from transition_parser.kernels import search_kernels
from transition_parser.modules.attention import Attention, HeadMask, linear
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.state_masks import StateScores

if TYPE_CHECKING:
    from transition_parser.modules.search_attention import SearchAttention


def sinusoids(first: int, count: int, dim: int, device: torch.device) -> Tensor:
    """(count, dim): the sinusoidal position embeddings of the positions first, first + 1, …"""
    half = dim // 2
    frequency = torch.exp(torch.arange(half, device=device) * (-math.log(10000.0) / max(half - 1, 1)))
    angle = torch.arange(first, first + count, device=device)[:, None] * frequency
    return F.pad(torch.cat([angle.sin(), angle.cos()], 1), (0, dim % 2))


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, dim: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = linear(dim, inner), linear(inner, dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.inner(x)
        inner = F.relu(inner) if inner.requires_grad else inner.relu_()
        return self.outer(self.dropout(inner))


class LocalLayer(nn.Module):
    """A convolution over each word and its two neighbours, added to the word: (B, P, dim) to the same."""

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        """words: (B, P) bool, False at padding."""
        inner = self.norm(x) * words.unsqueeze(-1)
        mixed = F.relu(self.mix(inner.transpose(1, 2))).transpose(1, 2)
        return x + self.dropout(mixed)

    def infer(self, x: Tensor, words: Tensor) -> Tensor:
        """The same as a product of matrices with few shapes (see `padded`), added to x in place."""
        inner = F.pad(self.norm(x) * words.unsqueeze(-1), (0, 0, 1, 1))
        three = padded(torch.cat([inner[:, :-2], inner[:, 1:-1], inner[:, 2:]], 2).flatten(0, 1))
        mixed = F.linear(three, self.mix.weight.permute(0, 2, 1).flatten(1), self.mix.bias).relu_()
        return x.add_(mixed[: words.numel()].view_as(x))


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward over words: (B, P, dim) to the same."""

    def __init__(
        self, dim: int, heads: int, inner: int, dropout: float, attention_dropout: float, relu_dropout: float
    ) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.attention = Attention(dim, heads, attention_dropout)
        self.feed_forward = FeedForward(dim, inner, relu_dropout)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, mask: HeadMask) -> Tensor:
        inner = self.norms[0](x)
        x = x + self.dropout(self.attention(inner, inner, mask))
        return x + self.dropout(self.feed_forward(self.norms[1](x)))

    def infer(self, x: Tensor, inner: Tensor, shape: tuple[int, int], sentence: Tensor, lengths: Tensor) -> Tensor:
        """Where `search_kernels` compute, all words of a batch as rows: adds to x (N, dim) in place what attention
        finds, and returns what feed-forward adds to that.

        inner: `norms[0]` of x. shape: (B, P); the first B · P rows count. sentence: (N,), which sentence each row is
        of. lengths: (B,), words and root.
        """
        attention = self.attention
        memory = attention.key_value(inner)[: shape[0] * shape[1]].unflatten(0, shape)
        every = torch.full((attention.heads,), -1, dtype=torch.int32)
        found = search_kernels.cross_attention(
            attention.query(inner), attention.heads, memory, sentence, lengths, every, (), 0, None, None
        )
        return self.feed_forward(add_and_normalise(x, attention.out(found), self.norms[1]))


class DecoderLayer(nn.Module):
    """Self-attention over the actions so far, cross-attention to the words, feed-forward.

    The same layer serves training (all T actions at once) and search (one action a row).
    """

    def __init__(
        self, dim: int, heads: int, inner: int, dropout: float, attention_dropout: float, relu_dropout: float
    ) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.self_attention = Attention(dim, heads, attention_dropout)
        self.cross_attention = Attention(dim, heads, attention_dropout)
        self.feed_forward = FeedForward(dim, inner, relu_dropout)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        memory: tuple[Tensor, Tensor],
        mask: HeadMask | None,
        scores: StateScores | None = None,
    ) -> Tensor:
        """x: (B, T, dim) to the same. memory: keys and values of the words. mask: what cross-attention may see.
        scores: adds state positions to it."""
        inner = self.norms[0](x)
        x = x + self.dropout(self.self_attention(inner, inner, None, causal=True))
        query = self.cross_attention.split(self.cross_attention.query(self.norms[1](x)))
        if scores is not None and mask is not None:
            mask = scores(query, mask, self.cross_attention)
        x = x + self.dropout(self.cross_attention.attend(query, *memory, mask))
        return x + self.dropout(self.feed_forward(self.norms[2](x)))

    def step(
        self,
        x: Tensor,
        inner: Tensor,
        layer: int,
        seen: SearchAttention,
        which: Tensor | None = None,
        rows: Tensor | None = None,
        asked: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """One action of each hypothesis in search, in layer number `layer`: x with what attention found, and what
        feed-forward adds to that, (R, dim) each. x (R, dim) may change in place.

        inner: `norms[0]` of x. which, asked: see `SearchAttention`. rows: which rows of x to go on with, those of
        `asked`; None where x has these alone.
        """
        attention = self.self_attention
        now = attention.key_value(inner)
        if rows is None:
            query = attention.query(inner)
        elif len(rows) < len(inner):
            x, query = x.index_select(0, rows), attention.query(inner.index_select(0, rows))
        else:
            x, query = x.index_select(0, rows), attention.query(inner).index_select(0, rows)
        found = attention.out(seen.look_back(layer, query, now, which, asked))
        inner = add_and_normalise(x, found, self.norms[1])
        found = self.cross_attention.out(seen.look_at_words(layer, self.cross_attention.query(inner), asked))
        inner = add_and_normalise(x, found, self.norms[2])
        return x, self.feed_forward(inner)


def add_and_normalise(x: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Adds to x (R, dim) in place; the norm of the sum."""
    if search_kernels.supports(x, x.size(1)):
        return search_kernels.add_and_normalise(x, added, norm)
    return norm(x.add_(added))
