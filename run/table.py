"""A Markdown table of the figures that run/architectures.sh and run/words.sh wrote.

    python run/table.py OUT/figures.txt ... [--by-length]

The table has a row for each variant, in the order of the files: the numbers of seeds and epochs, and the scores for
each split and beam. A score is the mean over the seeds; the least and the greatest value of the last score follow.
Trees: UAS / LAS in percent; AMRs: Smatch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

SCORES = {"uas": ("UAS", 1), "las": ("LAS", 1), "smatch": ("Smatch", 3)}  # name in the table, decimals


class Line(NamedTuple):
    """A line of figures.txt."""

    variant: str
    seed: str
    split: str
    beam: str
    epochs: str
    figures: dict[str, Any]


def read(path: Path) -> list[Line]:
    """Return the lines of a file. Raises `SystemExit` for a file that can't be read, or a line that no script wrote."""
    lines = []
    try:
        written = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    for number, text in enumerate(written, 1):
        head, brace, figures = text.partition("{")
        try:
            name, split, _beam, beam, _epochs, epochs = head.split()
            variant, _, seed = name.rpartition("-")
            lines.append(Line(variant.partition("-")[2], seed, split, beam, epochs, json.loads(brace + figures)))
        except ValueError:
            sys.exit(f"{path}:{number}: is not a line of figures")
    return lines


def cell(scores: dict[str, list[float]]) -> str:
    """Return the means of the scores, and the range of the last score.

    scores: name → its value for each seed

    >>> cell({"uas": [76.2], "las": [68.6]}), cell({"uas": [76.0, 77.0], "las": [68.55, 68.91]})
    ('76.2 / 68.6', '76.5 / 68.7 (68.5–68.9)')
    """
    text = " / ".join(f"{statistics.mean(values):.{SCORES[name][1]}f}" for name, values in scores.items())
    name, values = list(scores.items())[-1]
    decimals = SCORES[name][1]
    return text if len(values) == 1 else f"{text} ({min(values):.{decimals}f}–{max(values):.{decimals}f})"


def score(figure: float | dict[str, float]) -> float:
    """Return the figure itself for trees, its F1 for AMRs."""
    return figure["f1"] if isinstance(figure, dict) else figure


def rows(lines: Iterable[Line]) -> list[list[str]]:
    """Return the header, and a row for each variant and number of epochs."""
    found: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = defaultdict(dict)
    seeds = defaultdict(set)
    for line in lines:
        row = line.variant, line.epochs
        seeds[row].add(line.seed)
        names = [name for name in SCORES if name in line.figures]
        search = "greedy" if line.beam == "1" else f"beam {line.beam}"
        column = f"{line.split}, {search}: {' / '.join(SCORES[name][0] for name in names)}"
        scores = found[row].setdefault(column, {})
        for name in names:
            scores.setdefault(name, []).append(score(line.figures[name]))
    columns = list(dict.fromkeys(column for of in found.values() for column in of))
    body = [
        [variant, str(len(seeds[variant, epochs])), epochs]
        + [cell(of[column]) if column in of else "–" for column in columns]
        for (variant, epochs), of in found.items()
    ]
    return [["variant", "seeds", "epochs", *columns], *body]


def rows_by_length(lines: Iterable[Line]) -> list[list[str]]:
    """Return the header, and a row for each variant: LAS by sentence length in words, greedy, in the last split."""
    greedy = [line for line in lines if line.beam == "1" and "by_length" in line.figures]
    if not greedy:
        sys.exit("the figures tell no lengths apart")
    greedy = [line for line in greedy if line.split == greedy[-1].split]
    lengths = list(dict.fromkeys(length for line in greedy for length in line.figures["by_length"]))
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in greedy:
        for length, score in line.figures["by_length"].items():
            found[line.variant][length].append(score["f1"])
    body = [
        [variant, *(f"{statistics.mean(of[length]):.1f}" if length in of else "–" for length in lengths)]
        for variant, of in found.items()
    ]
    return [[f"variant: LAS on {greedy[-1].split} by words", *lengths], *body]


def markdown(table: Sequence[Sequence[str]]) -> str:
    """Return the table as Markdown; its first row is the header."""
    head, *body = ("| " + " | ".join(row) + " |" for row in table)
    return "\n".join([head, "|---" * len(table[0]) + "|", *body])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="+", type=Path, metavar="FIGURES", help="figures.txt of the scripts")
    parser.add_argument("--by-length", action="store_true", help="LAS by words of the sentence, greedy")
    arguments = parser.parse_args()
    lines = [line for path in arguments.figures for line in read(path)]
    print(markdown(rows_by_length(lines) if arguments.by_length else rows(lines)))


if __name__ == "__main__":
    main()
