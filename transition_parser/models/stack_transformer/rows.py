"""The rows that each layer computes in one step of search."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.modules.layers import padded

FEW_ROWS = 16  # up to this many rows, one call of a kernel computes all rows in all layers, which is fastest


class LayerRows(NamedTuple):
    """The rows that one layer computes in a step of R hypotheses. The layer's input has M rows, its output N rows.

    A layer that has `sources` in one step of a search has `sources` in all steps, because the cache stores them.

    sources: (R,) or None; the input row of each hypothesis's keys and values; None: M is R, hypothesis r has row r
    queries: (N,) or None; the hypothesis that each output row belongs to; None: N is R, row r belongs to hypothesis r
    inputs: (N,) or None; the input row that each output row is computed from; None: all rows, in order
    """

    sources: Tensor | None = None
    queries: Tensor | None = None
    inputs: Tensor | None = None

    def select(self, x: Tensor) -> Tensor:
        """Return (N, …), the input rows of x (M, …) that the output is computed from."""
        return x if self.inputs is None else x.index_select(0, self.inputs)


class StepRows(NamedTuple):
    """The rows of one step in all layers.

    tokens: (M,); the actions at the rows of the first layer's input
    layers: the rows of each layer
    """

    tokens: Tensor
    layers: list[LayerRows]


def all_rows(tokens: Tensor, layers: int) -> StepRows:
    """Return a step in which each layer computes all rows, so that the host need not wait for an accelerator."""
    return StepRows(tokens, [LayerRows()] * layers)


def needed_rows(tokens: Tensor, layers: int, legal: Tensor, may_finish: Tensor, alive: Tensor | None) -> StepRows:
    """Return the rows that each layer must compute. Up to `FEW_ROWS` hypotheses, these are all rows.

    The first layer's projections depend on the action and the step alone, so each distinct action is embedded once.
    Rows that are not alive are left out. Rows are also left out if their only legal action ends the derivation or makes
    it final, because no later action attends to them. The last layer computes only the rows with more than one action
    whose legality is not 0.

    tokens: (R,); the actions just taken
    legal: (R, U); the legality of the actions, 0 for actions that the softmax excludes; see `Machine.legality`
    may_finish: (R,) bool; see `Machine.may_finish`
    alive: (R,) bool or None; the rows whose scores matter; None: all
    """
    if len(tokens) <= FEW_ROWS:
        return StepRows(tokens, [LayerRows(torch.arange(len(tokens)))] * layers)
    several = legal.abs().sum(1) > 1  # many times faster than counting nonzero values
    needed = several | ~may_finish
    if alive is not None:
        needed, several = needed & alive, several & alive
    needed, several = needed.nonzero()[:, 0], several.nonzero()[:, 0]
    distinct, distinct_of_row = tokens.unique(return_inverse=True)
    row_of = torch.zeros_like(distinct_of_row)  # index of each needed row in `needed`
    row_of[needed] = torch.arange(len(needed))
    needed, several = padded(needed), padded(several)
    last = LayerRows(row_of, several, row_of[several])
    if layers == 1:
        rows = [LayerRows(distinct_of_row, several, distinct_of_row[several])]
    else:
        first = LayerRows(distinct_of_row, needed, distinct_of_row[needed])
        rows = [first, *[LayerRows(row_of, needed)] * (layers - 2), last]
    return StepRows(padded(distinct), rows)
