"""Lists of tensors that C reads by their addresses."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from transition_parser.kernels.guards import require

_FIRST, _MOST = 64, 1024  # rows of the first and of the largest chunks that `space` makes


class Pointers:
    """Addresses of tensors of one type and one size of rows, and how many rows each has, as C reads them; keeps the
    tensors. None is NULL.

    count: how many there are. last: what was appended last; None where `replace_last` took it away. array, sizes: the
    addresses and the numbers of rows, until something is appended.
    """

    def __init__(self) -> None:
        self.count = 0
        self.last: Tensor | None = None
        self.array = (ctypes.c_void_p * _FIRST)()
        self.sizes = (ctypes.c_int64 * _FIRST)()
        self._tensors: list[Tensor | None] = []
        self._dtype: torch.dtype | None = None  # of all, and the size of a row
        self._row: tuple[int, ...] = ()
        self._chunks: list[Tensor] = []
        self._used = 0  # rows of the last chunk

    def append(self, tensor: Tensor | None) -> None:
        """Raises `ValueError` unless tensor is like those before, on the CPU and contiguous."""
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
        """Raises `ValueError` unless the tensors are of this type, with rows of this size."""
        if self._dtype is not None and (self._dtype, self._row) != (dtype, row):
            raise ValueError(f"{name} must be {dtype} with rows of {row}; it is {self._dtype} with rows of {self._row}")

    def space(self, rows: int) -> int:
        """Where so many rows can be written that stay as long as this list does, and stand together with those that
        were written before."""
        if not self._chunks or self._used + rows > len(self._chunks[-1]):
            size = max(min(_FIRST << len(self._chunks), _MOST), rows)
            self._chunks.append(torch.empty(size, *self._row, dtype=self._dtype))
            self._used = 0
        chunk = self._chunks[-1]
        address = chunk.data_ptr() + self._used * chunk.stride(0) * chunk.element_size()
        self._used += rows
        return address

    def replace_last(self, address: int | None, rows: int) -> None:
        """What was appended last is elsewhere: its tensor is dropped."""
        self.array[self.count - 1], self.sizes[self.count - 1] = address, rows
        self._tensors[-1] = self.last = None

    def _grow(self) -> None:
        count = self.count
        array, sizes = (ctypes.c_void_p * (2 * count))(), (ctypes.c_int64 * (2 * count))()
        array[:count], sizes[:count] = self.array[:], self.sizes[:]
        self.array, self.sizes = array, sizes
