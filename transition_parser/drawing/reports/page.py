"""The page of a report: sections of tables and sentences, drawn by the template report.html."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.files import replacing
from transition_parser.drawing.reports.charts import Chart

WORST = 100  # maximum number of sentences in a report; browsers scroll longer pages badly


class Cell(NamedTuple):
    """A cell of a table.

    kind: `wrong`, or an empty string
    share: darkness of the cell, from 0 to 1
    """

    text: object
    kind: str = ""
    share: float = 0.0


class ReportTable(NamedTuple):
    """A table.

    note: a sentence above the table
    chart: the scores of the table as bars, or None
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    chart: Chart | None = None


class Compared(NamedTuple):
    """A sentence with its gold and predicted graph.

    score: the score as text
    rows: one row for each word, with gold and predicted values; may be empty
    gold, predicted: the graphs as text; may be empty
    missing, extra: the parts that only the gold graph has, and the parts that only the predicted graph has
    """

    name: str
    text: str
    score: str
    head: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
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
    """Write a report.

    facts: name → value; shown first
    worst: the sentences that are shown
    total: number of all sentences
    order: a phrase that says how `worst` was chosen

    Raises `InputError` if the file cannot be written.
    """
    from jinja2 import Environment, StrictUndefined

    source = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(source)
    text = template.render(title=title, facts=facts, tables=tables, worst=worst, total=total, order=order)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
