"""Sequences of unequal lengths in runs of similar ones: an encoder that pads each to the longest of its run computes
little in vain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import torch
from torch import Tensor

WIDTHS = 8  # widths are multiples of it where there are to be few shapes
_CELLS = 128  # there rows are added up to whole blocks of at least so many cells
_OVERHEAD = 64  # cells: on one core a run more takes about as long as so many of them


class Run(NamedTuple):
    """rows: (R,), which sequences; to have few shapes the last may be there several times. width: no less than the
    length of the longest of them."""

    rows: Tensor
    width: int


def runs(lengths: Tensor, longest: int, few_shapes: bool = False) -> list[Run]:
    """Runs of sequences of these lengths, (N,), so that each is in one; longest: no length is greater, and no width is.

    Of all ways to cut them the one with the fewest cells, where a run more counts as some. few_shapes: for products in
    bf16 that are not packed, as in training (see `linear.padded_size`). One run on any device but a CPU: there many
    cells at once cost little, and finding the runs would wait for the device.

    >>> [(run.rows.tolist(), run.width) for run in runs(torch.tensor([3, 90, 4, 80]), 90)]
    [([0, 2], 4), ([3, 1], 90)]
    """
    if lengths.device.type != "cpu" or not len(lengths):
        return [Run(torch.arange(len(lengths), device=lengths.device), longest)]
    ascending, order = lengths.sort(stable=True)
    widths = [min(rounded_up(length, WIDTHS if few_shapes else 1), longest) for length in ascending.tolist()]
    found = []
    for first, stop in _cut(widths, few_shapes):
        width = widths[stop - 1]
        more = _rows(stop - first, width, few_shapes) - (stop - first)
        found.append(Run(torch.cat([order[first:stop], order[stop - 1 : stop].expand(more)]), width))
    return found


def in_rows(lengths: Sequence[int], most: int) -> list[range]:
    """Which sequences of these lengths follow each other in each row of no more than `most` in all: as many as fit. One
    that is longer has a row of its own.

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
    """The least multiple of `step` that is no less than `count`."""
    return count + -count % step


def _rows(count: int, width: int, few_shapes: bool) -> int:
    return rounded_up(count, max(_CELLS // max(width, 1), 1)) if few_shapes else count


def _cut(widths: list[int], few_shapes: bool) -> list[tuple[int, int]]:
    """Where runs of ascending widths begin and end."""
    stops, count = [0], 0
    for _, same in groupby(widths):
        count += len(list(same))
        stops.append(count)
    best: dict[int, tuple[int, int]] = {0: (0, 0)}  # by where it ends: cost, and where the last run begins
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
