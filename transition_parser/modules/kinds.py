"""Probabilities of actions as products of two decisions: the kind of the action, and its label given the kind.

Source: Ji et al. 2021, sec. 5
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.states.table import ActionClass, ActionTable

END, NEVER = "</s>", "never"


class FactoredScores(NamedTuple):
    """Scores of kinds and of labels before any softmax.

    kinds: (…, K) for K kinds; in the order of `Kinds.names`.
    labels: (…, V) for V action tokens; the score of each token's label among the labels of its kind. If the kind has a
        single token, the score may be any number.
    """

    kinds: Tensor
    labels: Tensor


class Kinds(nn.Module):
    """The kind of each of the V tokens of the action vocabulary.

    names: the names of the K kinds: the kinds of actions, `</s>`, and a kind for tokens that are never legal.
    kind: (V,); the index in `names` of each token's kind.
    order: (V,); the tokens sorted by kind.
    sizes: the number of tokens of each kind.
    """

    kind: Tensor
    order: Tensor

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        named = [
            END
            if column == ActionClass.END
            else NEVER
            if action is None or column == ActionClass.NEVER
            else action.kind.value
            for action, column in zip(table.actions, table.column.tolist(), strict=True)
        ]
        self.names = sorted(set(named))
        kind = torch.tensor([self.names.index(name) for name in named])
        self.sizes = torch.bincount(kind).tolist()
        self.register_buffer("kind", kind, persistent=False)
        self.register_buffer("order", kind.argsort(stable=True), persistent=False)

    def log_probabilities(self, factored: FactoredScores, legal: Tensor) -> Tensor:
        """Return log p(kind) + log p(label | kind), (…, V), in fp32 at least.

        A label competes with the others of its kind where `legal` (…, V) is not 0. A kind competes if one of its labels
        does. Illegal tokens get finite values too, normalised over the tokens that compete, because training may
        let all actions compete.
        """
        labels = _precise(factored.labels)
        legal = legal != 0
        of_labels = labels.index_select(-1, self.order).split(self.sizes, -1)
        there = legal.index_select(-1, self.order).split(self.sizes, -1)
        within = torch.cat([_normaliser(*pair) for pair in zip(of_labels, there, strict=True)], -1)
        kinds = _precise(factored.kinds)
        kinds = kinds - _normaliser(kinds, torch.cat([_any(some) for some in there], -1))
        return labels + (kinds - within).index_select(-1, self.kind)

    def first(self, kinds: Tensor, legal: Tensor) -> Tensor:
        """Return the index of the best kind, (N,), among the kinds with an action that may be taken.

        kinds: (N, K); scores.
        legal: (N, V); above 0 for actions that may be taken.
        """
        there = (legal > 0).index_select(-1, self.order).split(self.sizes, -1)
        open_kinds = torch.cat([_any(some) for some in there], -1)
        return _precise(kinds).masked_fill(~open_kinds, float("-inf")).argmax(-1)

    def only_of(self, first: Tensor, legal: Tensor) -> Tensor:
        """Return `legal` (N, V) with −1 for legal actions of kinds other than `first` (N,).

        The probability of these actions counts, but they may not be taken.
        """
        return torch.where(self.kind == first[:, None], legal, legal - 2 * legal.clamp_min(0))


def _normaliser(scores: Tensor, there: Tensor) -> Tensor:
    """Return the log-sum-exp, (…, 1), of the scores that are present, or of all scores if none is present.

    scores: (…, N).
    there: (…, N) bool; True at scores that are present.
    """
    if scores.size(-1) == 1:
        return scores
    return scores.masked_fill(_any(there) & ~there, float("-inf")).logsumexp(-1, keepdim=True)


def _any(there: Tensor) -> Tensor:
    return there.view(torch.uint8).amax(-1, keepdim=True).view(torch.bool)  # many times faster than `any`


def _precise(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float))
