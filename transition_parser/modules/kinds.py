"""Two decisions an action: its kind, and its label given the kind.

Source: Ji et al. 2021, sec. 5
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.states.table import ActionTable
from transition_parser.transitions.spec import Column

END, NEVER = "</s>", "never"


class TwoStages(NamedTuple):
    """Scores before any softmax. kinds: (…, K), in the order of `Kinds.names`. labels: (…, V), of each token's label
    among those of its kind; any numbers where the kind has one token."""

    kinds: Tensor
    labels: Tensor


class Kinds(nn.Module):
    """Which kind each token of the vocabulary is of.

    names: of the K kinds: those of actions, `</s>`, and what is never legal. kind: (V,), the number of each token's.
    order: (V,), the tokens kind by kind.
    """

    kind: Tensor
    order: Tensor

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        named = [
            END if column == Column.END else NEVER if action is None or column == Column.NEVER else action.kind.value
            for action, column in zip(table.actions, table.column.tolist(), strict=True)
        ]
        self.names = sorted(set(named))
        kind = torch.tensor([self.names.index(name) for name in named])
        self.sizes = torch.bincount(kind).tolist()
        self.register_buffer("kind", kind, persistent=False)
        self.register_buffer("order", kind.argsort(stable=True), persistent=False)

    def log_probabilities(self, stages: TwoStages, legal: Tensor) -> Tensor:
        """(…, V): log p(kind) + log p(label | kind) in fp32 at least.

        The kinds that compete have a token that is not 0 in `legal` (…, V); so have the labels within a kind. Tokens
        that are not legal have what their scores would give them beside these, finite numbers: where all actions are
        made to compete in training they do.
        """
        labels = _precise(stages.labels)
        legal = legal != 0
        of_labels = labels.index_select(-1, self.order).split(self.sizes, -1)
        there = legal.index_select(-1, self.order).split(self.sizes, -1)
        within = torch.cat([_normaliser(*pair) for pair in zip(of_labels, there, strict=True)], -1)
        kinds = _precise(stages.kinds)
        kinds = kinds - _normaliser(kinds, torch.cat([_any(some) for some in there], -1))
        return labels + (kinds - within).index_select(-1, self.kind)

    def first(self, kinds: Tensor, legal: Tensor) -> Tensor:
        """(N,), the number of the best kind that has an action that may be taken: more than 0 in `legal` (N, V)."""
        there = (legal > 0).index_select(-1, self.order).split(self.sizes, -1)
        open_kinds = torch.cat([_any(some) for some in there], -1)
        return _precise(kinds).masked_fill(~open_kinds, float("-inf")).argmax(-1)

    def only_of(self, first: Tensor, legal: Tensor) -> Tensor:
        """`legal` (N, V) where no kind but `first` (N,) may be taken: the others count, and have −1."""
        return torch.where(self.kind == first[:, None], legal, legal - 2 * legal.clamp_min(0))


def _normaliser(scores: Tensor, there: Tensor) -> Tensor:
    """(…, 1): the log of the sum of exp of those that are there, both (…, N); of all where none is."""
    if scores.size(-1) == 1:
        return scores
    return scores.masked_fill(_any(there) & ~there, float("-inf")).logsumexp(-1, keepdim=True)


def _any(there: Tensor) -> Tensor:
    return there.view(torch.uint8).amax(-1, keepdim=True).view(torch.bool)  # many times faster than `any`


def _precise(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float))
