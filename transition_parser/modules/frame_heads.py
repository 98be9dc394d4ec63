"""PropBank's frames and arguments, predicted from the encoder, so that the encoder learns them along with the parser.

Nothing of this is used for parsing. The heads belong to the criterion and not to the model, so that no exported model
has them.
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
from transition_parser.text.columns import Annotations
from transition_parser.text.predicates import ARGUMENT_LABELS, COLUMN, SENSE_NUMBERS, ids_of

WIDTH = 64  # of words as predicates and as arguments
SENSES, ARGUMENTS = FIGURES = ("senses", "arguments")  # names of targets and of logged figures
_UNKNOWN = -1  # a target without a loss


class FrameHeads(nn.Module):
    """Two heads: the sense of each word's frame, and for each predicate the label of each word as its argument.

    The second one is biaffine, as by Dozat and Manning 2017. Class 0 of both is "none".

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

        Raises `InputError` for an unfit weight, and for a model without an encoder before its decoder.

        arch: the name of the model, for messages.
        """
        if not 0.0 < weight < math.inf:
            raise InputError(f"--frame-loss must be 0 or more, and a finite number, not {weight}")
        if model.tagged_width is None:
            raise InputError(f"--frame-loss: {arch} has no encoder before its decoder that could learn frames")
        return cls(model.tagged_width, weight)

    def targets(self, annotations: Annotations, wide: int) -> dict[str, Tensor]:
        """Return the targets of a batch by their names; −1 at the root, at padding, and without annotation.

        `senses` is (B, wide): the sense of each word. `arguments` is (B, wide, wide): the label of each word, in rows,
        as argument of each predicate, in columns, −1 in the columns of words that are no predicates.

        annotations: they have the column `propbank`.
        wide: the number of words of the longest sentence, and 1 for the root.
        """
        sentences = annotations[COLUMN]
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
        """Return the weighted cross-entropy of all targets but −1, summed, and how many predictions are right.

        Only words with a sense and pairs with a label count as right or wrong.

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
