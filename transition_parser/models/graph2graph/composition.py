"""Words composed with their dependents, an LSTM over the actions so far, classifiers of kinds and relations.

R hypotheses, B derivations of T steps, P words and root. Source: Mohammadshahi and Henderson 2020, sec. 4.1, appendix B
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.models.graph2graph.options import ActionOptions, StateTransformerOptions
from transition_parser.modules.action_scores import ARC_KINDS, B0, S0, S1, ArcActions, FactoredScores, Kinds
from transition_parser.modules.encoder import LSTM
from transition_parser.modules.layers import HiddenLayer, gather_rows, linear
from transition_parser.states.states import States
from transition_parser.states.table import ActionTable


class Composed(NamedTuple):
    """The words of R hypotheses, composed with their dependents."""

    words: Tensor  # (R, P, dim); the vectors C of eq. 11
    head: Tensor  # (R, P); the offset to the head, as in `States`
    dependent: Tensor  # (R, P); the most recent dependent of each word, −1 for none
    label: Tensor  # (R, P); the relation and direction of that dependent's arc, 0 for none

    def rows(self, rows: Tensor) -> Composed:
        return Composed(*(field.index_select(0, rows) for field in self))


class Composition(nn.Module):
    """A module that composes words after each action: C' = Comp(C, C of the latest dependent, its label) + C (eq. 11).

    Comp starts at zero, for the sake of a pretrained Transformer; without the summand C (`skip`, appendix A) at random.
    """

    def __init__(self, dim: int, width: int, relations: int, skip: bool = True) -> None:
        super().__init__()
        self.relations, self.skip = relations, skip
        self.labels = nn.Embedding(2 * relations, dim)
        self.no_dependent = nn.Parameter(torch.zeros(dim))
        nn.init.normal_(self.labels.weight, std=0.02)
        self.head, self.dependent, self.label = linear(dim, width), linear(dim, width), linear(dim, width)
        self.output = linear(width, dim)
        if skip:
            nn.init.zeros_(self.output.weight)

    def start(self, words: Tensor) -> Composed:
        """Return the words (R, P, dim) before the first action, which are not yet composed."""
        none = torch.zeros(words.shape[:2], dtype=torch.long, device=words.device)
        return Composed(words, none, none - 1, none)

    def forward(self, before: Composed, states: States) -> Composed:
        """Return the words after one more action, which led to `states` (R, …)."""
        assert states.head is not None and states.relation is not None
        assert states.stack is not None and states.buffer is not None
        head = states.head.long()
        new, attached = ((head != 0) & (before.head == 0)).byte().max(1)
        attached = attached[:, None]
        offset = head.gather(1, attached)
        receiver = attached + offset
        label = states.relation.long().gather(1, attached) + self.relations * (offset > 0)
        is_new = new[:, None] > 0
        positions = torch.arange(head.size(1), device=head.device)
        gets = is_new & (positions == receiver)
        dependent, labels = torch.where(gets, attached, before.dependent), torch.where(gets, label, before.label)
        words = before.words
        of_dependents = gather_rows(words, dependent.clamp_min(0))
        of_dependents = torch.where(dependent[..., None] >= 0, of_dependents, self.no_dependent.to(words.dtype))
        hidden = self.head(words) + self.dependent(of_dependents)
        hidden = hidden + self.label(self.labels.weight)[labels].to(hidden.dtype)
        there = ((states.stack > 0) | (states.buffer > 0))[..., None]
        found = self.output(hidden.tanh()).to(words.dtype)
        if self.skip:
            found = words + found
        return Composed(torch.where(there, found, words), head, dependent, labels)

    def all_steps(self, words: Tensor, states: States) -> Tensor:
        """Return (B, T, P, dim), the words (B, P, dim) composed before each action of `states` (B, T, …)."""
        now, found = self.start(words), [words]
        for step in range(1, states.columns.size(1)):
            now = self(now, states.at(slice(None), step))
            found.append(now.words)
        return torch.stack(found, 1)


class History(nn.Module):
    """An LSTM over the actions so far, each embedded as the sum of its kind's and its relation's embedding (eq. 8)."""

    kind: Tensor
    relation: Tensor

    def __init__(self, table: ActionTable, kinds: Kinds, options: StateTransformerOptions) -> None:
        super().__init__()
        self.width = options.history_width
        self.of_kind = nn.Embedding(len(kinds.names), self.width)
        self.of_relation = nn.Embedding(len(table.relations), self.width)
        self.register_buffer("kind", kinds.kind.clone(), persistent=False)
        self.register_buffer("relation", torch.from_numpy(table.relation).long(), persistent=False)
        self.lstm = LSTM(self.width, self.width, options.history_layers, batch_first=True)

    def forward(self, tokens: Tensor, memory: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple]:
        """Return the LSTM's output (B, T, width) for the action before each step, and its memory after the last one."""
        return self.lstm(self.of_kind(self.kind[tokens]) + self.of_relation(self.relation[tokens]), memory)


_PLACES = (S0, S1, B0)
_DEEPEST_FIRST = (S1, S0, B0)


class Classifiers(nn.Module):
    """The classifiers of kinds (Exist: s1, s0, b0) and relations (the words of an arc); `together` both read CLS."""

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
