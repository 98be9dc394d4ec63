"""The page of a report: sections of tables, some with bars, and of sentences, drawn by the template report.html."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.files import replacing

WORST = 100  # maximum number of sentences in a report; browsers scroll longer pages badly


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
    bars: Sequence[float] = ()  # for each row the length of a bar, from 0 to 1


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
