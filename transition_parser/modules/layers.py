"""Transformer layers (pre-norm) and their parts, for B sentences of P positions (words and root).

Source: Vaswani et al. 2017; pre-norm: Nguyen and Salazar 2019.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import search_kernels
from transition_parser.modules.attention import Attention, HeadMask
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.linear import linear, padded


def sinusoids(first: int, count: int, dim: int, device: torch.device) -> Tensor:
    """Return the sinusoidal embeddings, (count, dim), of the positions first, first + 1, …"""
    size = max(1 << (first + count).bit_length(), 256)
    return _sinusoids(size, dim, device)[first : first + count]


@lru_cache(maxsize=16)
def _sinusoids(count: int, dim: int, device: torch.device) -> Tensor:
    half = dim // 2
    with torch.inference_mode(False), torch.no_grad():  # so that training can read a table that search has made
        frequency = torch.exp(torch.arange(half, device=device) * (-math.log(10000.0) / max(half - 1, 1)))
        angle = torch.arange(count, device=device)[:, None] * frequency
        return F.pad(torch.cat([angle.sin(), angle.cos()], 1), (0, dim % 2))


def gather_rows(x: Tensor, positions: Tensor) -> Tensor:
    """Return the rows, (B, K, d), of x (B, P, d) at the given positions (B, K).

    Whole rows are copied: on CPUs `gather` takes ten times as long, and its backward pass five times. On CPUs, raises
    `IndexError` for positions out of range; on other devices the check would wait for the device.
    """
    if positions.is_cpu and positions.numel():
        least, most = positions.aminmax()
        if least < 0 or most >= x.size(1):
            raise IndexError(f"positions {int(least)} to {int(most)} of {x.size(1)}")
    first = x.size(1) * torch.arange(len(x), device=x.device)
    return x.flatten(0, 1).index_select(0, (first[:, None] + positions).flatten()).unflatten(0, positions.shape)


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them.

    activation, activation_in_product: attributes by which `packing` fuses the ReLU, see `packing._replace_layers`.
    """

    activation, activation_in_product = "relu", False

    def __init__(self, dim: int, inner: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.outer = linear(dim, inner), linear(inner, dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.inner(x)
        if not self.activation_in_product:
            inner = F.relu(inner) if inner.requires_grad else inner.relu_()
        return self.outer(self.dropout(inner))


class HiddenLayer(nn.Module):
    """Two linear layers with a ReLU between them; the widths of input, hidden layer and output may differ."""

    def __init__(self, inputs: int, width: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.inner, self.output, self.dropout = linear(inputs, width), linear(width, outputs), Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return (…, outputs) for x (…, inputs)."""
        return self.output(self.dropout(F.relu(self.inner(x))))


class LocalLayer(nn.Module):
    """A convolution over each word and its two neighbours, added to the word; input and output are (B, P, dim).

    inner: the convolution as a linear layer over three words, made by `unfold`; None before that
    activation, activation_in_product: attributes by which `packing` fuses the ReLU, see `packing._replace_layers`.
    """

    activation, activation_in_product = "relu", False

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1)
        self.inner: nn.Module | None = None
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, words: Tensor) -> Tensor:
        """Return x, (B, P, dim), with the convolution added.

        words: (B, P) bool; False at padding.
        """
        inner = self.norm(x) * words.unsqueeze(-1)
        if self.inner is None:
            mixed = F.relu(self.mix(inner.transpose(1, 2))).transpose(1, 2)
        else:
            mixed = self._product(inner).view_as(x)
        return x + self.dropout(mixed)

    def infer(self, x: Tensor, words: Tensor) -> Tensor:
        """Add the convolution to x (B, P, dim) in place, by a matrix product of `padded` rows, and return x."""
        return x.add_(self._product(self.norm(x) * words.unsqueeze(-1)).view_as(x))

    def _product(self, x: Tensor) -> Tensor:
        """Return the convolution of x (B, P, dim) as rows (B · P, dim), after the activation."""
        around = F.pad(x, (0, 0, 1, 1))
        three = padded(torch.cat([around[:, :-2], x, around[:, 2:]], 2).flatten(0, 1))
        mixed = F.linear(three, self._weight(), self.mix.bias) if self.inner is None else self.inner(three)
        return (mixed if self.activation_in_product else mixed.relu_())[: x.size(0) * x.size(1)]

    def unfold(self) -> None:
        """Move the convolution into a linear layer, which `packing` can replace. A second call does nothing."""
        if self.inner is not None:
            return
        self.inner = nn.utils.skip_init(nn.Linear, 3 * self.mix.in_channels, self.mix.out_channels)
        self.inner.weight, self.inner.bias = nn.Parameter(self._weight(), False), self.mix.bias

    def _weight(self) -> Tensor:
        """Return the convolution's weight as that of a linear layer over three words, (dim, 3 dim)."""
        return self.mix.weight.permute(0, 2, 1).flatten(1)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward over words; input and output are (B, P, dim)."""

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

    def infer(self, x: Tensor, inner: Tensor, first: Tensor, lengths: Tensor, longest: int) -> Tensor:
        """Add the output of attention to x in place, and return the output of feed-forward, which the caller adds.

        `search_kernels` compute the attention; they read all positions of a batch as rows.

        x: (N, dim) for N rows.
        inner: (N, dim); `norms[0]` of x.
        first: (B,) int32; the first row of each sentence.
        lengths: (B,) int32; the number of words of each sentence, plus 1 for the root; at most `longest`.
        """
        attention = self.attention
        keys, values = attention.key_value(inner).chunk(2, 1)
        heads_read = search_kernels.self_attention(
            attention.query(inner), keys, values, attention.heads, first, lengths, longest
        )
        return self.feed_forward(add_and_normalise(x, attention.out(heads_read), self.norms[1]))


def add_and_normalise(x: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Add `added` to x in place, both (N, dim) for N rows, and return `norm` of the sum."""
    if search_kernels.supports(x, x.size(1)):
        return search_kernels.add_and_normalise(x, added, norm)
    return norm(x.add_(added))
