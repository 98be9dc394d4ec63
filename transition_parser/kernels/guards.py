"""Checks of tensors before C reads them, and lists of tensors that C reads by their addresses.

C cannot see the types, shapes and devices of tensors.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from transition_parser.base.errors import NotFiniteError

_FIRST, _MOST = 64, 1024  # the numbers of rows of the first chunk and of the largest chunk that `space` allocates


def require(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> int:
    """Return the address of a contiguous tensor on the CPU that has the given dtype and shape.

    Raises `ValueError` for any other tensor.
    """
    if tensor.dtype is dtype and tensor.shape == shape and tensor.is_cpu and tensor.is_contiguous():
        return tensor.data_ptr()
    raise ValueError(
        f"{name} must be {dtype}, {shape}, contiguous, on cpu; it is {tensor.dtype}, {tuple(tensor.shape)}, "
        f"{'' if tensor.is_contiguous() else 'not '}contiguous, on {tensor.device}"
    )


def optional(name: str, tensor: Tensor | None, dtype: torch.dtype, *shape: int) -> int | None:
    """Return the address of a tensor as `require` does, or None, which is NULL in C, for the tensor None."""
    return None if tensor is None else require(name, tensor, dtype, *shape)


def raise_problem(problem: bytes | None) -> None:
    """Raise the exception for the message that a C function returned; do nothing for None.

    Raises `MemoryError` if memory ran out, `NotFiniteError` for numbers that are not finite, and `ValueError` for any
    other wrong argument.
    """
    if problem is not None:
        said = problem.decode()
        kinds = {"no memory": MemoryError, "not finite": NotFiniteError}
        raise next((kind for words, kind in kinds.items() if words in said), ValueError)(said)


class Pointers:
    """A list of tensors with the same dtype and the same shape of rows. C can read their addresses and numbers of rows.

    The list keeps its tensors alive. None is stored as NULL.

    count: the number of entries
    last: the last tensor that was appended; None after `replace_last`
    array: the addresses; valid until the next call of `append`
    sizes: the numbers of rows; valid until the next call of `append`
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: Tensor | None = None
        self.array = (ctypes.c_void_p * _FIRST)()
        self.sizes = (ctypes.c_int64 * _FIRST)()
        self._tensors: list[Tensor | None] = []
        self._dtype: torch.dtype | None = None  # the type of all tensors
        self._row: tuple[int, ...] = ()  # the shape of a row of all tensors
        self._chunks: list[Tensor] = []
        self._used = 0  # the number of used rows of the last chunk

    def append(self, tensor: Tensor | None) -> None:
        """Append a tensor or None.

        Raises `ValueError` unless the tensor is contiguous, on the CPU, and has the dtype and the shape of rows of the
        first tensor of the list.
        """
        if self.count == len(self.array):
            self._grow()
        address, rows = None, 0
        if tensor is not None:
            rows, *row = tensor.shape
            if self._dtype is None:
                self._dtype, self._row = tensor.dtype, tuple(row)
            address = require("what is appended", tensor, self._dtype, rows, *self._row)
        self.array[self.count], self.sizes[self.count] = address, rows
        self._tensors.append(tensor)
        self.last = tensor
        self.count += 1

    def require(self, name: str, dtype: torch.dtype, *row: int) -> None:
        """Raise `ValueError` unless the tensors of the list have the given dtype and rows of the given shape."""
        if self._dtype is not None and (self._dtype, self._row) != (dtype, row):
            raise ValueError(f"{name} must be {dtype} with rows of {row}; it is {self._dtype} with rows of {self._row}")

    def space(self, rows: int) -> int:
        """Return the address of a buffer for `rows` rows, owned by this list.

        Buffers follow each other in memory as far as possible, because C reads consecutive rows faster.
        """
        if not self._chunks or self._used + rows > len(self._chunks[-1]):
            size = max(min(_FIRST << len(self._chunks), _MOST), rows)
            self._chunks.append(torch.empty(size, *self._row, dtype=self._dtype))
            self._used = 0
        chunk = self._chunks[-1]
        address = chunk.data_ptr() + self._used * chunk.stride(0) * chunk.element_size()
        self._used += rows
        return address

    def replace_last(self, address: int | None, rows: int) -> None:
        """Replace the last entry by an address and a number of rows, and drop its tensor."""
        self.array[self.count - 1], self.sizes[self.count - 1] = address, rows
        self._tensors[-1] = self.last = None

    def _grow(self) -> None:
        count = self.count
        array, sizes = (ctypes.c_void_p * (2 * count))(), (ctypes.c_int64 * (2 * count))()
        array[:count], sizes[:count] = self.array[:], self.sizes[:]
        self.array, self.sizes = array, sizes
