"""Scores of each word as the head of each other word, and scores of the relation of an arc.

Source: SPA-DP, sec. Graph Based Dependency Parsing (eq. 8)
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.models.spa_dp.options import BILINEAR, SpaDpGraphOptions
from transition_parser.models.spa_dp.pair_scores import PairScores
from transition_parser.modules.linear import linear
from transition_parser.modules.places import at


class BilinearHeads(nn.Module):
    """The scores s(r_j, r_i) = r_j · W r_i.

    dim: width of words
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.project = nn.Linear(dim, dim, bias=False)
        nn.init.xavier_uniform_(self.project.weight)

    def forward(self, words: Tensor) -> Tensor:
        """Return (B, P, P); the rows are dependents, the columns heads.

        words: (B, P, dim)
        """
        return self.project(words) @ words.transpose(1, 2)


class RelationScores(nn.Module):
    """Scores of relations, from a hidden layer over a word and its head.

    The paper reports labelled scores, but its text has no labels.

    dim: width of words
    width: width of the hidden layer
    count: number of relations
    """

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.dependent, self.head = linear(dim, width), nn.Linear(dim, width, bias=False)
        self.output = linear(width, count)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """Return (B, N, count), the scores of relations for the first N words.

        words: (B, P, dim)
        heads: (B, N); the position of each word's head
        """
        head = at(self.head(words), heads)
        return self.output(F.relu(self.dependent(words)[:, : heads.size(1)] + head))


def head_scores(options: SpaDpGraphOptions, dim: int) -> nn.Module:
    """Return the module that scores heads, as the options ask.

    The module returns (B, P, P); the rows are dependents, the columns heads.

    dim: width of words
    """
    return BilinearHeads(dim) if options.head_score == BILINEAR else PairScores(dim, options.mlp_width)
