"""The error report of AMRs: fine-grained scores, Smatch by size, and the worst sentences with both graphs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from transition_parser.base.errors import InputError
from transition_parser.drawing.reports.page import WORST, Compared, ReportTable, cells, write_page
from transition_parser.graphs.amr_score import BankScore, Counts, triple_diff
from transition_parser.graphs.bank import AmrEntry

_STEP = 10  # width of the intervals of sentence lengths, in words


def write_amr_report(
    path: str | os.PathLike,
    title: str,
    pairs: Sequence[tuple[AmrEntry, AmrEntry]],
    scores: BankScore,
    figures: Mapping[str, Any],
) -> None:
    """Write the error report as an HTML file."""
    parts = [(name.replace("_", " "), value) for name, value in figures.items() if isinstance(value, dict)]
    rows = [cells(name, *(f"{value[part]:.4f}" for part in ("precision", "recall", "f1"))) for name, value in parts]
    smatch = [sentence.counts["smatch"] for sentence in scores.sentences]
    tables = [
        ReportTable(
            "Fine-grained scores", ("", "precision", "recall", "F1"), rows, bars=[value["f1"] for _, value in parts]
        ),
        _by(
            "Smatch by words of the sentence",
            "words",
            [(len(gold.text.split()) - 1) // _STEP for gold, _ in pairs],
            smatch,
        ),
    ]
    worst = sorted(range(len(pairs)), key=lambda i: (smatch[i].f1, -smatch[i].gold, i))
    shown = [_compared(*pairs[i], i, smatch[i]) for i in worst[:WORST] if not smatch[i].exact]
    plain = {name: value for name, value in figures.items() if not isinstance(value, dict) and value is not None}
    order = "those with the lowest Smatch first, larger graphs before smaller ones"
    write_page(path, title, plain, tables, shown, len(pairs), order)


def _by(title: str, what: str, bins: Sequence[int], counts: Sequence[Counts]) -> ReportTable:
    rows, bars = [], []
    for number in sorted(set(bins)):
        inside = [count for one, count in zip(bins, counts, strict=True) if one == number]
        bars.append(sum(inside, Counts()).f1)
        rows.append(cells(f"{number * _STEP + 1}-{(number + 1) * _STEP}", len(inside), f"{bars[-1]:.4f}"))
    return ReportTable(title, (what, "sentences", "Smatch"), rows, bars=bars)


def _compared(gold: AmrEntry, system: AmrEntry, number: int, counts: Counts) -> Compared:
    try:
        lines = triple_diff(gold.penman, system.penman)
    except InputError as error:  # Smatch can compare this graph, but cannot name its nodes
        lines = [f"- {error}"]
    return Compared(
        gold.id or f"sentence {number + 1}",
        gold.text,
        f"Smatch {counts.f1:.3f}",
        gold=gold.penman.strip(),
        predicted=system.penman.strip(),
        missing=[line[2:] for line in lines if line.startswith("- ")],
        extra=[line[2:] for line in lines if line.startswith("+ ")],
    )
