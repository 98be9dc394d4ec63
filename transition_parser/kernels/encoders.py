"""The compiled parts of encoders and of attention on CPUs. Tensors without a dtype are float or bfloat16."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transition_parser.kernels import loader
from transition_parser.kernels.loader import BLOCK, HALF, SIZE, raise_problem, require, supports

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
    problem = loader.library().self_attention(
        HALF[query.dtype], torch.get_num_threads(), len(query), len(first), longest, heads, d, *strides,
        require("first", first, torch.int32, len(first)), require("lengths", lengths, torch.int32, len(first)),
        query.data_ptr(), keys.data_ptr(), values.data_ptr(), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def gated_step(found: Tensor, recurrent: Tensor, words: Tensor) -> Tensor:
    """Return the states of S passes of `SequencePreservedAttention` after one more of M words, (S, N, width)."""
    if found.dim() != 3 or not supports(found, found.size(2)):
        raise ValueError(f"found must be (S, N, width), float or bfloat16, on cpu, width a multiple of {BLOCK}")
    (passes, rows, width), read = found.shape, words.size(1) if words.dim() == 3 else 0
    if read == 0 or rows % read:
        raise ValueError(f"words must be (S, M, 3 width), {rows} a multiple of M; it is {tuple(words.shape)}")
    output = found.new_empty(passes, rows, width)
    problem = loader.library().gated_step(
        HALF[found.dtype], torch.get_num_threads(), passes, rows, read, width, found.stride(0), words.stride(0),
        _part("found", found, found.dtype, passes, rows, width),
        require("recurrent", recurrent, found.dtype, passes, rows, 3 * width),
        _part("words", words, found.dtype, passes, read, 3 * width), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return output


def letter_maxima(letters: Tensor, sizes: Sequence[int], tables: Tensor, biases: Tensor) -> Tensor:
    """Return the maximum, at least 0, of each of F filters of each window over a word's letters, (W, windows × F)."""
    if letters.dim() != 2 or not 0 < letters.size(1) <= _LETTERS:
        raise ValueError(f"letters must be (W, L), L from 1 to {_LETTERS}; it is {tuple(letters.shape)}")
    (words, most), symbols, (windows, filters) = letters.shape, tables.size(1), biases.shape
    if len(sizes) != windows or min(sizes) < 1 or filters % _FILTERS:
        raise ValueError(f"there must be a size for each of {windows} windows, of a multiple of {_FILTERS} filters")
    output = biases.new_empty(words, windows * filters)
    problem = loader.library().letter_maxima(
        torch.get_num_threads(), words, most, symbols, windows, filters, (SIZE * windows)(*sizes),
        require("letters", letters, torch.long, words, most),
        require("tables", tables, torch.float, sum(sizes), symbols, filters),
        require("biases", biases, torch.float, windows, filters), output.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
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


def _part(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> int:
    """Return the address of a tensor as `require` does, but allow gaps between `tensor[i]`."""
    if tensor.shape == shape and all(shape):
        require(name, tensor[0], dtype, *shape[1:])
        return tensor.data_ptr()
    return require(name, tensor, dtype, *shape)


def _row_stride(name: str, x: Tensor, like: Tensor) -> int:
    """Return the stride of the rows of x (N, dim). Raises `ValueError` if x is not like `like`, or has gaps in rows."""
    stride = x.stride(0) if x.dim() == 2 else 0
    if x.dtype is like.dtype and x.is_cpu and x.shape == like.shape and stride >= x.size(1) and x.stride(1) == 1:
        return stride
    raise ValueError(
        f"{name} must be {like.dtype}, {tuple(like.shape)}, on cpu, each row contiguous; it is {x.dtype}, "
        f"{tuple(x.shape)}, of strides {x.stride()}, on {x.device}"
    )
