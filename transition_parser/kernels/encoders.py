"""The compiled parts of encoders and of attention on CPUs, and products of 8-bit integers, by `kernels.c`.

Tensors without a dtype are float or bfloat16. C computes a few rows at a time, so that intermediate results stay in the
cache of a core. A row of a linear layer depends on no other row, and a row of a layer of BERT on those of its own
sentence only.

With integers, a number x becomes round(127 x / m) + 128, where m is the largest absolute value in the row of x; a
weight w becomes round(127 w / m), where m is the largest absolute weight of its output.
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.process import at_most_avx2
from transition_parser.kernels import loader
from transition_parser.kernels.loader import BLOCK, FLOAT, HALF, POINTER, SIZE, require, supports

LARGEST, ZERO = 127, 128  # the largest absolute weight; a zero in a row
_TINY = 1e-30  # weights as small as this count as zeros, so that no quotient is infinite
_PANEL = 64  # the number of outputs that C computes together
_FOUR = 4  # the number of integers that C multiplies at once; the number of inputs must be a multiple of it
ACTIVATIONS = ("none", "relu", "gelu")  # in the order of the enum in C


def quantize_weights(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return weights as integers, (R, dim) int8, and the largest weight of each row, `_TINY` or more, (R, 1) float."""
    largest = weights.abs().amax(1, keepdim=True).clamp_(min=_TINY)
    return (weights * (LARGEST / largest)).round_().to(torch.int8), largest


class Int8Weights(NamedTuple):
    """The weights of a linear layer as integers."""

    integers: Tensor  # (outputs, inputs) int8
    scale: Tensor  # (outputs,) float; the largest absolute weight of each output / 127²
    bias: Tensor  # (outputs,) float

    @classmethod
    def together(cls, parts: Sequence[Int8Weights]) -> Int8Weights:
        """Return the weights of one layer whose outputs are the concatenated outputs of several layers."""
        return cls(*(torch.cat(some) for some in zip(*parts, strict=True)))


class WeightsAsC(ctypes.Structure):
    _fields_ = (
        *((name, POINTER) for name in ("weight", "start", "scale", "bias")),
        ("inputs", SIZE),
        ("outputs", SIZE),
    )


