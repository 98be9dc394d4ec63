"""The compiled costs of the actions of dependency systems on CPUs: `costs_kernels.c`.

`lost_arcs` checks types and shapes of tensors, and C checks the numbers. A tensor that does not fit raises
`ValueError`. Dimensions: K actions, R rows (hypotheses), P words of the longest sentence and its root.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transition_parser.kernels.guards import optional, raise_problem, require
from transition_parser.kernels.loader import POINTER, PROBLEM, SIZE, Signature, lazy_library

_FUNCTIONS: dict[str, Signature] = {"lost_arcs": (PROBLEM, (*(SIZE,) * 4, *(POINTER,) * 11))}
_LOSSES = ("arc-hybrid", "arc-eager", "arc-standard")  # in the order of the enum in costs_kernels.c
_FIELDS = 8  # the number of fields of an effect
_WORDS = 4  # the number of words that effects can name
library = lazy_library("costs", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Return True if the library is available and `like` is on the CPU."""
    return like.is_cpu and library() is not None


def lost_arcs(
    loss: str,
    effects: Tensor,
    root: Tensor,
    stack: Tensor,
    depth: Tensor,
    buffer: Tensor,
    buffer_size: Tensor,
    arcs: Tensor | None,
    words: Tensor,
    heads: Tensor,
    rank: Tensor | None,
) -> Tensor:
    """Return how many gold arcs each action loses in each row, (K, R). All tensors are int64.

    loss: the system whose rules count the lost arcs, one of `_LOSSES`
    effects: (K, 8); the `Effect` of each action on the stack and the buffer; the first action must do nothing
    root: (R,); the position of the root
    stack: (R, P + 1); the words of the stack, bottom first
    depth: (R,); the number of words on the stack
    buffer: (R, P + 1); the words of the buffer, the front last
    buffer_size: (R,); the number of words in the buffer
    arcs: (R, P + 1); the head of each word so far; None if words leave the stack when they get a head
    words: (R, 4); see `DependencyMachine.words`
    heads: (R, P + 1); the gold heads; the head of the root is the root
    rank: (R, P + 1); the index of each word in projective order, for systems with SWAP; None for other systems
    """
    rows, width, actions = stack.shape[0], stack.shape[1], effects.shape[0]
    lost = torch.empty(actions, rows, dtype=torch.long)
    if loss not in _LOSSES:
        raise ValueError(f"loss must be one of {', '.join(_LOSSES)}; it is {loss}")
    if width < 2:
        raise ValueError(f"stack must have room for a word and the root in each row; it is {tuple(stack.shape)}")

    def grid(name: str, tensor: Tensor | None) -> int | None:
        return optional(name, tensor, torch.long, rows, width)

    problem = library().lost_arcs(
        rows, width, _LOSSES.index(loss), actions,
        require("effects", effects, torch.long, actions, _FIELDS), require("root", root, torch.long, rows),
        grid("stack", stack), require("depth", depth, torch.long, rows), grid("buffer", buffer),
        require("buffer_size", buffer_size, torch.long, rows), grid("arcs", arcs),
        require("words", words, torch.long, rows, _WORDS), grid("heads", heads), grid("rank", rank), lost.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return lost
