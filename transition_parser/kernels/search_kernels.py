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
    "look_back": (_INT, *(_SIZE,) * 3, *(_POINTER,) * 2, _SIZE, *(_POINTER,) * 4),
    "look_at_words": (
        *(_INT, *(_SIZE,) * 3, *(_POINTER,) * 2, _SIZE, *(_POINTER,) * 5),
        *(_SIZE, _SIZE, _POINTER, _SIZE, _POINTER),
    ),
    "choose": (_INT, *(_SIZE,) * 3, *(_POINTER,) * 4, _SIZE, *(_POINTER,) * 3),
    "add_and_normalise": (_INT, _SIZE, _SIZE, *(_POINTER,) * 4, _FLOAT, _POINTER),
}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler that can make it."""
    return load_library("transition_parser.kernels._search_kernels", _ARGUMENTS)


def can_compute(like: Tensor, width: int = _BLOCK) -> bool:
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


def look_back(
    query: Tensor, heads: int, stored: Pointers, origin: Pointers, which: Pointers | None, asked: Tensor | None
) -> Tensor:
    """(N, dim) that self-attention finds; arguments as in C."""
    query = query.contiguous()
    found = torch.empty_like(query)
    failed = library().look_back(
        _is_half(query), len(query), heads, query.size(1) // heads, address(asked), query.data_ptr(), len(stored),
        stored.array, origin.array, None if which is None else which.array, found.data_ptr(),
    )  # fmt: skip
    return _checked(found, failed)


def look_at_words(
    query: Tensor,
    heads: int,
    memory: Tensor,
    sentence: Tensor,
    lengths: Tensor,
    roles: Tensor,
    places: tuple[Tensor, ...],
    window: int,
    positions: Tensor | None,
    asked: Tensor | None,
) -> Tensor:
    """(N, dim) that cross-attention finds, or self-attention of the words; arguments as in C."""
    if memory.dtype != query.dtype:
        raise ValueError(f"query is {query.dtype}, keys and values are {memory.dtype}")
    stride = places[0].stride(0) if places else 0
    if any(p.dtype != torch.long or p.stride() != (stride, 1) for p in places):
        raise ValueError("places must be int64, each row in one piece, and all alike")
    each = (_POINTER * max(len(places), 1))(*(p.data_ptr() for p in places))
    query = query.contiguous()
    found = torch.empty_like(query)
    failed = library().look_at_words(
        _is_half(query), len(query), heads, query.size(1) // heads, address(asked), query.data_ptr(), memory.size(1),
        memory.data_ptr(), sentence.data_ptr(), lengths.data_ptr(), roles.data_ptr(), each, stride, window,
        address(positions), 0 if positions is None else positions.size(1) - 1, found.data_ptr(),
    )  # fmt: skip
    return _checked(found, failed)


def add_and_normalise(x: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Adds to x (R, dim) in place; the layer norm of the sum."""
    added, normal = added.to(x.dtype).contiguous(), torch.empty_like(x)
    library().add_and_normalise(
        _is_half(x), len(x), x.size(1), x.data_ptr(), added.data_ptr(), norm.weight.data_ptr(), norm.bias.data_ptr(),
        norm.eps, normal.data_ptr(),
    )  # fmt: skip
    return normal


def choose(
    found: Tensor, rows: Tensor | None, legal: Tensor, totals: Tensor, beam: int
) -> tuple[Tensor, Tensor, Tensor]:
    """(B, beam) each: totals of the best continuations, what they add, and which they are: hypothesis × U + action.

    found: (N, U) scores before the softmax. rows: (N,), which of R rows they are of; None: all. Others have one legal
    action, or are dead. legal: (R, U) float. totals: (B, W) float, −inf for the dead.
    """
    sentences, width = totals.shape
    places = torch.arange(len(found))
    if rows is not None:
        places = torch.full((len(legal),), -1).index_copy_(0, rows, places)
    found, legal, totals = found.contiguous(), legal.contiguous(), totals.contiguous()
    best, added = totals.new_empty(2, sentences, beam)
    index = torch.empty(sentences, beam, dtype=torch.long)
    failed = library().choose(
        _is_half(found), sentences, width, legal.size(1), found.data_ptr(), places.data_ptr(), legal.data_ptr(),
        totals.data_ptr(), beam, best.data_ptr(), added.data_ptr(), index.data_ptr(),
    )  # fmt: skip
    return _checked(best.masked_fill_(best < _DEAD, float("-inf")), failed), added, index


def _is_half(x: Tensor) -> int:
    return int(x.dtype == torch.bfloat16)


def _checked(found: Tensor, failed: int) -> Tensor:
    if failed:
        raise MemoryError("no memory for search")
    return found
