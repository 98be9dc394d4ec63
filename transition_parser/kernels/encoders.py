"""The compiled parts of encoders and of attention on CPUs. Tensors without a dtype are float or bfloat16."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transition_parser.kernels import loader
from transition_parser.kernels.int8 import FloatWeights, WeightsAsC
from transition_parser.kernels.loader import BLOCK, HALF, SIZE, require, supports

KINDS = ("lstm", "to target", "to boundary")  # of recurrent layers, in the order of the enum in C
_FOUR = 4  # the number of inputs must be a multiple of it, as products of integers multiply so many at once
_FILTERS, _LETTERS = 64, 64  # `letter_maxima` takes a multiple of 64 filters, and words of 64 letters at most


def supports_letters(like: Tensor, filters: int) -> bool:
    """Return True if `letter_maxima` supports tensors like this, and this many filters for each window."""
    return filters % _FILTERS == 0 and supports(like)


def self_attention(
    query: Tensor, keys: Tensor, values: Tensor, heads: int, first: Tensor, lengths: Tensor, longest: int
) -> Tensor:
    """Return self-attention within each of S sentences, from the rows `first` on, (N, dim); 0 for other rows."""
    d, rest = divmod(query.size(-1), heads)
    if rest or query.dim() != 2 or not supports(query, d):
        raise ValueError(f"query must be (N, dim), float or bfloat16, on cpu, its heads of a multiple of {BLOCK}")
    strides = [_row_stride(name, x, query) for name, x in (("query", query), ("keys", keys), ("values", values))]
    output = query.new_zeros(query.shape)
    loader.library().self_attention(
        HALF[query.dtype], torch.get_num_threads(), len(query), len(first), longest, heads, d, *strides,
        require("first", first, torch.int32, len(first)), require("lengths", lengths, torch.int32, len(first)),
        query.data_ptr(), keys.data_ptr(), values.data_ptr(), output.data_ptr(),
    )  # fmt: skip
    return output


def reads_recurrent(layers: Sequence[Any]) -> bool:
    """Return True if `RecurrentLayer` can read linear layers of these sizes."""
    return layers[0].in_features % _FOUR == 0 and layers[1].in_features % BLOCK == 0


def recurrent_layer(kind: str, layers: Sequence[Any]) -> RecurrentLayer | None:
    """Return a `RecurrentLayer`, or None where there is no kernel that can read these linear layers."""
    fits = reads_recurrent(layers) and loader.library() is not None
    for layer in layers:
        fits &= layer.product is not None if hasattr(layer, "int8") else supports(layer.weight)
    return RecurrentLayer(kind, layers) if fits else None


class RecurrentLayer:
    """A recurrent layer that reads sentences in both directions.

    kind: one of `KINDS`: an LSTM, or rescans that read towards the target or from it to the boundary
    layers: linear layers, all with float weights or all with a `product` of integers: in the direction of the words
        that of words (gates · width, inputs) and that of states (gates · width, width), then those backwards
    """

    def __init__(self, kind: str, layers: Sequence[Any]) -> None:
        self._from = kind, layers
        self.kind, self.inputs, self.width = KINDS.index(kind), layers[0].in_features, layers[1].in_features
        self._products = [getattr(layer, "product", None) or _floats(layer) for layer in layers]  # keeps their memory
        outputs = (3 if self.kind else 4) * self.width
        for product, inputs in zip(self._products, 2 * (self.inputs, self.width), strict=True):
            if (product.as_c.outputs, product.as_c.inputs) != (outputs, inputs):
                raise ValueError(f"the weight must be ({outputs}, {inputs})")
        self._as_c = (WeightsAsC * len(layers))(*(product.as_c for product in self._products))

    def __reduce__(self) -> tuple:
        return recurrent_layer, self._from

    def __call__(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Return the states (B, P, 2 · width) at the words of B sentences, 0 at other rows of x (B, P, inputs)."""
        batch, longest, _ = x.shape
        words, lengths = x.float().contiguous(), lengths.int()
        first = longest * torch.arange(batch, dtype=torch.int32)
        output = words.new_zeros(batch, longest, 2 * self.width)
        loader.library().recurrent_layer(
            torch.get_num_threads(), self.kind, batch * longest, batch, longest, self.width, first.data_ptr(),
            require("lengths", lengths, torch.int32, batch), ctypes.byref(self._as_c),
            require("x", words, torch.float, batch, longest, self.inputs), output.data_ptr(),
        )  # fmt: skip
        return output.to(x.dtype)


