"""Checks of tensors before C reads them, because C cannot see their types, shapes and devices."""

from __future__ import annotations

import torch
from torch import Tensor

from transition_parser.base.errors import NotFiniteError


def require(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> int:
    """Return the address of a tensor of this type and shape, contiguous and on the CPU.

    Raises `ValueError` for any other tensor.
    """
    if tensor.dtype is dtype and tensor.shape == shape and tensor.is_cpu and tensor.is_contiguous():
        return tensor.data_ptr()
    raise ValueError(
        f"{name} must be {dtype}, {shape}, contiguous, on cpu; it is {tensor.dtype}, {tuple(tensor.shape)}, "
        f"{'' if tensor.is_contiguous() else 'not '}contiguous, on {tensor.device}"
    )


def raise_problem(problem: bytes | None) -> None:
    """Raise the exception for the message that a C function returned; do nothing for None.

    Raises `MemoryError` if memory ran out, `NotFiniteError` for numbers that are not finite, and `ValueError` for any
    other wrong argument.
    """
    if problem is not None:
        said = problem.decode()
        kinds = {"no memory": MemoryError, "not finite": NotFiniteError}
        raise next((kind for words, kind in kinds.items() if words in said), ValueError)(said)
