"""The compiled part of search and of its encoder on CPUs: `search_kernels.c`, called through ctypes, without Python's
lock."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import torch
from torch import Tensor, nn

from transition_parser.kernels.loader import address, load_library

_BLOCK = 32  # numbers that are read at once: a head must have a multiple

_DEAD = -1e30  # totals below are of no hypothesis

_INT, _SIZE, _FLOAT, _POINTER = ctypes.c_int, ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
_ARGUMENTS = {
    "cached_self_attention": (_INT, *(_SIZE,) * 3, *(_POINTER,) * 2, _SIZE, *(_POINTER,) * 4),
    "cross_attention": (
        *(_INT, *(_SIZE,) * 3, *(_POINTER,) * 2, _SIZE, *(_POINTER,) * 5),
        *(_SIZE, _SIZE, _POINTER, _SIZE, _POINTER),
    ),
    "best_continuations": (_INT, *(_SIZE,) * 3, *(_POINTER,) * 4, _SIZE, *(_POINTER,) * 3),
    "add_and_normalise": (_INT, _SIZE, _SIZE, *(_POINTER,) * 4, _FLOAT, _POINTER),
}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler that can make it."""
    return load_library("transition_parser.kernels._search_kernels", _ARGUMENTS)


def supports(like: Tensor, width: int = _BLOCK) -> bool:
    """Whether the library is there, and computes with such tensors, in heads or rows of so many numbers."""
    fits = like.device.type == "cpu" and like.dtype in (torch.float, torch.bfloat16) and width % _BLOCK == 0
    return fits and library() is not None


class Pointers:
    """Addresses of tensors, as C reads them; keeps the tensors. None is NULL."""

    def __init__(self) -> None:
        self._tensors: list[Tensor | None] = []
        self._array = (_POINTER * 64)()

    def __len__(self) -> int:
        return len(self._tensors)

    def append(self, tensor: Tensor | None) -> None:
        """tensor: as C takes it, and in one piece."""
        count = len(self._tensors)
        if count == len(self._array):
            longer = (_POINTER * (2 * count))()
            longer[:count] = self._array[:]
            self._array = longer
        self._array[count] = address(tensor)
        self._tensors.append(tensor)

    @property
    def array(self) -> ctypes.Array:
        """The addresses, for as long as nothing is appended."""
        return self._array


def cached_self_attention(
    query: Tensor, heads: int, cache: Pointers, origin: Pointers, cache_row: Pointers | None, rows: Tensor | None
) -> Tensor:
    """(N, dim), the output of self-attention; arguments as in C."""
    query = query.contiguous()
    output = torch.empty_like(query)
    failed = library().cached_self_attention(
        _is_half(query), len(query), heads, query.size(1) // heads, address(rows), query.data_ptr(), len(cache),
        cache.array, origin.array, None if cache_row is None else cache_row.array, output.data_ptr(),
    )  # fmt: skip
    return _checked(output, failed)


def cross_attention(
    query: Tensor,
    heads: int,
    memory: Tensor,
    sentence: Tensor,
    lengths: Tensor,
    roles: Tensor,
    ranks: tuple[Tensor, ...],
    window: int,
    positions: Tensor | None,
    rows: Tensor | None,
) -> Tensor:
    """(N, dim), the output of cross-attention, or of self-attention of the words; arguments as in C."""
    if memory.dtype != query.dtype:
        raise ValueError(f"query is {query.dtype}, keys and values are {memory.dtype}")
    stride = ranks[0].stride(0) if ranks else 0
    if any(r.dtype != torch.long or r.stride() != (stride, 1) for r in ranks):
        raise ValueError("ranks must be int64, each row in one piece, and all alike")
    each = (_POINTER * max(len(ranks), 1))(*(r.data_ptr() for r in ranks))
    query = query.contiguous()
    output = torch.empty_like(query)
    failed = library().cross_attention(
        _is_half(query), len(query), heads, query.size(1) // heads, address(rows), query.data_ptr(), memory.size(1),
        memory.data_ptr(), sentence.data_ptr(), lengths.data_ptr(), roles.data_ptr(), each, stride, window,
        address(positions), 0 if positions is None else positions.size(1) - 1, output.data_ptr(),
    )  # fmt: skip
    return _checked(output, failed)


def add_and_normalise(x: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Adds to x (R, dim) in place; the layer norm of the sum."""
    added, normal = added.to(x.dtype).contiguous(), torch.empty_like(x)
    library().add_and_normalise(
        _is_half(x), len(x), x.size(1), x.data_ptr(), added.data_ptr(), norm.weight.data_ptr(), norm.bias.data_ptr(),
        norm.eps, normal.data_ptr(),
    )  # fmt: skip
    return normal


def best_continuations(
    scores: Tensor, rows: Tensor | None, legal: Tensor, totals: Tensor, beam: int
) -> tuple[Tensor, Tensor, Tensor]:
    """(B, beam) each: totals of the best continuations, what they add, and which they are: hypothesis × U + action.

    scores: (N, U), before the softmax. rows: (N,), which of R rows they are of; None: all. Others have one legal
    action, or are dead. legal: (R, U) float. totals: (B, W) float, −inf for the dead.
    """
    sentences, width = totals.shape
    scores_row = torch.arange(len(scores))
    if rows is not None:
        scores_row = torch.full((len(legal),), -1).index_copy_(0, rows, scores_row)
    scores, legal, totals = scores.contiguous(), legal.contiguous(), totals.contiguous()
    best, added = totals.new_empty(2, sentences, beam)
    index = torch.empty(sentences, beam, dtype=torch.long)
    failed = library().best_continuations(
        _is_half(scores), sentences, width, legal.size(1), scores.data_ptr(), scores_row.data_ptr(), legal.data_ptr(),
        totals.data_ptr(), beam, best.data_ptr(), added.data_ptr(), index.data_ptr(),
    )  # fmt: skip
    return _checked(best.masked_fill_(best < _DEAD, float("-inf")), failed), added, index


def _is_half(x: Tensor) -> int:
    return int(x.dtype == torch.bfloat16)


def _checked(output: Tensor, failed: int) -> Tensor:
    if failed:
        raise MemoryError("no memory for search")
    return output
