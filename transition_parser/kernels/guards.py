"""What tensors must be like before C reads them: it reads memory as it is told to."""

from __future__ import annotations

import torch
from torch import Tensor

from transition_parser.base.errors import NotFiniteError


def require(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> int:
    """The address of a tensor of this type and shape, on the CPU and contiguous. Raises `ValueError` for others."""
    if tensor.dtype is dtype and tensor.shape == shape and tensor.is_cpu and tensor.is_contiguous():
        return tensor.data_ptr()
    raise ValueError(
        f"{name} must be {dtype}, {shape}, contiguous, on cpu; it is {tensor.dtype}, {tuple(tensor.shape)}, "
        f"{'' if tensor.is_contiguous() else 'not '}contiguous, on {tensor.device}"
    )


def raise_problem(problem: bytes | None) -> None:
    """Raises what a C function says of its arguments: it returns None, or what is wrong."""
    if problem is not None:
        said = problem.decode()
        kinds = {"no memory": MemoryError, "not finite": NotFiniteError}
        raise next((kind for words, kind in kinds.items() if words in said), ValueError)(said)
