"""Classifiers, which turn the vector of a configuration into scores of an action's kind and label.

Source: Ji et al. 2021, sec. 5
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.models.use_parser.options import UseOptions
from transition_parser.modules.action_scores import ARC_KINDS, ArcActions, FactoredScores, Kinds
from transition_parser.modules.biaffine import BiaffineRelations, HeadsAndDependents
from transition_parser.modules.layers import HiddenLayer, linear
from transition_parser.states.states import RANKS, States
from transition_parser.states.table import ActionTable


def kind_scores(options: UseOptions, count: int) -> HiddenLayer:
    """Return a hidden layer that scores `count` kinds from configurations (eq. 4)."""
    return HiddenLayer(options.use_width, options.mlp_width, count, options.dropout)


class PlainClassifier(nn.Module):
    """The classifier for AMRs: a linear layer over the configuration scores the labels of all kinds.

    It does not read words, because no arc of an AMR is between two words.
    """

    needs: tuple[str, ...] = ()

    def __init__(self, table: ActionTable, kinds: Kinds, options: UseOptions, words: int) -> None:
        super().__init__()
        self.kinds = kind_scores(options, len(kinds.names))
        self.labels = linear(options.use_width, len(table.tokens))

    def ends(self, words: Tensor) -> None:
        """Return None, because this classifier does not read words."""

    def forward(self, c: Tensor, states: States, ends: None = None) -> FactoredScores:
        """Return the scores of a batch of derivations with configurations (B, T, width)."""
        return FactoredScores(self.kinds(c), self.labels(c))

    def step(
        self, c: Tensor, states: States, ends: HeadsAndDependents | None, sentence: Tensor, first: Tensor | None = None
    ) -> Tensor:
        """Return (R, V), the scores of the labels of V actions in R rows of search."""
        return self.labels(c)


class TreeClassifier(nn.Module):
    """The classifier for trees: the configuration and a biaffine form of two words score relations (eq. 5).

    LEFT-ARC and RIGHT-ARC share the weights. SHIFTs that name words need no scores for the words, because only one such
    SHIFT is legal.

    arc_of_kind: (K,); the index of each kind in `ARC_KINDS`, −1 for other kinds
    """

    needs = RANKS
    arc_of_kind: Tensor

    def __init__(self, table: ActionTable, kinds: Kinds, options: UseOptions, words: int) -> None:
        super().__init__()
        self.kinds = kind_scores(options, len(kinds.names))
        self.count = len(table.relations)
        self.relations = BiaffineRelations(words, options.relation_width, self.count)
        self.of_configuration = nn.Linear(options.use_width, self.count, bias=False)
        nn.init.xavier_uniform_(self.of_configuration.weight)
        self.arcs = ArcActions(table)
        arcs = {kind.value: number for number, kind in enumerate(ARC_KINDS)}
        self.register_buffer(
            "arc_of_kind", torch.tensor([arcs.get(name, -1) for name in kinds.names]), persistent=False
        )

    def ends(self, words: Tensor) -> HeadsAndDependents:
        """Return the tensors from which arcs are scored, computed once for each sentence."""
        return self.relations.ends(words)

    def forward(self, c: Tensor, states: States, ends: HeadsAndDependents) -> FactoredScores:
        """Return the scores of a batch of derivations with configurations (B, T, width)."""
        batch, steps, _ = c.shape
        pairs = self.relations.of_all_pairs(ends)
        positions = pairs.size(1)
        heads, dependents = self.arcs.positions(states.flattened())
        sentence = torch.arange(batch, device=c.device).repeat_interleave(steps)[:, None]
        index = ((sentence * positions + dependents) * positions + heads).flatten()
        scores = pairs.flatten(0, 2).index_select(0, index).unflatten(0, (batch, steps, len(ARC_KINDS)))
        return FactoredScores(self.kinds(c), self.arcs.of_tokens(scores + self.of_configuration(c)[..., None, :]))

    def step(
        self, c: Tensor, states: States, ends: HeadsAndDependents | None, sentence: Tensor, first: Tensor | None = None
    ) -> Tensor:
        """Return (R, V), the scores of the labels of V actions in R rows of search."""
        assert ends is not None
        heads, dependents = self.arcs.positions(states)
        if first is None:
            scores = self._of_pairs(ends, sentence[:, None], heads, dependents) + self.of_configuration(c)[:, None]
            return self.arcs.of_tokens(scores)
        arc = self.arc_of_kind[first]
        rows = slice(None)
        if c.device.type == "cpu":  # elsewhere counting the arcs would make the host wait
            rows = (arc >= 0).nonzero()[:, 0]
        arc, sentence = arc[rows, None].clamp_min(0), sentence[rows, None]
        found = self._of_pairs(ends, sentence, heads[rows].gather(1, arc), dependents[rows].gather(1, arc))
        scores = self.of_configuration(c).float()
        scores[rows] += found[:, 0]
        return self.arcs.of_tokens(scores[:, None].expand(-1, len(ARC_KINDS), -1))

    def _of_pairs(self, ends: HeadsAndDependents, sentence: Tensor, heads: Tensor, dependents: Tensor) -> Tensor:
        """Return (N, M, relations), the scores of M pairs of words, at (N, M), in the sentence (N, 1) of each state."""
        first = sentence * ends.heads.size(1)
        chosen = (
            words.flatten(0, 1).index_select(0, (first + some).flatten())
            for words, some in zip(ends, (heads, dependents), strict=True)
        )
        return self.relations(*chosen).unflatten(0, heads.shape)
