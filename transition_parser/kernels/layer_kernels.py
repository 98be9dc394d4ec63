"""Layers of BERT with products of codes of 8 bits: a part of `search_kernels.c`.

A few sentences at a time go through all layers, and nothing between the layers leaves the cache of a processor's core.
The result of a row depends on its own sentence only. See `code_kernels` for codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.kernels import search_kernels
from transition_parser.kernels.code_kernels import ZERO
from transition_parser.kernels.guards import raise_problem, require
from transition_parser.kernels.loader import FLOAT, POINTER

_PANEL = 64  # C computes so many columns of a product together: sizes must be multiples
_FOUR = 4  # C multiplies so many codes at once


class CodedWeights(NamedTuple):
    """The weights of a linear layer as codes.

    codes: (outputs, inputs) int8; the weights
    scale: (outputs,) float; see `code_kernels.quantise_weights`
    bias: (outputs,) float
    """

    codes: Tensor
    scale: Tensor
    bias: Tensor

    @classmethod
    def together(cls, parts: Sequence[CodedWeights]) -> CodedWeights:
        """Return the weights of a layer whose outputs are those of several layers, one after another."""
        return cls(*(torch.cat(some) for some in zip(*parts, strict=True)))


class CodedLayer(NamedTuple):
    """A layer of BERT.

    attention: (3 dim, dim) codes; queries, keys and values
    output: (dim, dim) codes; of what the heads have read
    inner: (inner, dim) codes; the first layer of feed-forward
    outer: (dim, inner) codes; the second layer of feed-forward
    norms: the norms behind attention and behind feed-forward
    """

    attention: CodedWeights
    output: CodedWeights
    inner: CodedWeights
    outer: CodedWeights
    norms: Sequence[nn.LayerNorm]


def supports(dim: int, inner: int, heads: int) -> bool:
    """Return True if `coded_layers` computes on this machine with layers of these sizes."""
    fits = dim % _PANEL == 0 and inner % _PANEL == 0 and dim % heads == 0 and dim // heads % search_kernels.BLOCK == 0
    return fits and bool((library := search_kernels.library()) and library.has_coded_layers())


class CodedStack:
    """The weights of layers, as `coded_layers` reads them.

    heads: the number of heads of each layer

    Raises `ValueError` for layers that the kernel can't read.
    """

    def __init__(self, layers: Sequence[CodedLayer], heads: int) -> None:
        self.dim, self.inner = layers[0].output.codes.size(1), layers[0].inner.codes.size(0)
        self.heads, self.layers = heads, len(layers)
        if not supports(self.dim, self.inner, heads):
            raise ValueError(f"layers of width {self.dim}, feed-forward {self.inner} and {heads} heads: not supported")
        dim, inner = self.dim, self.inner
        shapes = (3 * dim, dim), (dim, dim), (inner, dim), (dim, inner)
        self._kept: list[Tensor] = []  # so that the memory stays as long as the addresses
        products, norms = [], []
        for *parts, of_layer in layers:
            for part, shape in zip(parts, shapes, strict=True):
                products += self._product(part, *shape)
            for norm in of_layer:
                norms += [self._keep("norm", part, torch.float, dim) for part in (norm.weight, norm.bias)]
        self.products, self.norms = (POINTER * len(products))(*products), (POINTER * len(norms))(*norms)
        self.epsilons = (FLOAT * (2 * len(layers)))(*(norm.eps for layer in layers for norm in layer.norms))

    def _product(self, weights: CodedWeights, outputs: int, inputs: int) -> list[int]:
        """Return the addresses of weights (in the order in which C reads them), start, scale and bias."""
        require("codes", weights.codes, torch.int8, outputs, inputs)
        panels = weights.codes.view(outputs // _PANEL, _PANEL, inputs // _FOUR, _FOUR).transpose(1, 2).contiguous()
        start = -ZERO * weights.codes.sum(1, dtype=torch.int32)
        return [
            self._keep("codes", panels, torch.int8, *panels.shape),
            self._keep("start", start, torch.int32, outputs),
            self._keep("scale", weights.scale, torch.float, outputs),
            self._keep("bias", weights.bias, torch.float, outputs),
        ]

    def _keep(self, name: str, part: Tensor, dtype: torch.dtype, *shape: int) -> int:
        self._kept.append(part.detach())
        return require(name, self._kept[-1], dtype, *shape)


def coded_layers(
    x: Tensor, stack: CodedStack, first: Tensor, lengths: Tensor, longest: int, asking: Tensor | None = None
) -> Tensor:
    """Return the output of all layers, (A, dim) float, of the rows that ask.

    x: (R, dim) float; the rows of sentences that follow one another
    first: (S,) int32; the first row of each sentence
    lengths: (S,) int32; the number of rows of each sentence
    longest: the largest number of rows that a sentence may have
    asking: (A,) int64; the rows that ask, which ascend; None if all rows ask
    """
    if asking is None:
        asking = torch.arange(len(x))
    output = x.new_empty(len(asking), stack.dim)
    addresses: Any = (
        require("first", first, torch.int32, len(first)), require("lengths", lengths, torch.int32, len(first)),
        require("asking", asking, torch.long, len(asking)), require("x", x, torch.float, len(x), stack.dim),
        output.data_ptr(),
    )  # fmt: skip
    problem = search_kernels.library().coded_layers(
        torch.get_num_threads(), len(x), len(first), longest, len(asking), stack.dim, stack.heads, stack.inner,
        stack.layers, stack.products, stack.norms, stack.epsilons, *addresses,
    )  # fmt: skip
    raise_problem(problem)
    return output
