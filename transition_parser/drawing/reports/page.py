"""The page of a report: sections of tables, bar charts and sentences, drawn by the template report.html."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.files import replacing

WORST = 100  # maximum number of sentences in a report; browsers scroll longer pages badly


# widths in pixels: of a character of a name, and of the columns of figures, bars and notes
CHARACTER, FIGURES, BARS, NOTES = 8, 56, 240, 200
ROW, AXIS = 22, 24  # heights of a bar with its gap, and of the axis
_TICKS = 4


class Bar(NamedTuple):
    """A bar of a chart."""

    name: str  # text on the left of the bar
    value: float  # length of the bar, on the scale of the chart
    figure: str  # the value as it is written before the bar
    note: str  # the data that the value was measured on, such as `1,204 words`


class Chart(NamedTuple):
    """Horizontal bars, one below the other, on a scale from 0."""

    measure: str  # the name of the score, such as `LAS`
    most: float  # the end of the scale
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

    def placed(self) -> list[tuple[Bar, int, float]]:
        """Return each bar with its upper edge and its length in pixels, from top to bottom."""
        return [(bar, ROW * i, BARS * bar.value / self.most) for i, bar in enumerate(self.bars)]

    def ticks(self) -> list[tuple[float, str]]:
        """Return the marks of the axis, x in pixels and text, from 0 to the end of the scale."""
        shares = [i / _TICKS for i in range(_TICKS + 1)]
        return [(self.left + BARS * share, f"{self.most * share:g}") for share in shares]

    def description(self) -> str:
        """Return the chart in words."""
        return "; ".join(f"{bar.name}: {bar.figure} ({bar.note})" for bar in self.bars)


class Cell(NamedTuple):
    """A cell of a table."""

    text: object
    kind: str = ""  # `wrong`, or an empty string
    share: float = 0.0  # darkness of the cell, from 0 to 1


class ReportTable(NamedTuple):
    """A table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""  # a sentence above the table
    chart: Chart | None = None  # the scores of the table as bars, or None


class Compared(NamedTuple):
    """A sentence with its gold and predicted graph."""

    name: str
    text: str
    score: str  # the score as text
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()  # one row for each word, with gold and predicted values; may be empty
    gold: str = ""
    predicted: str = ""
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()


def cells(*values: object) -> list[Cell]:
    """Return one plain cell for each value."""
    return [Cell(value) for value in values]


def write_page(
    path: str | os.PathLike,
    title: str,
    facts: Mapping[str, Any],
    tables: Sequence[ReportTable],
    worst: Sequence[Compared],
    total: int,
    order: str,
) -> None:
    """Write a report."""
    from jinja2 import Environment, StrictUndefined

    source = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(source)
    text = template.render(title=title, facts=facts, tables=tables, worst=worst, total=total, order=order)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
