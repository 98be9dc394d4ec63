"""Runs: groups of sequences of similar lengths, padded to the longest of the run alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

WIDTHS = 8  # with `few_shapes`, widths are multiples of this number
_CELLS = 128  # with `few_shapes`, the row count of a run is a multiple of `_CELLS` // width, or of 1 if that is 0
_OVERHEAD = 64  # the cost of an additional run, on one core, as a number of cells


class SequenceRun(NamedTuple):
    """A group of sequences of similar lengths."""

    rows: Tensor  # (R,); indices of sequences; the last may be repeated, so that there are few shapes
    width: int  # at least the largest length


def runs(lengths: Tensor, longest: int, few_shapes: bool = False) -> list[SequenceRun]:
    """Divide sequences into runs, so that their cells (rows × width), and `_OVERHEAD` for each run, are fewest.

    On any device but a CPU the result is one run: a search for runs would wait for the device. `longest` is an upper
    bound of lengths and widths; `few_shapes` is for bf16 products with unpacked weights (see `layers.padded_size`).

    >>> [(run.rows.tolist(), run.width) for run in runs(torch.tensor([3, 90, 4, 80]), 90)]
    [([0, 2], 4), ([3, 1], 90)]
    """
    if lengths.device.type != "cpu" or not len(lengths):
        return [SequenceRun(torch.arange(len(lengths), device=lengths.device), longest)]
    ascending, order = lengths.sort(stable=True)
    widths = [min(rounded_up(length, WIDTHS if few_shapes else 1), longest) for length in ascending.tolist()]
    found = []
    for first, stop in _cut(widths, few_shapes):
        width = widths[stop - 1]
        more = _rows(stop - first, width, few_shapes) - (stop - first)
        found.append(SequenceRun(torch.cat([order[first:stop], order[stop - 1 : stop].expand(more)]), width))
    return found


def in_rows(lengths: Sequence[int], most: int) -> list[range]:
    """Pack sequences, in order, into rows at most `most` long, or of one longer sequence; return the ranges.

    >>> in_rows([3, 4, 2, 9, 5], 9)
    [range(0, 3), range(3, 4), range(4, 5)]
    """
    found, first, count = [], 0, 0
    for i, length in enumerate(lengths):
        if i > first and count + length > most:
            found.append(range(first, i))
            first, count = i, 0
        count += length
    return [*found, range(first, len(lengths))] if lengths else []


def rounded_up(count: int, step: int) -> int:
    return count + -count % step


def _rows(count: int, width: int, few_shapes: bool) -> int:
    return rounded_up(count, max(_CELLS // max(width, 1), 1)) if few_shapes else count


def _cut(widths: list[int], few_shapes: bool) -> list[tuple[int, int]]:
    """Return the start and stop of each run for ascending widths of sequences, at the lowest total cost."""
    stops, count = [0], 0
    for _, same in groupby(widths):
        count += len(list(same))
        stops.append(count)
    best: dict[int, tuple[int, int]] = {0: (0, 0)}  # stop → the least cost up to it, start of its last run
    for i, stop in enumerate(stops[1:], 1):
        width = widths[stop - 1]
        best[stop] = min(
            (best[first][0] + width * _rows(stop - first, width, few_shapes) + _OVERHEAD, first) for first in stops[:i]
        )
    found, stop = [], stops[-1]
    while stop:
        first = best[stop][1]
        found.append((first, stop))
        stop = first
    return found[::-1]
