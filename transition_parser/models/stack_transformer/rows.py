"""Which rows each layer computes in one step of search."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.modules.linear import FEW_ROWS, padded


class LayerRows(NamedTuple):
    """One layer's part in a step of R hypotheses; its input has M rows, its output N.

    sources: (R,), which row of the input each hypothesis has, for its keys and values; None: M is R, its own.
    queries: (N,), which hypotheses the output is of; None: N is R, all.
    inputs: (N,), which rows of the input those are; None: all, in order.
    Where one layer's `sources` are given they are in all steps of a search: they are stored.
    """

    sources: Tensor | None = None
    queries: Tensor | None = None
    inputs: Tensor | None = None

    def select(self, x: Tensor) -> Tensor:
        """(M, …) to (N, …): the rows of the input that the output is of."""
        return x if self.inputs is None else x.index_select(0, self.inputs)


class StepRows(NamedTuple):
    """tokens: (M,), the actions that the first layer's input is of. layers: the rows of each layer."""

    tokens: Tensor
    layers: list[LayerRows]


def all_rows(tokens: Tensor, layers: int) -> StepRows:
    """Each layer computes all rows: fixed shapes, so that an accelerator need not be waited for."""
    return StepRows(tokens, [LayerRows()] * layers)


def needed_rows(tokens: Tensor, layers: int, legal: Tensor, closing: Tensor, alive: Tensor | None) -> StepRows:
    """The rows that must be computed. What the first layer projects depends on the action and the step alone, so each
    action is embedded once. The dead are left out, and those whose only action ends the derivation: no later action
    attends to it; the last layer computes those alone that have more than one action whose probability counts.

    tokens: (R,), the actions just taken. legal: (R, U). closing: (R,), see the machine. alive: (R,) bool or None.
    """
    if len(tokens) <= FEW_ROWS:
        return StepRows(tokens, [LayerRows(torch.arange(len(tokens)))] * layers)
    several = (legal != 0).sum(1) > 1
    needed = several | ~closing
    if alive is not None:
        needed, several = needed & alive, several & alive
    needed, several = needed.nonzero()[:, 0], several.nonzero()[:, 0]
    distinct, distinct_of_row = tokens.unique(return_inverse=True)
    row_of = torch.zeros_like(distinct_of_row)  # where each needed row is among them
    row_of[needed] = torch.arange(len(needed))
    needed, several = padded(needed), padded(several)
    last = LayerRows(row_of, several, row_of[several])
    if layers == 1:
        rows = [LayerRows(distinct_of_row, several, distinct_of_row[several])]
    else:
        first = LayerRows(distinct_of_row, needed, distinct_of_row[needed])
        rows = [first, *[LayerRows(row_of, needed)] * (layers - 2), last]
    return StepRows(padded(distinct), rows)
