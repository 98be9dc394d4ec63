"""What the actions of dependency systems cost, on CPUs: `costs_kernels.c`.

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
_FUNCTIONS: dict[str, Signature] = {"lost_arcs": (_PROBLEM, (*(_SIZE,) * 4, *(_POINTER,) * 11))}
_LOSSES = ("arc-hybrid", "arc-eager", "arc-standard")  # as in C
_FIELDS = 8  # of an effect
_WORDS = 4  # that effects name


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL | None:
    """The library; None where the package was set up without a compiler, or kernels are switched off."""
    return load_library("costs", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Whether the library is there, and can read such tensors."""
    return like.is_cpu and library() is not None


def lost_arcs(
    loss: str,
    effects: Tensor,
    root: Tensor,
    stack: Tensor,
    depth: Tensor,
    buffer: Tensor,
    left: Tensor,
    arcs: Tensor | None,
    words: Tensor,
    heads: Tensor,
    rank: Tensor | None,
) -> Tensor:
    """(K, R): how many gold arcs each action loses in each row, (K, 8) effects, of which the first must do nothing; all
    are int64.

    root: (R,). stack, buffer: (R, P + 1), of which depth and left (R,) count. arcs: (R, P + 1) the heads that words
    have, or None where no word on a stack has one. words: (R, 4), see `DependencyMachine.words`. heads: (R, P + 1)
    gold, the root's the root. rank: (R, P + 1) in projective order, with SWAP; else None.
    """
    rows, width, actions = stack.shape[0], stack.shape[1], effects.shape[0]
    lost = torch.empty(actions, rows, dtype=torch.long)
    if loss not in _LOSSES:
        raise ValueError(f"loss must be one of {', '.join(_LOSSES)}; it is {loss}")
    if width < 2:
        raise ValueError("stack must have room for a word and the root")

    def grid(name: str, tensor: Tensor | None) -> int | None:
        return None if tensor is None else require(name, tensor, torch.long, rows, width)

    problem = library().lost_arcs(
        rows, width, _LOSSES.index(loss), actions,
        require("effects", effects, torch.long, actions, _FIELDS), require("root", root, torch.long, rows),
        grid("stack", stack), require("depth", depth, torch.long, rows), grid("buffer", buffer),
        require("left", left, torch.long, rows), grid("arcs", arcs), require("words", words, torch.long, rows, _WORDS),
        grid("heads", heads), grid("rank", rank), lost.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return lost
