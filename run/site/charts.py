"""Bar charts for the site, drawn from the tables of its pages.

A comment above a Markdown table asks for a chart of one of its columns:

    <!-- chart: dev, greedy: UAS / LAS -->
    | variant | dev, greedy: UAS / LAS |
    |---|---|
    | pieces | 77.7 / 71.7, 77.7 / 71.8 |

The chart stands above the table, which keeps all figures as text.
"""

from __future__ import annotations

import html
import re
from statistics import mean
from typing import NamedTuple

_ASKED = re.compile(r"^<!-- chart: (?P<column>.+?) -->\n+(?P<table>(?:\|.*\n?)+)", re.MULTILINE)
_CELLS = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MARKS = re.compile(r"[*`]|\[(.*?)\]\(.*?\)")


class ChartRow(NamedTuple):
    """A bar of a chart: its label, its value, and the number of decimals of the value."""

    label: str
    value: float
    decimals: int


def with_charts(markdown: str) -> str:
    """Return a page with a chart above each table that asks for one.

    Raises `ValueError` for a column that the table does not have.
    """
    return _ASKED.sub(lambda match: f"{_chart(match['column'], match['table'])}\n\n{match['table']}", markdown)


def bars(column: str, table: str) -> list[ChartRow]:
    """Return a bar for each row of a table whose cell holds a figure. Raises `ValueError` for an unknown column.

    >>> bars("LAS", "| model | LAS |\\n|---|---|\\n| `a` | 70.1, 70.3 |\\n| b | 60.5 / 50.25 |\\n| c | – |")
    [ChartRow(label='a', value=70.2, decimals=1), ChartRow(label='b', value=50.25, decimals=2)]
    """
    head, _, *rows = ([cell.strip() for cell in _CELLS.split(line)[1:-1]] for line in table.strip().splitlines())
    if column not in head:
        raise ValueError(f"there is no column {column!r} to draw: {head}")
    at = head.index(column)
    return [ChartRow(_plain(row[0]), *found) for row in rows if (found := _figure(row[at])) is not None]


def _figure(cell: str) -> tuple[float, int] | None:
    """Return the mean over seeds of the last score, and its decimals; None for a cell without a number.

    Commas separate the seeds of a cell, and slashes separate the scores of a seed.
    """
    last = [_NUMBER.search(seed.rpartition("/")[2]) for seed in cell.partition(" (")[0].split(",")]
    numbers = [found[0] for found in last if found]
    if not numbers:
        return None
    decimals = len(numbers[0].partition(".")[2])
    return round(mean(map(float, numbers)), decimals), decimals


def _plain(cell: str) -> str:
    """Return a label: the text of the cell without Markdown, up to the first parenthesis or colon."""
    return re.split(r" \(|: ", _MARKS.sub(lambda match: match[1] or "", cell))[0]


def _chart(column: str, table: str) -> str:
    found = bars(column, table)
    most = max(bar.value for bar in found)
    rows = (
        f'<span class="label">{html.escape(bar.label)}</span>'
        f'<span class="bar" style="width:{100 * bar.value / most:.1f}%"></span>'
        f"<span>{bar.value:.{bar.decimals}f}</span>"
        for bar in found
    )
    title = html.escape(_title(column))
    head = f'<div class="chart" role="img" aria-label="{title}"><span class="chart-title">{title}</span>'
    return f"{head}{''.join(rows)}</div>"


def _title(column: str) -> str:
    """Return the name of the column with only the last of its scores: `dev: UAS / LAS` becomes `dev: LAS`."""
    return re.sub(r"[^:/ ]+ / ([^:/]+)$", r"\1", column)
