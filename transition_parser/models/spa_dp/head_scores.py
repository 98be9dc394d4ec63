"""How good each word is as the head of each other word, and which relation an arc has.

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
    """s(r_j, r_i) = r_j · W r_i. dim: width of words."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.project = nn.Linear(dim, dim, bias=False)
        nn.init.xavier_uniform_(self.project.weight)

    def forward(self, words: Tensor) -> Tensor:
        """(B, P, P) of words (B, P, dim): the rows are dependents, the columns heads."""
        return self.project(words) @ words.transpose(1, 2)


class RelationScores(nn.Module):
    """A hidden layer over a word and its head. The paper reports labelled scores, but its text has no labels.

    dim: width of words. width: of the hidden layer. count: of relations.
    """

    def __init__(self, dim: int, width: int, count: int) -> None:
        super().__init__()
        self.dependent, self.head = linear(dim, width), nn.Linear(dim, width, bias=False)
        self.output = linear(width, count)

    def forward(self, words: Tensor, heads: Tensor) -> Tensor:
        """(B, N, count) of words (B, P, dim), N of which have the heads (B, N): positions."""
        head = at(self.head(words), heads)
        return self.output(F.relu(self.dependent(words)[:, : heads.size(1)] + head))


def head_scores(options: SpaDpGraphOptions, dim: int) -> nn.Module:
    """What scores heads, as the options ask: (B, P, P), the rows are dependents, the columns heads."""
    return BilinearHeads(dim) if options.head_score == BILINEAR else PairScores(dim, options.mlp_width)
