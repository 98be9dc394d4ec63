"""Whole derivations of dependency trees in one call on CPUs: `machine_kernels.c`.

The Python functions check types and shapes of tensors, and C checks the numbers. A tensor that does not fit raises
`ValueError`. Dimensions: V tokens of the action vocabulary, C columns (`ActionClass`), T steps of a derivation.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transition_parser.kernels.guards import raise_problem, require
from transition_parser.kernels.loader import POINTER, PROBLEM, SIZE, Signature, lazy_library

_FUNCTIONS: dict[str, Signature] = {
    "replay_derivation": (PROBLEM, (*(SIZE,) * 4, *(POINTER,) * 9)),
    "derive_tree": (PROBLEM, (*(SIZE,), *(POINTER,) * 2, *(SIZE,), *(POINTER,) * 3)),
}
_FIELDS = 8  # the number of fields of an effect
SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)  # `StepKind` of tree_oracle.h
_TREE_ROOMS = 6  # the rows of memory that `derive_tree` needs, `TREE_ROOMS` of tree_oracle.h
_SITUATIONS = 256  # the number of different results of `situation_of` in tree_machine.h
library = lazy_library("machine", _FUNCTIONS)


def replay_derivation(
    token: Tensor,
    log_prob: Tensor,
    words: int,
    column: Tensor,
    relation: Tensor,
    effects: Tensor,
    attach: Tensor,
) -> tuple[list[int], list[int], list[float]]:
    """Return the heads and relations that a derivation builds, and for each word the log-probability of its head.

    The results have an entry for each word: the position of its head (−1 for none), the id of its relation (0 for
    none), and the sum over the actions that decided its head. Words count from 0. The root is behind the last word.

    token: (T,) int64; the tokens of the actions
    log_prob: (T,) float64; their log-probabilities
    words: number of words, without the root
    column, relation: (V,) int64; the index of each token in `effects`, and the relation of its arc
    effects: (C, 8) int64; the `Effect` of each column
    attach: (256,) int64; the words whose heads the next action decides in each situation: bits 1 to 3 for S0, S1, B0
    """
    if words < 1:
        raise ValueError(f"words must be 1 or more, not {words}")
    steps, tokens, columns = len(token), len(column), len(effects)
    built, room = torch.empty(2, words + 1, dtype=torch.long), torch.empty(2, words + 2, dtype=torch.long)
    sums = torch.empty(words + 1, dtype=torch.double)
    problem = library().replay_derivation(
        steps, words, tokens, columns, require("token", token, torch.long, steps),
        require("log_prob", log_prob, torch.double, steps), require("column", column, torch.long, tokens),
        require("relation", relation, torch.long, tokens), require("effects", effects, torch.long, columns, _FIELDS),
        require("attach", attach, torch.long, _SITUATIONS), room.data_ptr(), built.data_ptr(), sums.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    heads, relations = built.tolist()
    return heads[:-1], relations[:-1], sums.tolist()[:-1]


def derive_tree(heads: Tensor) -> tuple[Tensor, Tensor]:
    """Return the steps that build a tree in arc-hybrid with SWAP: their kinds, and the words that they move or attach.

    The kinds are `SHIFT`, `LEFT_ARC`, `RIGHT_ARC` and `SWAP`. Both results are (T,) int64.

    heads: (n,) int64; the position of the head of each word; the root has the position n
    """
    words = len(heads)
    most = words * (words + 1)
    room, steps = torch.empty(_TREE_ROOMS, words + 1, dtype=torch.long), torch.empty(2, most, dtype=torch.long)
    count = torch.empty(1, dtype=torch.long)
    problem = library().derive_tree(
        words, require("heads", heads, torch.long, words), room.data_ptr(), most, steps[0].data_ptr(),
        steps[1].data_ptr(), count.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    kind, word = steps[:, : int(count)]
    return kind, word
