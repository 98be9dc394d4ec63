"""The compiled search for dependency trees, replay, oracle and costs on CPUs: `kernels.c`, `tree_replay.c`, `costs.c`.

Common dimensions: B sentences, R rows (hypotheses), P words of the longest sentence and its root, V tokens of the
action vocabulary, C columns (`ActionClass`), T steps of a derivation, K actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.kernels import loader
from transition_parser.kernels.loader import BLOCK, HALF, optional, raise_problem, require, supports

_SITUATIONS, _EFFECT = 256, 8  # the numbers of situations (`situation_of` in tree_machine.h) and of fields of an effect
SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)  # `StepKind` of tree_oracle.h
_TREE_ROOMS = 6  # the rows of memory that `derive_tree` needs, `TREE_ROOMS` of tree_oracle.h
_LOSSES = ("arc-hybrid", "arc-eager", "arc-standard")  # in the order of the enum in costs.c
_WORDS = 4  # the number of words that effects can name


class TreeMachine(NamedTuple):
    """The machine of a system of dependency trees, as `search_trees` reads it.

    column: (V,) int64; the `ActionClass` of each token
    effects: (C, 8) int64; the `Effect` of each column
    legal: (256, C) bool; the legal columns for each set of facts (`tree_system.Fact`)
    swaps_per_word: how many SWAPs a sentence may take for each word
    """

    column: Tensor
    effects: Tensor
    legal: Tensor
    swaps_per_word: int


class FoundDerivations(NamedTuple):
    """The final derivations of a batch; the derivations of a sentence are in the order in which they became final.

    `most` is the largest number of actions that a derivation may have.

    counts: (B,) int64; the number of derivations of each sentence, at most twice the beam
    steps: (B, 2 beam) int64; the number of actions of each derivation
    actions: (B, 2 beam, most) int32; the tokens; 0 behind the last one
    added: (B, 2 beam, most) float; the log-probability of each action; 0 behind the last one
    """

    counts: Tensor
    steps: Tensor
    actions: Tensor
    added: Tensor

    @classmethod
    def empty(cls, sentences: int, beam: int, most: int) -> FoundDerivations:
        """Return tensors of zeros for derivations of at most `most` actions."""
        return cls(
            torch.zeros(sentences, dtype=torch.long), torch.zeros(sentences, 2 * beam, dtype=torch.long),
            torch.zeros(sentences, 2 * beam, most, dtype=torch.int32), torch.zeros(sentences, 2 * beam, most),
        )  # fmt: skip


def search_trees(
    words: Tensor,
    bias: Tensor,
    output: nn.Linear,
    ranks: Sequence[int],
    lengths: Tensor,
    machine: TreeMachine,
    beam: int,
    most: int,
) -> FoundDerivations:
    """Return the final derivations that beam search finds with scores = W max(0, sum + bias) + b.

    The sum is over places, such as the top of the stack. The word at each place adds a vector.

    words: (B, P, places, width) float; the vector that each word adds if it is at each place
    bias: (width,)
    output: W and b; float or bfloat16; in bfloat16, the hidden layer and the scores are rounded
    ranks: for each place, k for the k-th word from the top of the stack, −k for the k-th word of the buffer
    lengths: (B,) int64; the number of words of each sentence
    beam: the number of hypotheses kept for each sentence
    most: the largest number of actions of a derivation
    """
    (count, positions, places, width), dtype, (tokens, _) = words.shape, output.weight.dtype, output.weight.shape
    if beam < 1 or most < 1 or not supports(output.weight, width):
        raise ValueError(f"beam and most must be 1 or more, and rows of the weight of a multiple of {BLOCK} numbers")
    columns = len(machine.effects)
    found = FoundDerivations.empty(count, beam, most)
    plain_bias, token_bias, order = bias.float(), output.bias.float(), torch.tensor(ranks)
    problem = loader.library().search_trees(
        HALF[dtype], torch.get_num_threads(), count, positions, places, width, tokens, columns, beam,
        machine.swaps_per_word, most, require("words", words, torch.float, count, positions, places, width),
        require("bias", plain_bias, torch.float, width), require("weight", output.weight, dtype, tokens, width),
        require("token_bias", token_bias, torch.float, tokens), require("ranks", order, torch.long, places),
        require("lengths", lengths, torch.long, count), require("column", machine.column, torch.long, tokens),
        require("effects", machine.effects, torch.long, columns, _EFFECT),
        require("legal", machine.legal, torch.bool, _SITUATIONS, columns), *(part.data_ptr() for part in found),
    )  # fmt: skip
    raise_problem(problem)
    return found


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
    problem = loader.library().replay_derivation(
        steps, words, tokens, columns, require("token", token, torch.long, steps),
        require("log_prob", log_prob, torch.double, steps), require("column", column, torch.long, tokens),
        require("relation", relation, torch.long, tokens), require("effects", effects, torch.long, columns, _EFFECT),
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
    problem = loader.library().derive_tree(
        words, require("heads", heads, torch.long, words), room.data_ptr(), most, steps[0].data_ptr(),
        steps[1].data_ptr(), count.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    kind, word = steps[:, : int(count)]
    return kind, word


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

    problem = loader.library().lost_arcs(
        rows, width, _LOSSES.index(loss), actions,
        require("effects", effects, torch.long, actions, _EFFECT), require("root", root, torch.long, rows),
        grid("stack", stack), require("depth", depth, torch.long, rows), grid("buffer", buffer),
        require("buffer_size", buffer_size, torch.long, rows), grid("arcs", arcs),
        require("words", words, torch.long, rows, _WORDS), grid("heads", heads), grid("rank", rank), lost.data_ptr(),
    )  # fmt: skip
    raise_problem(problem)
    return lost
