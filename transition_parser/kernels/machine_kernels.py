"""The compiled part of the machine of dependency systems on CPUs: `machine_kernels.c`."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import torch
from torch import Tensor

from transition_parser.kernels.loader import address, load_library

_SIZE, _POINTER = ctypes.c_int64, ctypes.c_void_p
_ARGUMENTS = {"take_actions": (_SIZE, _SIZE, *(_POINTER,) * 15), "ranks_from_end": (_SIZE, _SIZE, *(_POINTER,) * 3)}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler."""
    return load_library("transition_parser.kernels._machine_kernels", _ARGUMENTS)


def supports(like: Tensor) -> bool:
    """Whether the library is there, and can read such tensors."""
    return like.device.type == "cpu" and library() is not None


def take_actions(
    action: Tensor, relation: Tensor | None, effects: Tensor, root: Tensor, stack: Tensor, *state: Tensor | None
) -> Tensor:
    """Takes each row's action, (R,), in place. effects: (C, 8). state: what else the machine has, in the order of C.
    Returns the situations, (R,), as in C."""
    tensors = [action, relation, effects, root, stack, *state, torch.empty_like(action)]
    _check(*tensors)
    library().take_actions(*stack.shape, *map(address, tensors))
    return tensors[-1]


def ranks_from_end(array: Tensor, size: Tensor) -> Tensor:
    """(R, P): k for the k-th word from the end of the first `size` (R,) in array (R, P + 1), 0 for others."""
    _check(array, size)
    ranks = array.new_empty(len(array), array.size(1) - 1)
    library().ranks_from_end(*ranks.shape, *map(address, (array, size, ranks)))
    return ranks


def _check(*tensors: Tensor | None) -> None:
    if any(tensor is not None and (tensor.dtype != torch.long or not tensor.is_contiguous()) for tensor in tensors):
        raise ValueError("tensors must be int64, each in one piece")
