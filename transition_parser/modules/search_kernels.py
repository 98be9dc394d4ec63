"""The compiled part of search on CPUs: `search_kernels.c`, called through ctypes, which frees Python's lock meanwhile."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from importlib.util import find_spec

import torch
from torch import Tensor

_BLOCK = 32  # numbers that are read at once: a head must have a multiple

_INT, _SIZE, _POINTER = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p
_ARGUMENTS = {
    "look_back": (_INT, _SIZE, _SIZE, _SIZE, _POINTER, _SIZE, _POINTER, _POINTER, _POINTER, _POINTER),
    "look_at_words": (
        *(_INT, _SIZE, _SIZE, _SIZE, _POINTER, _SIZE, _POINTER, _POINTER, _POINTER, _POINTER),
        *(_POINTER, _SIZE, _SIZE, _POINTER, _SIZE, _POINTER),
    ),
}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler that can make it."""
    spec = find_spec("transition_parser.modules._search_kernels")
    if spec is None or spec.origin is None:
        return None
    found = ctypes.CDLL(spec.origin)
    for name, arguments in _ARGUMENTS.items():
        getattr(found, name).argtypes = arguments
    return found


def can_compute(like: Tensor, head_dim: int) -> bool:
    """Whether the library is there, and computes with such tensors, in heads of so many numbers."""
    fits = like.device.type == "cpu" and like.dtype in (torch.float, torch.bfloat16) and head_dim % _BLOCK == 0
    return fits and library() is not None


class Pointers:
    """Addresses of tensors, as C reads them; keeps the tensors. None is NULL."""

    def __init__(self) -> None:
        self._tensors: list[Tensor | None] = []
        self._array = (_POINTER * 64)()

    def __len__(self) -> int:
        return len(self._tensors)

    def append(self, tensor: Tensor | None) -> None:
        """tensor: contiguous, or as its user takes it."""
        count = len(self._tensors)
        if count == len(self._array):
            longer = (_POINTER * (2 * count))()
            longer[:count] = self._array[:]
            self._array = longer
        self._array[count] = None if tensor is None else tensor.data_ptr()
        self._tensors.append(tensor)

    def __getitem__(self, place: int) -> Tensor | None:
        return self._tensors[place]

    @property
    def address(self) -> ctypes.Array:
        """The array, for as long as nothing is appended."""
        return self._array


def look_back(query: Tensor, heads: int, stored: Pointers, origin: Pointers, which: Pointers | None) -> Tensor:
    """(R, dim) that self-attention finds; arguments as in C, where query has R rows, or as many as stored[-1]."""
    last = which[-1] if which is not None else None
    rows, dim = (len(query) if last is None else len(last)), query.size(1)
    found = query.new_empty(rows, dim)
    query = query.contiguous()
    failed = library().look_back(
        _is_half(query), rows, heads, dim // heads, query.data_ptr(), len(stored), stored.address, origin.address,
        None if which is None else which.address, found.data_ptr(),
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
) -> Tensor:
    """(R, dim) that cross-attention finds; arguments as in C."""
    rows, dim = query.shape
    found = query.new_empty(rows, dim)
    query = query.contiguous()
    stride = places[0].stride(0) if places else 0
    if any(p.dtype != torch.long or p.stride() != (stride, 1) for p in places):
        raise ValueError("places must be int64, each row in one piece, and all alike")
    each = (_POINTER * max(len(places), 1))(*(p.data_ptr() for p in places))
    failed = library().look_at_words(
        _is_half(query), rows, heads, dim // heads, query.data_ptr(), memory.size(1), memory.data_ptr(),
        sentence.data_ptr(), lengths.data_ptr(), roles.data_ptr(), each, stride, window,
        None if positions is None else positions.data_ptr(), 0 if positions is None else positions.size(1) - 1,
        found.data_ptr(),
    )  # fmt: skip
    return _checked(found, failed)


def _is_half(x: Tensor) -> int:
    return int(x.dtype == torch.bfloat16)


def _checked(found: Tensor, failed: int) -> Tensor:
    if failed:
        raise MemoryError("no memory for attention in search")
    return found
