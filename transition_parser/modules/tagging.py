"""Tags and lemmas of words, predicted from the encoder and trained along with the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.linear import linear
from transition_parser.modules.words import WordOptions
from transition_parser.text.columns import OF_WORDS, Columns, Marks


class TagLoss(NamedTuple):
    """Of a batch. loss: summed, in nats, weighted. right, words: how many words are right in each column, of how
    many."""

    loss: Tensor
    right: dict[str, Tensor]
    words: dict[str, Tensor]


class TagHeads(nn.ModuleDict):
    """One linear layer for each column of words that the data has.

    dim: width of the encoder. columns: of the data. weight: of their loss.
    """

    def __init__(self, dim: int, columns: Columns, weight: float) -> None:
        super().__init__({name: linear(dim, columns.count(name)) for name in OF_WORDS if name in columns})
        self.columns, self.weight = columns, weight

    def scores(self, words: Tensor) -> dict[str, Tensor]:
        """(B, P, values) of each column, before the softmax, −inf for id 0. words: (B, P, dim), see `EncoderOut`."""
        scores = {name: head(words).float() for name, head in self.items()}
        return {name: F.pad(of_column[..., 1:], (1, 0), value=float("-inf")) for name, of_column in scores.items()}

    def best(self, words: Tensor) -> dict[str, Tensor]:
        """(B, P) ids, of the root and of padding, too."""
        return {name: scores.argmax(-1) for name, scores in self.scores(words).items()}

    def predict(self, words: Tensor, lengths: Sequence[int]) -> list[dict[str, list[str]]]:
        """For each sentence of so many words the values of each column."""
        best = {name: ids.cpu().tolist() for name, ids in self.best(words).items()}
        return [
            {name: self.columns.of_ids(name, ids[i][:length]) for name, ids in best.items()}
            for i, length in enumerate(lengths)
        ]

    def targets(self, marks: Marks, wide: int) -> dict[str, Tensor]:
        """(B, wide) ids of sentences, 0 where a value does not count: at the root, at padding, where training has not
        seen it."""
        rows = {name: [self.columns.ids(name, values) for values in marks[name]] for name in self}
        return {
            name: torch.tensor([[*ids, *[0] * (wide - len(ids))] for ids in of_column])
            for name, of_column in rows.items()
        }

    def loss(self, words: Tensor, targets: Mapping[str, Tensor]) -> TagLoss:
        """Cross-entropy of the words whose target is not 0."""
        loss, right, counted = words.new_zeros((), dtype=torch.float), {}, {}
        for name, scores in self.scores(words).items():
            target = targets[name]
            loss = loss + F.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
            right[name] = ((scores.argmax(-1) == target) & (target > 0)).sum()
            counted[name] = (target > 0).sum()
        return TagLoss(self.weight * loss, right, counted)


def tag_heads(options: WordOptions, dim: int, columns: Columns) -> TagHeads | None:
    """Those that the options ask for; None where the data has nothing to predict."""
    heads = TagHeads(dim, columns, options.tag_loss) if options.tag_loss else {}
    return heads if len(heads) else None


def check_tagged(weight: float, *heads: TagHeads | None) -> None:
    """Raises `InputError` where tags are to be predicted and no model of those that are trained does."""
    if weight and not any(heads):
        Columns().count(OF_WORDS[0])
