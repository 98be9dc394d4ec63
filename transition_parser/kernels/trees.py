"""The compiled search for dependency trees, and replay, on CPUs: `kernels.c`, `tree_replay.c`.

Common dimensions: B sentences, P words of the longest sentence and its root, V tokens of the
action vocabulary, C columns (`ActionClass`), T steps of a derivation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.kernels import loader
from transition_parser.kernels.loader import BLOCK, HALF, require, supports

_SITUATIONS, _EFFECT = 256, 8  # the numbers of situations (`situation_of` in tree_machine.h) and of fields of an effect


class TreeMachine(NamedTuple):
    """The machine of a system of dependency trees, as `search_trees` reads it."""

    column: Tensor  # (V,) int64; the `ActionClass` of each token
    effects: Tensor  # (C, 8) int64; the `Effect` of each column
    legal: Tensor  # (256, C) bool; the legal columns for each set of facts (`tree_system.Fact`)
    swaps_per_word: int  # how many SWAPs a sentence may take for each word


class FoundDerivations(NamedTuple):
    """The final derivations of a batch; the derivations of a sentence are in the order in which they became final."""

    counts: Tensor  # (B,) int64; the number of derivations of each sentence, at most twice the beam
    steps: Tensor  # (B, 2 beam) int64; the number of actions of each derivation
    actions: Tensor  # (B, 2 beam, most) int32; the tokens; 0 after the last one
    added: Tensor  # (B, 2 beam, most) float; the log-probability of each action; 0 after the last one

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
    """Return the final derivations that beam search finds with scores = W max(0, sum of words at places + bias) + b.

    words: (B, P, places, width) float; the vector that each word adds if it is at each place
    ranks: for each place, k for the k-th word from the top of the stack, −k for the k-th word of the buffer
    """
    (count, positions, places, width), dtype, (tokens, _) = words.shape, output.weight.dtype, output.weight.shape
    if beam < 1 or most < 1 or not supports(output.weight, width):
        raise ValueError(f"beam and most must be 1 or more, and rows of the weight of a multiple of {BLOCK} numbers")
    columns = len(machine.effects)
    found = FoundDerivations.empty(count, beam, most)
    plain_bias, token_bias, order = bias.float(), output.bias.float(), torch.tensor(ranks)
    loader.library().search_trees(
        HALF[dtype], torch.get_num_threads(), count, positions, places, width, tokens, columns, beam,
        machine.swaps_per_word, most, require("words", words, torch.float, count, positions, places, width),
        require("bias", plain_bias, torch.float, width), require("weight", output.weight, dtype, tokens, width),
        require("token_bias", token_bias, torch.float, tokens), require("ranks", order, torch.long, places),
        require("lengths", lengths, torch.long, count), require("column", machine.column, torch.long, tokens),
        require("effects", machine.effects, torch.long, columns, _EFFECT),
        require("legal", machine.legal, torch.bool, _SITUATIONS, columns), *(part.data_ptr() for part in found),
    )  # fmt: skip
    return found


def replay_derivation(
    token: Tensor, log_prob: Tensor, words: int, column: Tensor, relation: Tensor, effects: Tensor, attach: Tensor
) -> tuple[list[int], list[int], list[float]]:
    """Return the head and the relation of each word that a derivation builds, and the log-probability of each head.

    Words count from 0, and the root is after the last word; −1 and 0 stand for no head and no relation.
    """
    if words < 1:
        raise ValueError(f"words must be 1 or more, not {words}")
    steps, tokens, columns = len(token), len(column), len(effects)
    built, room = torch.empty(2, words + 1, dtype=torch.long), torch.empty(2, words + 2, dtype=torch.long)
    sums = torch.empty(words + 1, dtype=torch.double)
    loader.library().replay_derivation(
        steps, words, tokens, columns, require("token", token, torch.long, steps),
        require("log_prob", log_prob, torch.double, steps), require("column", column, torch.long, tokens),
        require("relation", relation, torch.long, tokens), require("effects", effects, torch.long, columns, _EFFECT),
        require("attach", attach, torch.long, _SITUATIONS), room.data_ptr(), built.data_ptr(), sums.data_ptr(),
    )  # fmt: skip
    heads, relations = built.tolist()
    return heads[:-1], relations[:-1], sums.tolist()[:-1]
