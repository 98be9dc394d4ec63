"""A hidden layer over each pair of words of a sentence."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.linear import linear

_AT_ONCE = 1 << 24  # hidden values computed at once, because long sentences have many pairs


class PairScores(nn.Module):
    """The score w · max(0, W (h_i ⊕ h_j) + b) of each pair of words.

    W is applied to each word once as the first word of a pair, and once as the second.

    Source: SPA-DP, eq. 8 (concat) and eq. 12

    dim: width of words
    width: width of the hidden layer
    """

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.first, self.second = linear(dim, width), nn.Linear(dim, width, bias=False)
        self.weigh = nn.Linear(width, 1, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        """Return (B, P, P); the rows are i, the columns j.

        words: (B, P, dim)
        """
        first, second = self.first(words)[:, :, None], self.second(words)[:, None]
        rows = max(_AT_ONCE // max(second.numel(), 1), 1)
        return torch.cat([self.weigh(F.relu(some + second))[..., 0] for some in first.split(rows, 1)], 1)
