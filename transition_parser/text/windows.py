"""Overlapping windows over long sentences, for encoders that read only a limited number of pieces at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """A window over the words `first` ≤ i < `stop`; the encodings of `kept_from` ≤ i < `kept_stop` come from it.

    The encodings of its other words come from a neighbouring window, where these words are further from the edge.
    """

    first: int
    stop: int
    kept_from: int
    kept_stop: int

    def keeps(self, word: int) -> bool:
        return self.kept_from <= word < self.kept_stop


def windows(sizes: Sequence[int], longest: int) -> list[Window]:
    """Return overlapping windows over the words of a sentence. Exactly one window keeps each word.

    Neighbouring windows share about half of their pieces, so that each kept word has context on both sides. Raises
    `ValueError` for a word of more than `longest` pieces.

    >>> windows([1] * 5, 8)
    [Window(first=0, stop=5, kept_from=0, kept_stop=5)]
    >>> windows([1] * 10, 4)[1]
    Window(first=2, stop=6, kept_from=3, kept_stop=5)
    """
    if any(size > longest for size in sizes):
        raise ValueError(f"a word of more than {longest} pieces")
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        stop, left = first, longest
        while stop < len(sizes) and sizes[stop] <= left:
            left -= sizes[stop]
            stop += 1
        spans.append((first, stop))
        if stop == len(sizes):
            break
        half, after = 0, first + 1  # the next window begins about half of the pieces later, and at least one word later
        while after < stop and half + sizes[after - 1] < longest // 2:
            half += sizes[after - 1]
            after += 1
        first = after
    borders = [0, *((later[0] + earlier[1]) // 2 for earlier, later in pairwise(spans)), len(sizes)]
    return [Window(*span, *kept) for span, kept in zip(spans, pairwise(borders), strict=True)]
