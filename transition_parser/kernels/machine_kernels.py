"""The compiled part of the machine of dependency systems on CPUs: `machine_kernels.c`.

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
_FUNCTIONS: dict[str, Signature] = {
    "take_actions": (_PROBLEM, (*(_SIZE,) * 3, *(_POINTER,) * 15)),
    "ranks_from_end": (_PROBLEM, (*(_SIZE,) * 2, *(_POINTER,) * 3)),
}
_FIELDS = 8  # of an effect


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler, or kernels are switched off."""
    return load_library("machine", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Whether the library is there, and can read such tensors."""
    return like.is_cpu and library() is not None


def take_actions(
    action: Tensor,
    relation: Tensor | None,
    effects: Tensor,
    root: Tensor,
    stack: Tensor,
    depth: Tensor,
    buffer: Tensor,
    left: Tensor,
    heads: Tensor | None,
    relations: Tensor | None,
    swaps_left: Tensor | None,
    *words: Tensor,
) -> Tensor:
    """Takes each row's action, (R,), in place; all are int64. Returns the situations, (R,), as in C.

    effects: (C, 8), of which action says one. relation: (R,), of the arcs. root: (R,). stack, buffer: (R, P + 1), of
    which depth and left (R,) count. heads, relations: (R, P + 1), or None with relation. swaps_left: (R,), or None.
    words: (R,) each, those on top of the stack, below it, and at the front of the buffer.
    """
    if (relation is None) != (heads is None) or (heads is None) != (relations is None) or len(words) != 3:
        raise ValueError("relation, heads and relations go together, and words are three")
    rows, width, columns = stack.shape[0], stack.shape[1], effects.shape[0]
    if not width:
        raise ValueError("stack must have room for a word")
    situation = torch.empty_like(action)
    problem = library().take_actions(
        rows, width, columns, _row("action", action, rows), _row("relation", relation, rows),
        require("effects", effects, torch.long, columns, _FIELDS), _row("root", root, rows),
        _grid("stack", stack, rows, width), _row("depth", depth, rows), _grid("buffer", buffer, rows, width),
        _row("left", left, rows), _grid("heads", heads, rows, width), _grid("relations", relations, rows, width),
        _row("swaps_left", swaps_left, rows), *(_row("a word", word, rows) for word in words), situation.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return situation


def ranks_from_end(array: Tensor, size: Tensor) -> Tensor:
    """(R, P): k for the k-th word from the end of the first `size` (R,) in array (R, P + 1), 0 for others."""
    rows, width = array.shape[0], array.shape[1]
    if not width:
        raise ValueError("array must have room for a word")
    ranks = array.new_empty(rows, width - 1)
    raise_problem(
        library().ranks_from_end(
            rows, width - 1, _grid("array", array, rows, width), _row("size", size, rows), ranks.data_ptr()
        )
    )
    return ranks


def _row(name: str, tensor: Tensor | None, rows: int) -> int | None:
    return None if tensor is None else require(name, tensor, torch.long, rows)


def _grid(name: str, tensor: Tensor | None, rows: int, width: int) -> int | None:
    return None if tensor is None else require(name, tensor, torch.long, rows, width)
