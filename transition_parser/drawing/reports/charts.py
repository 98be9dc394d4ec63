"""Bar charts of reports: the places of bars, their names and the axis, which the template draws as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# widths in pixels: of a character of a name, and of the columns of figures, bars and notes
CHARACTER, FIGURES, BARS, NOTES = 8, 56, 240, 200
ROW, AXIS = 22, 24  # heights of a bar with its gap, and of the axis
_TICKS = 4


class Bar(NamedTuple):
    """A bar of a chart.

    name: text on the left of the bar
    value: length of the bar, on the scale of the chart
    figure: the value as it is written before the bar
    note: the data that the value was measured on, such as `1,204 words`
    """

    name: str
    value: float
    figure: str
    note: str


class Placed(NamedTuple):
    """A bar with its place in pixels.

    top: its upper edge
    width: its length
    """

    bar: Bar
    top: int
    width: float


class Tick(NamedTuple):
    """A mark of the axis.

    x: its place in pixels
    """

    x: float
    text: str


class Chart(NamedTuple):
    """Horizontal bars, one below the other, on a scale from 0.

    measure: the name of the score, such as `LAS`
    most: the end of the scale
    """

    measure: str
    most: float
    bars: Sequence[Bar]

    @property
    def width(self) -> int:
        """The width of the picture in pixels."""
        return self.left + BARS + NOTES

    @property
    def height(self) -> int:
        """The height of the picture in pixels."""
        return ROW * len(self.bars) + AXIS

    @property
    def names(self) -> int:
        """The width of the column of names, in pixels."""
        return CHARACTER * max((len(bar.name) for bar in self.bars), default=0) + CHARACTER

    @property
    def left(self) -> int:
        """The x of the scale's 0, in pixels."""
        return self.names + FIGURES

    def placed(self) -> list[Placed]:
        """Return the bars from top to bottom."""
        return [Placed(bar, ROW * i, BARS * bar.value / self.most) for i, bar in enumerate(self.bars)]

    def ticks(self) -> list[Tick]:
        """Return the marks of the axis, from 0 to the end of the scale."""
        shares = [i / _TICKS for i in range(_TICKS + 1)]
        return [Tick(self.left + BARS * share, f"{self.most * share:g}") for share in shares]

    def description(self) -> str:
        """Return the chart in words."""
        return "; ".join(f"{bar.name}: {bar.figure} ({bar.note})" for bar in self.bars)
