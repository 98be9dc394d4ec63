"""Linear layers, and layers of BERT, that multiply 8-bit integers instead of floats, by `kernels.c`.

C computes a few rows at a time, so that intermediate results stay in the cache of a core. A row of a linear layer
depends on no other row. A row of a layer of BERT depends on the rows of its own sentence only.

A number x becomes round(127 x / m) + 128, where m is the largest absolute value in the row of x; a weight w becomes
round(127 w / m), where m is the largest absolute weight of its output.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import loader
from transition_parser.kernels.loader import BLOCK, FLOAT, HALF, POINTER, SIZE, require

LARGEST, ZERO = 127, 128  # the largest absolute weight; a zero in a row
TINY = 1e-30  # numbers as small as this count as zeros, so that no quotient is infinite
_ROUNDED = ZERO + 0.5  # conversion to an integer drops the fraction
_PANEL = 64  # the number of outputs that C computes together
_FOUR = 4  # the number of integers that C multiplies at once
ACTIVATIONS = ("none", "relu", "gelu")  # in the order of the enum in C


def quantise_weights(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return weights as integers, (R, dim) int8, and the largest weight of each row, `TINY` or more, (R, 1) float."""
    largest = weights.abs().amax(1, keepdim=True).clamp_(min=TINY)
    return (weights * (LARGEST / largest)).round_().to(torch.int8), largest


def quantise_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the integers of rows, (R, dim) uint8, and the largest value of each (nan if not finite), (R, 1) float."""
    x = x.float()
    largest = x.abs().amax(1, keepdim=True)
    largest = largest.where(largest.isfinite(), torch.nan)
    scale = (LARGEST / largest).where(largest > TINY, 0.0)
    return torch.addcmul(x.new_tensor(_ROUNDED), x.nan_to_num(), scale).to(torch.uint8), largest


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


def has_int8() -> bool:
    """Return True if the library is available and this processor can compute layers whose weights are integers."""
    return bool((library := loader.library()) and library.has_int8())


def supports(dim: int, inner: int, heads: int) -> bool:
    """Return True if `int8_layers` can compute layers of these sizes on this machine."""
    fits = dim % _PANEL == 0 and inner % _PANEL == 0 and dim % heads == 0 and dim // heads % BLOCK == 0
    return fits and has_int8()


class Int8Stack:
    """The weights of several layers of BERT of one size, as `int8_layers` reads them. Others raise `ValueError`."""

    def __init__(self, layers: Sequence[Int8Layer], heads: int) -> None:
        if not has_int8():
            raise ValueError("layers whose weights are integers: not supported by this processor")
        self.dim, self.inner = layers[0].output.inputs, layers[0].inner.outputs
        self.heads, self.layers = heads, len(layers)
        if not supports(self.dim, self.inner, heads):
            raise ValueError(f"layers of width {self.dim}, feed-forward {self.inner} and {heads} heads: not supported")
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
