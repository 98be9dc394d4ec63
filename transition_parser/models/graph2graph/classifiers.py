"""Classifiers, which turn the vectors of the words that an action concerns into scores of its kind and relation.

Source: Mohammadshahi and Henderson 2020, eq. 5
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.models.graph2graph.options import ActionOptions
from transition_parser.modules.action_scores import ARC_KINDS, B0, S0, S1, ArcActions, FactoredScores, Kinds
from transition_parser.modules.layers import HiddenLayer
from transition_parser.states.table import ActionTable

_PLACES = (S0, S1, B0)
_DEEPEST_FIRST = (S1, S0, B0)


class Classifiers(nn.Module):
    """The classifier of kinds of actions such as SHIFT (Exist), and the classifier of relations (Relation).

    Exist reads the top two words of the stack and the front of the buffer. Relation reads the two words of an arc, in
    the order in which they stand on stack and buffer, and has separate scores for the two directions.

    The paper has arc-standard, where both arcs are between the top two words of the stack. Here the transition system
    determines the two words of an arc. The words of labelled SHIFTs need no scores, because only one SHIFT is legal.

    dim: width of words
    history: width of the vector of the actions so far, 0 for none
    together: True if both classifiers read the vector of CLS instead of vectors of words
    """

    def __init__(
        self, table: ActionTable, kinds: Kinds, dim: int, options: ActionOptions, history: int, together: bool
    ) -> None:
        super().__init__()
        self.arcs, self.together = ArcActions(table), together
        dropout = options.classifier_dropout
        width = dim if together else len(_PLACES) * dim
        self.exist = HiddenLayer(width + history, options.exist_width, len(kinds.names), dropout)
        width = dim if together else 2 * dim
        outputs = len(ARC_KINDS) * len(table.relations)
        self.relation = HiddenLayer(width + history, options.relation_width, outputs, dropout)
        ends = zip(self.arcs.heads, self.arcs.dependents, strict=True)
        self.pairs = [tuple(sorted(pair, key=_DEEPEST_FIRST.index)) for pair in ends]

    def forward(self, vectors: Tensor, history: Tensor | None) -> FactoredScores:
        """Return the scores of kinds and relations."""
        known = [] if history is None else [history.to(vectors.dtype)]
        if self.together:
            x = torch.cat([vectors[:, 0], *known], 1)
            return FactoredScores(
                self.exist(x), self.arcs.of_tokens(self.relation(x).unflatten(1, (len(ARC_KINDS), -1)))
            )
        kinds = self.exist(torch.cat([*(vectors[:, place] for place in _DEEPEST_FIRST), *known], 1))
        found: dict[tuple[int, ...], Tensor] = {}
        scores = []
        for number, pair in enumerate(self.pairs):
            if pair not in found:
                x = torch.cat([*(vectors[:, place] for place in pair), *known], 1)
                found[pair] = self.relation(x).unflatten(1, (len(ARC_KINDS), -1))
            scores.append(found[pair][:, number])
        return FactoredScores(kinds, self.arcs.of_tokens(torch.stack(scores, 1)))