class FloatWeights:
    """The weights of a linear layer as floats or bfloat16; outputs that C computes together lie together."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        outputs, inputs = weight.shape
        panels = weight.view(-1, 2 * loader.library().lanes(), inputs).transpose(1, 2).contiguous()
        self._kept = panels, bias
        self.as_c = WeightsAsC(panels.data_ptr(), None, None, bias.data_ptr(), inputs, outputs)


class Int8Product:
    """The weights of a linear layer, as C reads them; `as_c` is valid as long as this object lives."""

    def __init__(self, weights: Int8Weights) -> None:
        self.outputs, self.inputs = weights.integers.shape
        more, further = -self.outputs % _PANEL, -self.inputs % _FOUR
        integers = F.pad(weights.integers, (0, further, 0, more))
        panels = integers.view(len(integers) // _PANEL, _PANEL, -1, _FOUR).transpose(1, 2).contiguous()
        start = -ZERO * integers.sum(1, dtype=torch.int32)
        scale, bias = (F.pad(part.float(), (0, more)).contiguous() for part in weights[1:])
        self._kept = panels, start, scale, bias  # so that the memory stays as long as the addresses
        self.as_c = WeightsAsC(*(part.data_ptr() for part in self._kept), integers.size(1), self.outputs)

    def address(self, outputs: int, inputs: int) -> int:
        """Return the address of `as_c`. Raises `ValueError` unless the layer has the given sizes."""
        if (outputs, inputs) != (self.outputs, self.inputs):
            raise ValueError(f"the weight must be ({outputs}, {inputs}); it is ({self.outputs}, {self.inputs})")
        return ctypes.addressof(self.as_c)

    def __call__(self, x: Tensor, activation: str) -> Tensor:
        """Return activation(x W^T + b), (R, outputs), for x (R, inputs) and one of `ACTIVATIONS`."""
        if x.dtype not in HALF:
            raise ValueError(f"x must be float or bfloat16; it is {x.dtype}")
        x = x.contiguous()
        output = x.new_empty(len(x), self.outputs)
        loader.library().int8_linear(
            HALF[x.dtype], torch.get_num_threads(), ACTIVATIONS.index(activation), len(x), self.inputs,
            ctypes.byref(self.as_c), require("x", x, x.dtype, len(x), self.inputs), output.data_ptr(),
        )  # fmt: skip
        return output


class Int8Layer(NamedTuple):
    """The weights of a layer of BERT. Linear layers have the shape (outputs, inputs)."""

    attention: Int8Product  # (3 dim, dim); the projections to queries, keys and values
    output: Int8Product  # (dim, dim); the output projection of attention
    inner: Int8Product  # (inner, dim); the first layer of feed-forward
    outer: Int8Product  # (dim, inner); the second layer of feed-forward
    norms: Sequence[nn.LayerNorm]  # after attention and after feed-forward


def has_amx() -> bool:
    """Return True if the CPU multiplies matrices in tiles (Intel's AMX)."""
    return bool(torch.cpu._is_amx_tile_supported()) and not at_most_avx2()


def has_fast_bf16(device: torch.device) -> bool:
    """Return True if the device multiplies bf16 matrices natively; elsewhere bf16 is emulated, and slow."""
    if device.type == "cpu":
        return has_amx() or (bool(torch.cpu._is_avx512_bf16_supported()) and not at_most_avx2())
    if device.type != "cuda":
        return False
    with torch.cuda.device(device):
        return torch.cuda.is_bf16_supported(including_emulation=False)


def machine() -> str:
    """Return the processor architecture, the number of cores, the GPUs and the Python version, as one line of text."""
    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return ", ".join([platform.machine(), f"{os.cpu_count()} cores", *gpus, f"Python {platform.python_version()}"])


def has_int8() -> bool:
    """Return True if the library is available and this processor can compute layers whose weights are integers."""
    return bool((library := loader.library()) and library.has_int8())


def supports_int8(dim: int, inner: int, heads: int) -> bool:
    """Return True if `int8_layers` can compute layers of these sizes on this machine."""
    fits = dim % _PANEL == 0 and inner % _PANEL == 0 and dim % heads == 0 and dim // heads % BLOCK == 0
    return fits and has_int8()


class Int8Stack:
    """The weights of several layers of BERT of one size, as `int8_layers` reads them. Others raise `ValueError`."""

    def __init__(self, layers: Sequence[Int8Layer], heads: int) -> None:
        self.dim, self.inner = layers[0].output.inputs, layers[0].inner.outputs
        self.heads, self.layers = heads, len(layers)
        if not supports_int8(self.dim, self.inner, heads):
            sizes = f"width {self.dim}, feed-forward {self.inner} and {heads} heads"
            raise ValueError(f"layers of integers of {sizes}: not supported by this processor or library")
        dim, inner = self.dim, self.inner
        shapes = (3 * dim, dim), (dim, dim), (inner, dim), (dim, inner)
        products, norms = [], []
        for *parts, of_layer in layers:
            for part, shape in zip(parts, shapes, strict=True):
                part.address(*shape)  # raises an error for wrong sizes
                products.append(part)
            norms += [part.detach() for norm in of_layer for part in (norm.weight, norm.bias)]
        self._kept = products, norms  # keeps the weights in memory: the arrays below hold only their addresses
        self.products = (WeightsAsC * len(products))(*(product.as_c for product in products))
        self.norms = (POINTER * len(norms))(*(require("norm", part, torch.float, dim) for part in norms))
        self.epsilons = (FLOAT * (2 * len(layers)))(*(norm.eps for layer in layers for norm in layer.norms))


def int8_layers(
    x: Tensor, stack: Int8Stack, first: Tensor, lengths: Tensor, longest: int, asking: Tensor | None = None
) -> Tensor:
    """Return the output of the last layer for the rows `asking` (ascending; None: all) of x, (A, dim) float."""
    if asking is None:
        asking = torch.arange(len(x))
    output = x.new_empty(len(asking), stack.dim)
    addresses: Any = (
        require("first", first, torch.int32, len(first)), require("lengths", lengths, torch.int32, len(first)),
        require("asking", asking, torch.long, len(asking)), require("x", x, torch.float, len(x), stack.dim),
        output.data_ptr(),
    )  # fmt: skip
    loader.library().int8_layers(
        torch.get_num_threads(), len(x), len(first), longest, len(asking), stack.dim, stack.heads, stack.inner,
        stack.layers, stack.products, stack.norms, stack.epsilons, *addresses,
    )  # fmt: skip
    return output


# --- floats -----------------------------------------------------------------------------------


KINDS = ("lstm", "to target", "to boundary")  # of recurrent layers, in the order of the enum in C
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


def recurrent_layer(kind: str, layers: Sequence[Any]) -> RecurrentLayer | None:
    """Return a `RecurrentLayer`, or None where there is no kernel that can read these linear layers."""
    fits = layers[0].in_features % _FOUR == 0 and layers[1].in_features % BLOCK == 0
    fits = fits and all(hasattr(layer, "product") or supports(layer.weight) for layer in layers)
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
