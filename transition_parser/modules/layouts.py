"""Layouts: the order in which layers compute the slots of a batch, with little padding.

N rows of L slots (a piece, a word, the root or a special token), K of them wanted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.modules.layers import HeadMask, padded

WIDTHS = 8  # with `few_shapes`, widths are multiples of this number
_CELLS = 128  # with `few_shapes`, the row count of a run is a multiple of `_CELLS` // width, or of 1 if that is 0
_OVERHEAD = 64  # the cost of an additional run, on one core, as a number of cells of padding


class SequenceRun(NamedTuple):
    """A group of sequences of similar lengths."""

    rows: Tensor  # (R,); indices of sequences; the last may be repeated, so that there are few shapes
    width: int  # at least the largest length


def runs(lengths: Tensor, longest: int, few_shapes: bool = False) -> list[SequenceRun]:
    """Divide sequences into runs of similar lengths, each as long as its padding has at most `_OVERHEAD` cells.

    `longest` is an upper bound of lengths and widths; `few_shapes` is for bf16 products with unpacked weights (see
    `layers.padded_size`).

    >>> [(run.rows.tolist(), run.width) for run in runs(torch.tensor([3, 90, 4, 80]), 90)]
    [([0, 2], 4), ([3, 1], 90)]
    """
    ascending, order = lengths.sort(stable=True)
    widths = [min(rounded_up(length, WIDTHS if few_shapes else 1), longest) for length in ascending.tolist()]
    found, first, cells = [], 0, 0
    for stop, (width, following) in enumerate(zip(widths, [*widths[1:], math.inf], strict=True), 1):
        cells += width
        if (stop - first) * following - cells <= _OVERHEAD:  # the padding if the next sequence joins the run
            continue
        more = -(stop - first) % max(_CELLS // max(width, 1), 1) if few_shapes else 0
        found.append(SequenceRun(torch.cat([order[first:stop], order[stop - 1 : stop].expand(more)]), width))
        first, cells = stop, 0
    return found


def rounded_up(count: int, step: int) -> int:
    return count + -count % step


class Visible(NamedTuple):
    """The slots and relations that attention sees."""

    there: Tensor  # (N, L) bool; False for slots that are left out
    wanted: Tensor  # (N, K); the slots whose vectors the last layer computes
    relations: Tensor | None = None  # (N, L, L); one of `bert.RELATIONS` for each pair; None: no graph


class RowBlock(NamedTuple):
    """A block of R rows of W slots. A slot sees only slots of its row."""

    there: Tensor  # (R, W) bool; False for slots that are left out
    bias: Tensor  # (R, 1, 1, W); see `HeadMask`
    relations: Tensor | None  # (R, W, W); None: no graph

    @classmethod
    def from_mask(cls, there: Tensor, relations: Tensor | None) -> RowBlock:
        return cls(there, HeadMask.from_visible(there[:, None, None]).bias, relations)


class Windows(NamedTuple):
    """Rows of slots without gaps: first slots and lengths, (N,) int32, and the largest length. A slot sees its row."""

    first: Tensor
    lengths: Tensor
    longest: int


class CellLayout(NamedTuple):
    """The order in which layers compute slots: C slots of a batch in one list, by blocks or windows."""

    cells: Tensor  # (C,); the index of each slot of the list in the flattened (N, L)
    parts: list[RowBlock] | Windows
    asking: Tensor  # (A,); places of the slots that the last layer computes
    found: Tensor  # (N, K); the index in `asking` of each wanted slot; arbitrary for slots that are left out

    @classmethod
    def of_all(cls, visible: Visible) -> CellLayout:
        there, wanted, relations = visible
        cells = torch.arange(there.numel(), device=there.device)
        asking = cells[:: there.size(1), None] + wanted
        found = torch.arange(wanted.numel(), device=there.device).view_as(wanted)
        return cls(cells, [RowBlock.from_mask(there, relations)], asking.flatten(), found)

    @classmethod
    def in_windows(cls, visible: Visible, few_shapes: bool) -> CellLayout:
        """Return a layout without slots left out, for kernels without a graph."""
        there, lengths = visible.there, visible.there.sum(1)
        windows = Windows((lengths.cumsum(0) - lengths).int(), lengths.int(), int(lengths.max()))
        place = there.flatten().cumsum(0).view_as(there) - 1
        return cls._of(visible, there.flatten().nonzero()[:, 0], windows, place, few_shapes)

    @classmethod
    def without_gaps(cls, visible: Visible, few_shapes: bool) -> CellLayout:
        """Return a layout in blocks of rows of similar lengths (`runs`)."""
        there, _, relations = visible
        order = (~there).byte().argsort(dim=1, stable=True)  # the slots of each row; slots that are left out come last
        place = order.argsort(1)
        if few_shapes:
            order = F.pad(order, (0, -order.size(1) % WIDTHS))
        cells, parts, cell, first = [], [], 0, torch.zeros_like(place[:, :1])
        for rows, width in runs(there.sum(1), order.size(1), few_shapes):
            slots = order[rows, :width]
            known = torch.arange(width) < there[rows].sum(1, keepdim=True)
            among = None if relations is None else relations[rows[:, None, None], slots[:, :, None], slots[:, None]]
            parts.append(RowBlock.from_mask(known, among))
            cells.append((rows[:, None] * there.size(1) + slots).flatten())
            first[rows, 0] = cell + width * torch.arange(len(rows))
            cell += len(rows) * width
        return cls._of(visible, torch.cat(cells), parts, first + place, few_shapes)

    @classmethod
    def _of(
        cls, visible: Visible, cells: Tensor, parts: list[RowBlock] | Windows, place: Tensor, few_shapes: bool
    ) -> CellLayout:
        """Return the layout of a list of cells where each slot that is there has the given place, (N, L)."""
        matters = visible.there.gather(1, visible.wanted)
        place = place.gather(1, visible.wanted)
        asks = torch.zeros(len(cells), dtype=torch.bool)
        asks[place[matters]] = True
        asking = asks.nonzero()[:, 0]  # in order, and each once
        found = (asks.cumsum(0)[place * matters] - 1) * matters
        if few_shapes:
            cells, asking = padded(cells), padded(asking)
        return cls(cells, parts, asking, found)