def _floats(layer: nn.Linear) -> FloatWeights:
    weight = layer.weight.detach().float()
    return FloatWeights(weight, weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.detach().float())


def letter_maxima(letters: Tensor, sizes: Sequence[int], tables: Tensor, biases: Tensor) -> Tensor:
    """Return the maximum, at least 0, of each of F filters of each window over a word's letters, (W, windows × F)."""
    if letters.dim() != 2 or not 0 < letters.size(1) <= _LETTERS:
        raise ValueError(f"letters must be (W, L), L from 1 to {_LETTERS}; it is {tuple(letters.shape)}")
    (words, most), symbols, (windows, filters) = letters.shape, tables.size(1), biases.shape
    if len(sizes) != windows or min(sizes) < 1 or filters % _FILTERS:
        raise ValueError(f"there must be a size for each of {windows} windows, of a multiple of {_FILTERS} filters")
    output = biases.new_empty(words, windows * filters)
    loader.library().letter_maxima(
        torch.get_num_threads(), words, most, symbols, windows, filters, (SIZE * windows)(*sizes),
        require("letters", letters, torch.long, words, most),
        require("tables", tables, torch.float, sum(sizes), symbols, filters),
        require("biases", biases, torch.float, windows, filters), output.data_ptr(),
    )  # fmt: skip
    return output


def add_and_normalise(x: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Add `added` (R, dim) to `x` (R, dim) in place, and return the layer norm of the sum, (R, dim)."""
    if x.dim() != 2 or not supports(x, x.shape[1]):
        raise ValueError(f"x must be (R, dim), float or bfloat16, on cpu, its rows of a multiple of {BLOCK} numbers")
    dtype, (rows, dim) = x.dtype, x.shape
    weight, bias = norm.weight, norm.bias
    if weight is None or bias is None:
        raise ValueError("the norm must have a weight and a bias")
    if added.dtype is not dtype or not added.is_contiguous():
        added = added.to(dtype).contiguous()
    normal = torch.empty_like(x)
    loader.library().add_and_normalise(
        HALF[dtype], rows, dim, require("x", x, dtype, rows, dim), require("added", added, dtype, rows, dim),
        require("the norm's weight", weight, dtype, dim), require("the norm's bias", bias, dtype, dim),
        norm.eps, normal.data_ptr(),
    )  # fmt: skip
    return normal


def products_of_pairs(many: Tensor, one: Tensor) -> Tensor:
    """Return the dot products (N, K) of vectors (N, K, dim) in bfloat16 with one float vector (N, dim) of each row."""
    rows, count, dim = many.shape
    products = one.new_empty(rows, count)
    loader.library().products_of_pairs(
        rows, count, dim, require("many", many, torch.bfloat16, rows, count, dim),
        require("one", one, torch.float, rows, dim), products.data_ptr(),
    )  # fmt: skip
    return products


def _row_stride(name: str, x: Tensor, like: Tensor) -> int:
    """Return the stride of the rows of x (N, dim). Raises `ValueError` if x is not like `like`, or has gaps in rows."""
    stride = x.stride(0) if x.dim() == 2 else 0
    if x.dtype is like.dtype and x.is_cpu and x.shape == like.shape and stride >= x.size(1) and x.stride(1) == 1:
        return stride
    raise ValueError(
        f"{name} must be {like.dtype}, {tuple(like.shape)}, on cpu, each row contiguous; it is {x.dtype}, "
        f"{tuple(x.shape)}, of strides {x.stride()}, on {x.device}"
    )
