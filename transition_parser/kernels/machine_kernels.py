"""The compiled part of the machine of dependency systems on CPUs: `machine_kernels.c`.

The Python functions check types and shapes of tensors, and C checks the numbers. A tensor that does not fit raises
`ValueError`. Dimensions: R rows (hypotheses), P words of the longest sentence and its root, V tokens of the action
vocabulary, C columns (`ActionClass`), T steps of a derivation.
"""

from __future__ import annotations

import torch
from torch import Tensor

from transition_parser.kernels.guards import optional, raise_problem, require
from transition_parser.kernels.loader import POINTER, PROBLEM, SIZE, Signature, lazy_library

_FUNCTIONS: dict[str, Signature] = {
    "take_actions": (PROBLEM, (*(SIZE,) * 3, *(POINTER,) * 15)),
    "replay_derivation": (PROBLEM, (*(SIZE,) * 4, *(POINTER,) * 9)),
    "derive_tree": (PROBLEM, (*(SIZE,), *(POINTER,) * 2, *(SIZE,), *(POINTER,) * 3)),
    "ranks_from_end": (PROBLEM, (*(SIZE,) * 2, *(POINTER,) * 3)),
}
_FIELDS = 8  # the number of fields of an effect
SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)  # `StepKind` of tree_oracle.h
_TREE_ROOMS = 6  # the rows of memory that `derive_tree` needs, `TREE_ROOMS` of tree_oracle.h
_SITUATIONS = 256  # the number of different results of `situation_of` in tree_machine.h
library = lazy_library("machine", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Return True if the library is available and `like` is on the CPU."""
    return like.is_cpu and library() is not None


def take_actions(
    action: Tensor,
    relation: Tensor | None,
    effects: Tensor,
    root: Tensor,
    stack: Tensor,
    depth: Tensor,
    buffer: Tensor,
    buffer_size: Tensor,
    heads: Tensor | None,
    relations: Tensor | None,
    swaps_left: Tensor | None,
    *words: Tensor,
) -> Tensor:
    """Take each row's action in place, and return each row's new `Situation` as a number, (R,). All tensors are int64.

    Bit i of the number is field i of `Situation`.

    action: (R,); the index of each action in `effects`
    relation: (R,); the relation of the arc that the action builds; None where no arcs are stored
    effects: (C, 8); the `Effect` of each column
    root: (R,); the position of the root
    stack: (R, P + 1); the words of the stack, bottom first
    depth: (R,); the number of words on the stack
    buffer: (R, P + 1); the words of the buffer, the front last
    buffer_size: (R,); the number of words in the buffer
    heads: (R, P + 1); the heads of words so far; None where no arcs are stored
    relations: (R, P + 1); the relations of words; None where no arcs are stored
    swaps_left: (R,); how many SWAPs may still be taken; None for no limit
    words: (R,) each; the top of the stack, the word below the top, and the front of the buffer
    """
    if (relation is None) != (heads is None) or (heads is None) != (relations is None):
        raise ValueError("relation, heads and relations go together: give all three or none")
    if len(words) != 3:
        raise ValueError(f"words must be three tensors, see `words`; there are {len(words)}")
    rows, width, columns = stack.shape[0], stack.shape[1], effects.shape[0]
    if not width:
        raise ValueError(f"stack must have room for a word in each row; it is {tuple(stack.shape)}")
    situation = torch.empty_like(action)
    problem = library().take_actions(
        rows, width, columns, _row("action", action, rows), _row("relation", relation, rows),
        require("effects", effects, torch.long, columns, _FIELDS), _row("root", root, rows),
        _grid("stack", stack, rows, width), _row("depth", depth, rows), _grid("buffer", buffer, rows, width),
        _row("buffer_size", buffer_size, rows), _grid("heads", heads, rows, width),
        _grid("relations", relations, rows, width), _row("swaps_left", swaps_left, rows),
        *(_row("a word", word, rows) for word in words), situation.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return situation


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


def ranks_from_end(array: Tensor, size: Tensor) -> Tensor:
    """Return (R, P): k for the k-th word from the end of a list, 0 for words that are not in the list.

    array: (R, P + 1) int64; the lists of words
    size: (R,) int64; the length of each list
    """
    rows, width = array.shape[0], array.shape[1]
    if not width:
        raise ValueError(f"array must have room for a word in each row; it is {tuple(array.shape)}")
    ranks = array.new_empty(rows, width - 1)
    raise_problem(
        library().ranks_from_end(
            rows, width - 1, _grid("array", array, rows, width), _row("size", size, rows), ranks.data_ptr()
        )
    )
    return ranks


def _row(name: str, tensor: Tensor | None, rows: int) -> int | None:
    return optional(name, tensor, torch.long, rows)


def _grid(name: str, tensor: Tensor | None, rows: int, width: int) -> int | None:
    return optional(name, tensor, torch.long, rows, width)
