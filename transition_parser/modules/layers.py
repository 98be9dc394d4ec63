"""Transformer layers (pre-norm) and what they are made of.

Source: Vaswani et al. 2017; pre-norm: Nguyen and Salazar 2019.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.attention import Attention, HeadMask, linear
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.history import History
from transition_parser.modules.state_masks import StateScores


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
        return self.outer(self.dropout(F.relu(self.inner(x))))


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


class Past(NamedTuple):
    """The actions before this one as layer number `layer` sees them. bias: see `History`.

    rows: (R,), which row of its input each hypothesis has; None where there are as many rows as hypotheses.
    """

    history: History
    layer: int
    bias: Tensor
    rows: Tensor | None = None


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
        past: Past | None,
        memory: tuple[Tensor, Tensor],
        mask: HeadMask | None,
        scores: StateScores | None = None,
    ) -> Tensor:
        """x: (B, T, dim) to the same, in search (R, 1, dim).

        past: the earlier actions, None in training. memory: keys and values of the words. mask: what
        cross-attention may see. scores: adds state positions to it.
        """
        inner = self.norms[0](x)
        attention = self.self_attention
        query, now = attention.query(inner), attention.key_value(inner)
        if past is not None and past.rows is not None:
            x, query, now = (t.index_select(0, past.rows) for t in (x, query, now))
        query, keys, values = map(attention.split, (query, *now.chunk(2, -1)))
        if past is None:
            found = attention.attend(query, keys, values, None, causal=True)
        else:
            found = self._look_back(query, (keys, values), past)
        x = x + self.dropout(found)
        query = self.cross_attention.split(self.cross_attention.query(self.norms[1](x)))
        if scores is not None and mask is not None:
            mask = scores(query, mask, self.cross_attention)
        x = x + self.dropout(self._cross(query, memory, mask))
        return x + self.dropout(self.feed_forward(self.norms[2](x)))

    def _look_back(self, query: Tensor, now: tuple[Tensor, Tensor], past: Past) -> Tensor:
        """Self-attention where the hypotheses of a sentence share what they have in common."""
        rows, sentences = query.size(0), past.bias.size(0)
        query, keys, values = (_beam_to_steps(x, sentences) for x in (query, *now))
        keys, values = past.history.write(past.layer, keys, values)
        return self.self_attention.attend(query, keys, values, HeadMask(past.bias)).reshape(rows, 1, -1)

    def _cross(self, query: Tensor, memory: tuple[Tensor, Tensor], mask: HeadMask | None) -> Tensor:
        """Cross-attention where the rows of one sentence (a beam) share its keys and values."""
        rows, sentences = query.size(0), memory[0].size(0)
        if rows == sentences:
            return self.cross_attention.attend(query, *memory, mask)
        query = _beam_to_steps(query, sentences)
        if mask is not None:
            alive = None if mask.alive is None else _beam_to_steps(mask.alive, sentences)
            mask = HeadMask(_beam_to_steps(mask.bias, sentences), alive)
        return self.cross_attention.attend(query, *memory, mask).reshape(rows, 1, -1)


def _beam_to_steps(x: Tensor, sentences: int) -> Tensor:
    """(sentences × beam, H, 1, d) to (sentences, H, beam, d): a beam looks like as many steps."""
    return x.unflatten(0, (sentences, -1)).squeeze(3).transpose(1, 2)
