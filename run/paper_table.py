"""The tables of `run/paper.sh` as Markdown, with the paper's figures beside ours.

    python run/paper_table.py OUT/PAPER.json ... [--curves FOLDER]

There is a table for each table of the paper and each corpus. A row has the paper's figure and our scores, each the mean
over the seeds ± its standard deviation. Trees: UAS / LAS in percent, punctuation included, without subtypes of
relations; AMRs: Smatch. Rows that were not run are in the table, too. --curves draws the score on dev after each epoch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from paper import read_table
from table import SCORES, markdown, score

from transition_parser.parsing.formalisms import formalism_of

Run = dict[str, Any]


def read(path: Path) -> list[Run]:
    """Return the runs of a file of results. Raises `SystemExit` for another file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))["runs"]
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        sys.exit(f"{path}: is not a file of results of run/paper.sh")


def cell(figures: Iterable[dict[str, Any]]) -> str:
    """Return the means and standard deviations of scores.

    figures: the scores of each seed

    >>> cell([{"uas": 76.2, "las": 68.6}]), cell([{"smatch": {"f1": 0.5}}, {"smatch": {"f1": 0.6}}])
    ('76.2 / 68.6', '0.550 ± 0.071')
    """
    seeds = list(figures)
    parts = []
    for name in (name for name in SCORES if name in seeds[0]):
        values, decimals = [score(one[name]) for one in seeds], SCORES[name][1]
        spread = f" ± {statistics.stdev(values):.{decimals}f}" if len(values) > 1 else ""
        parts.append(f"{statistics.mean(values):.{decimals}f}{spread}")
    return " / ".join(parts)


def rows(runs: Sequence[Run]) -> list[list[str]]:
    """Return the header and the rows of one table and corpus, all rows of the table in its order."""
    first = runs[0]["settings"]
    table = read_table(first["paper"], first["table"], formalism_of(first["system"]))
    columns = [(split, beam) for split, of in runs[0]["scores"].items() for beam in of]
    body = []
    for row in table.rows:
        own = [run for run in runs if run["settings"]["row"] == row["name"]]
        epochs = "; ".join(str(number) for number in sorted({run["settings"]["epochs"] for run in own}))
        scores = [cell(run["scores"][split][beam] for run in own) if own else "not run" for split, beam in columns]
        body.append([row["name"], row["what"], row.get("figure", "–"), str(len(own)), epochs or "–", *scores])
    names = [f"{split}, {'greedy' if beam == 'beam 1' else beam}" for split, beam in columns]
    return [["row", "", f"paper: {table.figures}", "seeds", "epochs", *names], *body]


def groups(runs: Iterable[Run]) -> dict[tuple[str, str, str, str], list[Run]]:
    """Return (paper, table, name of the corpus, digest of its test file) → its runs."""
    found: dict[tuple[str, str, str, str], list[Run]] = {}
    for run in runs:
        settings, data = run["settings"], run["settings"]["data"]
        found.setdefault((settings["paper"], settings["table"], data["name"], data["test"]), []).append(run)
    return found


def draw(name: str, runs: Sequence[Run], path: Path) -> None:
    """Draw the score on dev after each epoch, a line for each row (the first seed)."""
    from matplotlib.figure import Figure

    from transition_parser.drawing.derivations import save

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    metric = next(key for key in runs[0]["history"][0] if key not in ("epoch", "loss"))
    for run in runs:
        if run["settings"]["seed"] == 1:
            points = [(one["epoch"], one[metric]) for one in run["history"] if metric in one]
            axes.plot(*zip(*points, strict=True), label=run["settings"]["row"])
    axes.set_title(name)
    axes.set_xlabel("epoch")
    axes.set_ylabel(f"dev {SCORES[metric][0]}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="results of run/paper.sh")
    parser.add_argument("--curves", type=Path, metavar="FOLDER", help="draw learning curves into this folder, as SVG")
    arguments = parser.parse_args()
    for (paper, table, data, _), runs in groups(run for path in arguments.results for run in read(path)).items():
        print(f"{paper}, table {table}, {data}:\n\n{markdown(rows(runs))}\n")
        if arguments.curves:
            arguments.curves.mkdir(parents=True, exist_ok=True)
            draw(f"{paper}, table {table}, {data}", runs, arguments.curves / f"{paper}-{table}-{data}.svg")


if __name__ == "__main__":
    main()
