"""Rows of numbers as codes of 8 bits, and the scaling of their products: a part of `search_kernels.c`.

A code is round(127 x / m) + 128, where m is the size of the largest number of the row. So the codes of a row do not
depend on other rows.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transition_parser.kernels import search_kernels
from transition_parser.kernels.guards import require
from transition_parser.kernels.search_kernels import HALF

LARGEST, ZERO = 127, 128  # the largest code without its sign; the code of zero
TINY = 1e-30  # numbers as small as this count as zeros, so that no quotient is infinite
_ROUNDED = ZERO + 0.5  # conversion to an integer cuts off what is behind the point


def quantise_weights(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return the whole numbers round(127 w / m) of weights, (R, dim) int8, and m, (R, 1) float.

    m is the size of the largest weight of a row, at least `TINY`.

    weights: (R, dim) float
    """
    largest = weights.abs().amax(1, keepdim=True).clamp_(min=TINY)
    return (weights * (LARGEST / largest)).round_().to(torch.int8), largest


def quantise_rows(x: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return the codes of rows, (size, dim) uint8, and the size of the largest number of each row, (R, 1) float.

    The size is nan for a row with numbers that are not finite.

    x: (R, dim) float or bfloat16
    size: at least R; the rows of codes from R on have any content
    """
    rows, dim = x.shape
    if size < rows:
        raise ValueError(f"there must be room for {rows} rows, not {size}")
    codes = torch.empty(size, dim, dtype=torch.uint8, device=x.device)
    if not search_kernels.supports(x):
        largest = x.float().abs().amax(1, keepdim=True)
        largest = largest.where(largest.isfinite(), torch.nan)
        scale = (LARGEST / largest).where(largest > TINY, 0.0)
        codes[:rows] = torch.addcmul(x.new_tensor(_ROUNDED, dtype=torch.float), x.float().nan_to_num(), scale)
        return codes, largest
    x = x.contiguous()
    largest = x.new_empty(rows, 1, dtype=torch.float)
    search_kernels.library().quantise_rows(
        HALF[x.dtype], rows, dim, require("x", x, x.dtype, rows, dim), codes.data_ptr(), largest.data_ptr()
    )
    return codes, largest


def scale_rows(product: Tensor, largest: Tensor, bias: Tensor, relu: bool, dtype: torch.dtype) -> Tensor:
    """Return product × largest + bias for each row, (R, dim) of type `dtype`.

    product: (R or more, dim) float; only the first R rows are read; a float result overwrites them
    largest: (R, 1) float; see `quantise_rows`
    bias: (dim,) float
    relu: True to replace negative sums by 0
    """
    (more, dim), rows = product.shape, len(largest)
    if more < rows:
        raise ValueError(f"product must have {rows} rows or more, not {more}")
    if not (product.is_cpu and dtype in HALF and search_kernels.library()):
        found = torch.addcmul(bias, product[:rows], largest)
        return (found.relu_() if relu else found).to(dtype)
    output = product[:rows] if dtype is torch.float else product.new_empty(rows, dim, dtype=dtype)
    search_kernels.library().scale_rows(
        HALF[dtype], rows, dim, require("product", product, torch.float, more, dim),
        require("largest", largest, torch.float, rows, 1), require("bias", bias, torch.float, dim),
        int(relu), output.data_ptr(),
    )  # fmt: skip
    return output
