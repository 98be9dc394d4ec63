"""Tags, lemmas and features of words, predicted from the encoder and trained along with the parser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.modules.labels import Labels, labels_of_column, seen_labels
from transition_parser.modules.linear import linear
from transition_parser.modules.words import WordOptions
from transition_parser.text.columns import UPOS, Annotations, Columns, predicted

Tags = dict[str, list[str]]  # column → the value of each word of a sentence


class TagLoss(NamedTuple):
    """The loss and the accuracy of a batch.

    loss: the weighted sum over words, in nats.
    right: the number of right predictions in each column.
    words: the number of words with a target in each column.
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
        self._labels: dict[str, Labels] = {name: labels_of_column(columns, name) for name in self}
        found = {name: seen_labels(columns, name) for name in self}
        self._seen = {name: seen for name, seen in found.items() if seen is not None}

    def scores(self, words: Tensor) -> dict[str, Tensor]:
        """Return the scores of each column before the softmax: (B, P, labels), −inf for id 0.

        Columns whose values are sets have scores (B, P, attributes, places), see `LabelSet.scores`.

        words: (B, P, dim); see `EncoderOut.tagged`.
        """
        return {name: self._labels[name].scores(head(words)) for name, head in self.items()}

    def best_tags(self, words: Tensor) -> Tensor:
        """Return the ids (B, P) of the best UPOS tags; the root and padding get ids, too."""
        return self._labels[UPOS].best(self[UPOS](words))

    def predict(self, words: Tensor, lengths: Sequence[int], tags: Sequence[Sequence[str]] = ()) -> list[Tags]:
        """Return the predicted values of each column, for each sentence.

        lengths: the number of words of each sentence.
        tags: the known UPOS tag of each word, `_` if it is not known; () if no tag is known. The labels of other
            columns are limited to labels seen with the known tag, or else with the predicted tag.
        """
        best = {name: ids.cpu().tolist() for name, ids in self._best(words, tags).items()}
        return [
            {name: self._labels[name].values(ids[i][:length]) for name, ids in best.items()}
            for i, length in enumerate(lengths)
        ]

    @property
    def limited(self) -> bool:
        """True if UPOS tags limit the labels of other columns."""
        return bool(self._seen)

    def _best(self, words: Tensor, tags: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        best: dict[str, Tensor] = {}
        of_words = None
        for name, head in self.items():
            if name in self._seen and of_words is None:
                of_words = self._tags(best[UPOS], tags)
            legal = self._seen_with(name, of_words) if of_words is not None else None
            best[name] = self._labels[name].best(head(words), legal)
        return best

    def _tags(self, predicted: Tensor, tags: Sequence[Sequence[str]]) -> Tensor:
        """Return the ids (B, P) of the known tags, and of the predicted tags for words without a known tag."""
        if not tags:
            return predicted
        known = self._labels[UPOS].targets(tags, predicted.size(1)).to(predicted.device)
        return torch.where(known > 0, known, predicted)

    def _seen_with(self, name: str, tags: Tensor) -> Tensor | None:
        """Return (B, P, labels) bool: True for labels seen in training with the word's tag; None if all are allowed."""
        if name not in self._seen:
            return None
        if self._seen[name].device != tags.device:
            self._seen[name] = self._seen[name].to(tags.device)
        return self._seen[name][tags]

    def targets(self, annotations: Annotations, wide: int) -> dict[str, Tensor]:
        """Return the targets of each column, (B, wide) or (B, wide, attributes); see `OneLabel` and `LabelSet`."""
        return {name: labels.targets(annotations[name], wide) for name, labels in self._labels.items()}

    def loss(self, words: Tensor, targets: Mapping[str, Tensor]) -> TagLoss:
        """Return the loss of the words that have targets."""
        found = {name: self._labels[name].loss(head(words), targets[name]) for name, head in self.items()}
        loss = sum((of_column.loss for of_column in found.values()), words.new_zeros((), dtype=torch.float))
        right = {name: of_column.right for name, of_column in found.items()}
        return TagLoss(self.weight * loss, right, {name: of_column.words for name, of_column in found.items()})


def tag_heads(options: WordOptions, dim: int, columns: Columns) -> TagHeads | None:
    """Return the heads that the options ask for; None where the data has nothing to predict."""
    if not options.tag_loss:
        return None
    heads = TagHeads(dim, columns, options.tag_loss)
    return heads if len(heads) else None


def check_tagged(weight: float, *heads: TagHeads | None) -> None:
    """Raise `InputError` if the tag loss has a weight other than 0, but no trained model has heads for tags."""
    if weight and not any(heads):
        Columns().count(predicted()[0])


def train_only(model: nn.Module, columns: Sequence[str]) -> None:
    """Freeze all weights of a model but those in the heads of the given columns.

    Raises `InputError` for a column that the model does not predict.

    model: its attribute `tags` holds the heads, if it has any.
    """
    heads = dict(model.named_children()).get("tags", {})
    for name in columns:
        if name not in heads:
            there = f"it predicts {', '.join(heads)}" if heads else "it predicts no columns: give --tag-loss"
            raise InputError(f"--train-only: the model does not predict {name!r:.60}; {there}")
    model.requires_grad_(False)
    for name in columns:
        heads[name].requires_grad_(True)
