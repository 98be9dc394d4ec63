"""Heads that predict PropBank's frames and arguments from the encoder output, as an auxiliary task in training.

Parsing does not use these heads. They belong to the criterion and not to the model, so that no exported model has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.modules.biaffine import BiaffineRelations
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.linear import linear
from transition_parser.modules.tagging import TagLoss
from transition_parser.text.columns import ARGUMENT_LABELS, PROPBANK, SENSE_NUMBERS, Annotations, ids_of

WIDTH = 64  # the width to which words are reduced, as predicates and as arguments
SENSES, ARGUMENTS = FIGURES = ("senses", "arguments")  # the names of the two targets, and of their accuracies in logs
_UNKNOWN = -1  # a target that the loss ignores


class FrameHeads(nn.Module):
    """Two classifiers: one of the frame sense of each word, one of the argument label of each predicate and word.

    The second one is biaffine (Dozat and Manning 2017). Class 0 of both is "none".

    dim: width of the words.
    weight: the weight of the loss.
    """

    def __init__(self, dim: int, weight: float) -> None:
        super().__init__()
        self.weight = weight
        self.senses = linear(dim, 1 + len(SENSE_NUMBERS))
        self.arguments = BiaffineRelations(dim, WIDTH, 1 + len(ARGUMENT_LABELS))

    @classmethod
    def of_model(cls, model: ParserModel, weight: float, arch: str) -> Self:
        """Return the heads for the encoder of a model.

        Raises `InputError` for a weight that is not positive and finite, and for a model without an encoder before its
        decoder.

        arch: the name of the model, for messages.
        """
        if not 0.0 < weight < math.inf:
            raise InputError(f"--frame-loss must be 0 or more, and a finite number, not {weight}")
        if model.tagged_width is None:
            raise InputError(f"--frame-loss: {arch} has no encoder before its decoder that could learn frames")
        return cls(model.tagged_width, weight)

    def targets(self, annotations: Annotations, wide: int) -> dict[str, Tensor]:
        """Return the targets of B sentences by name; −1 at the root, at padding, and without annotation.

        `senses` is (B, wide): the sense of each word. `arguments` is (B, wide, wide): [b, i, j] is the label of word i
        as an argument of predicate j; −1 where word j is no predicate.

        annotations: columns that include `propbank`.
        wide: the number of words of the longest sentence, plus 1 for the root.
        """
        sentences = annotations[PROPBANK]
        senses = torch.full((len(sentences), wide), _UNKNOWN)
        arguments = torch.full((len(sentences), wide, wide), _UNKNOWN)
        for row, values in enumerate(sentences):
            for word, (sense, of_word) in enumerate(map(ids_of, values)):
                if sense is not None:
                    senses[row, word] = sense
                if sense:
                    arguments[row, : len(values), word] = 0
                for head, label in of_word:
                    arguments[row, head, word] = label
        return {SENSES: senses, ARGUMENTS: arguments}

    def loss(self, words: Tensor, targets: Mapping[str, Tensor]) -> TagLoss:
        """Return the weighted sum of the cross-entropy of all targets but −1, and the counts of right predictions.

        The counts are over words with a sense and over pairs with a label.

        words: (B, P, dim); see `EncoderOut.tagged`.
        targets: the result of `targets`, with P = wide.
        """
        pairs = self.arguments.of_all_pairs(self.arguments.ends(words))
        scores = {SENSES: self.senses(words).float(), ARGUMENTS: pairs.float()}
        loss = _summed(scores[SENSES], targets[SENSES]) + _summed(scores[ARGUMENTS], targets[ARGUMENTS])
        best = {name: of_name.argmax(-1) == targets[name] for name, of_name in scores.items()}
        counted = {name: targets[name] > 0 for name in FIGURES}
        right = {name: (best[name] & counted[name]).sum() for name in FIGURES}
        return TagLoss(self.weight * loss, right, {name: counted[name].sum() for name in FIGURES})


def _summed(scores: Tensor, target: Tensor) -> Tensor:
    flat = scores.flatten(0, -2), target.flatten()
    return F.cross_entropy(*flat, ignore_index=_UNKNOWN, reduction="sum")
