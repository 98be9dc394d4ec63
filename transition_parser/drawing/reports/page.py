"""The page of a report: sections of tables and sentences, by the template beside this file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.files import replacing
from transition_parser.drawing.reports.charts import Chart

WORST = 100  # sentences that are shown: more of them would make a page that browsers scroll badly


class Cell(NamedTuple):
    """A cell of a table. kind: `wrong`, or nothing. share: from 0 to 1, how dark it is."""

    text: object
    kind: str = ""
    share: float = 0.0


class Table(NamedTuple):
    """A table. note: a sentence above it. chart: its scores as bars, or none."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    chart: Chart | None = None


class Compared(NamedTuple):
    """A sentence. score: in words. rows: its words with what is gold and predicted, or none. gold, predicted: graphs as
    text, or none; missing, extra: what they do not share."""

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
    """Plain cells."""
    return [Cell(value) for value in values]


def write_page(
    path: str | os.PathLike,
    title: str,
    facts: Mapping[str, Any],
    tables: Sequence[Table],
    worst: Sequence[Compared],
    total: int,
    order: str,
) -> None:
    """Writes a report. facts: shown first, by name. worst: the sentences shown, of `total`; order: how they were
    chosen. Raises `InputError` where the file can't be written."""
    from jinja2 import Environment, StrictUndefined

    source = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(source)
    text = template.render(title=title, facts=facts, tables=tables, worst=worst, total=total, order=order)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
