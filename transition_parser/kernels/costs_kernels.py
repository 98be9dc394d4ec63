"""The compiled part of arc-standard's costs on CPUs: `costs_kernels.c`.

Every tensor that C reads is checked: its type and shape here, its numbers in C as they are read. What does not fit is a
`ValueError`.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache

import torch
from torch import Tensor

from transition_parser.kernels.guards import raise_problem, require
from transition_parser.kernels.loader import Signature, load_library

_SIZE, _POINTER, _PROBLEM = ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p
_FUNCTIONS: dict[str, Signature] = {"arcs_given_up": (_PROBLEM, (*(_SIZE,) * 2, *(_POINTER,) * 7))}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler, or kernels are switched off."""
    return load_library("costs", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Whether the library is there, and can read such tensors."""
    return like.is_cpu and library() is not None


def arcs_given_up(
    stack: Tensor, depth: Tensor, buffer: Tensor, heads: Tensor, root: Tensor, rank: Tensor | None
) -> Tensor:
    """(N,): see `standard_arcs.arcs_given_up`, whose arguments these are; int64, and buffer bool."""
    rows, width = stack.shape
    if not width:
        raise ValueError("stack must have room for a word")
    given_up = torch.empty_like(depth)
    grids = [require(name, grid, torch.long, rows, width) for name, grid in (("stack", stack), ("heads", heads))]
    problem = library().arcs_given_up(
        rows, width, grids[0], require("depth", depth, torch.long, rows),
        require("buffer", buffer, torch.bool, rows, width), grids[1], require("root", root, torch.long, rows),
        None if rank is None else require("rank", rank, torch.long, rows, width), given_up.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return given_up
