"""Tags and lemmas of words, predicted from the encoder and trained along with the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.linear import linear
from transition_parser.modules.words import WordOptions
from transition_parser.text.columns import Annotations, Columns, predicted


class TagLoss(NamedTuple):
    """The loss and the accuracy of a batch.

    loss: the sum over words, in nats, weighted.
    right: the number of right predictions in each column.
    words: the number of words that count in each column.
    """

    loss: Tensor
    right: dict[str, Tensor]
    words: dict[str, Tensor]


class TagHeads(nn.ModuleDict):
    """One linear layer for each column that is predicted and that the data has.

    dim: width of the encoder.
    columns: the columns of the data.
    weight: the weight of the loss.
    """

    def __init__(self, dim: int, columns: Columns, weight: float) -> None:
        super().__init__({name: linear(dim, columns.count(name)) for name in predicted() if name in columns})
        self.columns, self.weight = columns, weight

    def scores(self, words: Tensor) -> dict[str, Tensor]:
        """Return the scores (B, P, values) of each column, before the softmax, −inf for id 0.

        words: (B, P, dim); see `EncoderOut`.
        """
        scores = {name: head(words).float() for name, head in self.items()}
        return {name: F.pad(of_column[..., 1:], (1, 0), value=float("-inf")) for name, of_column in scores.items()}

    def best(self, words: Tensor) -> dict[str, Tensor]:
        """Return the best ids (B, P) of each column; the root and padding get ids, too."""
        return {name: scores.argmax(-1) for name, scores in self.scores(words).items()}

    def predict(self, words: Tensor, lengths: Sequence[int]) -> list[dict[str, list[str]]]:
        """Return the predicted values of each column, for each sentence.

        lengths: the number of words of each sentence.
        """
        best = {name: ids.cpu().tolist() for name, ids in self.best(words).items()}
        return [
            {name: self.columns.of_ids(name, ids[i][:length]) for name, ids in best.items()}
            for i, length in enumerate(lengths)
        ]

    def targets(self, annotations: Annotations, wide: int) -> dict[str, Tensor]:
        """Return the target ids (B, wide) of each column.

        The id is 0 at the root, at padding, and for values that training has not seen.
        """
        rows = {name: [self.columns.ids(name, values) for values in annotations[name]] for name in self}
        return {
            name: torch.tensor([[*ids, *[0] * (wide - len(ids))] for ids in of_column])
            for name, of_column in rows.items()
        }

    def loss(self, words: Tensor, targets: Mapping[str, Tensor]) -> TagLoss:
        """Return the cross-entropy of the words whose target is not 0."""
        loss, right, counted = words.new_zeros((), dtype=torch.float), {}, {}
        for name, scores in self.scores(words).items():
            target = targets[name]
            loss = loss + F.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
            right[name] = ((scores.argmax(-1) == target) & (target > 0)).sum()
            counted[name] = (target > 0).sum()
        return TagLoss(self.weight * loss, right, counted)


def tag_heads(options: WordOptions, dim: int, columns: Columns) -> TagHeads | None:
    """Return the heads that the options ask for; None where the data has nothing to predict."""
    if not options.tag_loss:
        return None
    heads = TagHeads(dim, columns, options.tag_loss)
    return heads if len(heads) else None


def check_tagged(weight: float, *heads: TagHeads | None) -> None:
    """Raise `InputError` where tags have a weight in the loss and no model that is trained has heads for them."""
    if weight and not any(heads):
        Columns().count(predicted()[0])
