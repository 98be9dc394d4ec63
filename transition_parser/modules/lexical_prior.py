"""A prior of the AMR actions that make nodes: how often each of them made a node of the current span in training.

The training sentences are too few for a network to learn the most frequent frame sense of a word. Counts show it.
"""

from __future__ import annotations

from itertools import chain

import torch
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.states.table import FIRST_ROW, ActionTable
from transition_parser.transitions.amr_naming import MAKE_NODES

_WEIGHT = 1.0  # the initial weight of the prior, for each kind of action


class LexicalPrior(nn.Module):
    """A layer that adds a prior, given the current span, to the scores of the actions that make nodes.

    The prior is log (p · n) of one of n actions for the span (`states.table.lexical_prior`), times a weight learned for
    each kind of action. Scores of other actions, and of spans outside the lexicon, do not change.

    table: an action table with a `prior`

    Raises `InputError` if the data has no counts of these actions.
    """

    def __init__(self, table: ActionTable) -> None:
        super().__init__()
        if not table.prior:
            raise InputError(
                "--lexical-prior: the data has no counts of naming actions: make it with `transition-parser preprocess "
                "amr`"
            )
        kinds = {kind: number for number, kind in enumerate(sorted(MAKE_NODES, key=str))}
        self.weight = nn.Parameter(torch.full((len(kinds),), _WEIGHT))
        rows: list[dict[int, float]] = [{}] * FIRST_ROW + table.prior
        tokens = [*chain.from_iterable(rows)]
        self._keep("offsets", torch.tensor([0, *map(len, rows)]).cumsum(0))
        # the 0 at the end keeps the tensors from being empty
        self._keep("tokens", torch.tensor([*tokens, 0]))
        self._keep("values", torch.tensor([*chain.from_iterable(row.values() for row in rows), 0.0]))
        named = [table.actions[token] for token in tokens]
        self._keep("kinds", torch.tensor([*(kinds[action.kind] for action in named if action), 0]))
        self._keep("nowhere", torch.full((len(table.tokens),), -1))
        self._keep("numbers", torch.arange(max(map(len, rows))))

    def _keep(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    def values_of_tokens(self) -> Tensor:
        """Return the weighted prior, (K,), of the K entries of `self.tokens`, which lists the actions span by span."""
        return self.values * self.weight[self.kinds]

    def forward(self, scores: Tensor, spans: Tensor, tokens: Tensor | None = None) -> Tensor:
        """Return the scores with the prior.

        scores: (N, U); the scores of U actions in N states
        spans: (N,); the lexicon row of the current span of each state
        tokens: (U,); the actions that are scored; None for all actions
        """
        index = self.offsets[spans][:, None] + self.numbers
        there = index < self.offsets[spans + 1][:, None]
        index = index.clamp_max(len(self.tokens) - 1)
        column = self.tokens[index]
        if tokens is not None:
            places = self.nowhere.scatter(0, tokens, torch.arange(len(tokens), device=tokens.device))
            column = places[column]
            there = there & (column >= 0)
        added = torch.where(there, self.values[index] * self.weight[self.kinds[index]], 0.0)
        return scores.scatter_add(1, column.clamp_min(0), added.to(scores.dtype))
