"""The tables of `run/paper.sh` as Markdown, with the paper's figures beside ours.

    python run/paper_table.py OUT/PAPER.json ... [--table NAME] [--corpus NAME]
        [--split dev|test] [--punct skip | --by length|distance|depth|tag] [--curves FOLDER]

There is a table for each table of the paper and each corpus. A row has the paper's figure and our scores, each the mean
over the seeds ± its standard deviation. Trees: UAS / LAS in percent, without subtypes of relations; AMRs: Smatch. Rows
that were not run are in the table, too; "–" stands for a beam that a row was not searched with. --punct skip leaves
punctuation out. --by divides the LAS on test, with the largest beam of the table, by the length of the sentence, the
distance of a word from its head or from the root, or its tag. --curves draws the score on dev after each epoch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from paper import COUNTED, DIVIDED, PARTS, SAME, SKIPPED, SPLITS, Table, read_table

from transition_parser.base.errors import InputError, input_error, needs_extra
from transition_parser.parsing.formalisms import formalism_of

Run = dict[str, Any]
Rows = list[list[str]]

SCORES = {"uas": ("UAS", 1), "las": ("LAS", 1), "smatch": ("Smatch", 3)}  # name in the table, number of decimals


def read(paths: Iterable[Path]) -> list[Run]:
    """Return the runs of files of results. Runs with the same settings are one seed, and the last of them is returned.

    Raises `InputError` for another file, and `OSError` for one that can't be read.
    """
    found: dict[str, Run] = {}
    for path in paths:
        try:
            for run in json.loads(path.read_text(encoding="utf-8"))["runs"]:
                settings = run["settings"]
                if not (SAME | {"system"} <= settings.keys() and {"name", "test"} <= settings["data"].keys()):
                    raise KeyError
                if COUNTED not in run:
                    raise KeyError
                found[json.dumps(settings, sort_keys=True)] = run
        except (ValueError, KeyError, TypeError, AttributeError):
            raise input_error("is not a file of results of run/paper.sh", path) from None
    return [*found.values()]


@contextmanager
def errors_said(program: str) -> Iterator[None]:
    """End the program with status 2 and one line where the block raises `InputError` or `OSError`."""
    try:
        yield
    except (InputError, OSError) as error:
        sys.stderr.write(f"{program}: error: {error}\n")
        sys.exit(2)


def score(figure: float | dict[str, float]) -> float:
    """Return a score as one number: a score of trees as it is, the F1 of a Smatch score."""
    return figure["f1"] if isinstance(figure, dict) else figure


def size_of(beam: str) -> int:
    """Return the size of a beam from its name in the results, such as "beam 10"."""
    return int(beam.split()[-1])


def cell(figures: Iterable[dict[str, Any]]) -> str:
    """Return the means and standard deviations of scores.

    figures: the scores of each seed

    >>> cell([{"uas": 76.2, "las": 68.6}]), cell([{"smatch": {"f1": 0.5}}, {"smatch": {"f1": 0.6}}])
    ('76.2 / 68.6', '0.550 ± 0.071')
    """
    seeds = list(figures)
    parts = []
    for name in (name for name in SCORES if name in seeds[0]):
        parts.append(_mean([score(one[name]) for one in seeds], SCORES[name][1]))
    return " / ".join(parts)


def _mean(values: Sequence[float], decimals: int) -> str:
    spread = f" ± {statistics.stdev(values):.{decimals}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{decimals}f}{spread}"


def _table_of(runs: Sequence[Run]) -> Table:
    first = runs[0]["settings"]
    return read_table(first["paper"], first["table"], formalism_of(first["system"]))


def _of_row(runs: Iterable[Run], row: dict[str, Any]) -> list[Run]:
    return [run for run in runs if run["settings"]["row"] == row["name"]]


def rows(runs: Sequence[Run], key: str = COUNTED, splits: Sequence[str] = SPLITS) -> Rows:
    """Return the header and the rows of one table and corpus, all rows of the table in its order.

    key: `COUNTED` or `SKIPPED`, scores with or without punctuation
    splits: the splits whose scores the table shows
    """
    table = _table_of(runs)
    scored = ((split, beam) for run in runs for split, of in run[key].items() for beam in of)
    columns = list(dict.fromkeys(column for column in scored if column[0] in splits))
    columns.sort(key=lambda column: (SPLITS.index(column[0]), size_of(column[1])))
    body = []
    for row in table.rows:
        own = _of_row(runs, row)
        epochs = "; ".join(str(number) for number in sorted({run["settings"]["epochs"] for run in own}))
        missing = "needs pretrained vectors" if row.get("vectors") else "not run"
        scores = []
        for split, beam in columns:
            figures = [run[key][split][beam] for run in own if beam in run[key][split]]
            scores.append(cell(figures) if figures else "–" if own else missing)
        figure = [row.get("figure", "–")] if table.figures else []
        body.append([row["name"], row["what"], *figure, str(len(own)), epochs or "–", *scores])
    names = [f"{split}, {'greedy' if beam == 'beam 1' else beam}" for split, beam in columns]
    figures = [f"paper: {table.figures}"] if table.figures else []
    return [["row", "", *figures, "seeds", "epochs", *names], *body]


def rows_by(runs: Sequence[Run], part: str) -> Rows:
    """Return the header, and the LAS on test divided by `part` for each row that was searched with the largest beam.

    part: one of `PARTS`
    """
    beam = max((beam for run in runs for beam in run[DIVIDED]), key=size_of)
    searched = (run[DIVIDED][beam] for run in runs if beam in run[DIVIDED])
    parts = list(dict.fromkeys(chain.from_iterable(of[f"by_{part}"] for of in searched)))
    body = []
    for row in _table_of(runs).rows:
        of = [run[DIVIDED][beam][f"by_{part}"] for run in _of_row(runs, row) if beam in run[DIVIDED]]
        if of:
            values = ([one[key] for one in of if key in one] for key in parts)
            body.append([row["name"], *(_mean(each, 1) if each else "–" for each in values)])
    return [[f"LAS on test by {part}, {beam}", *parts], *body]


def markdown(table: Sequence[Sequence[str]]) -> str:
    """Return the table as Markdown; its first row is the header."""
    head, *body = ("| " + " | ".join(row) + " |" for row in table)
    return "\n".join([head, "|---" * len(table[0]) + "|", *body])


def groups(runs: Iterable[Run]) -> dict[tuple[str, str, str, str], list[Run]]:
    """Return (paper, table, name of the corpus, digests of its files) → its runs."""
    found: dict[tuple[str, str, str, str], list[Run]] = {}
    for run in runs:
        settings, data = run["settings"], run["settings"]["data"]
        digests = " ".join(data.get(split, "") for split in ("train", *SPLITS))
        found.setdefault((settings["paper"], settings["table"], data["name"], digests), []).append(run)
    return found


def draw(name: str, runs: Sequence[Run], path: Path) -> None:
    """Draw the score on dev after each epoch: a line for the first seed of each row, or nothing without scores."""
    from cycler import cycler
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    from transition_parser.drawing.derivations import save

    metrics = [key for run in runs for epoch in run["history"] for key in epoch if key in SCORES]
    if not metrics:
        return
    metric = metrics[0]
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.set_prop_cycle(cycler(linestyle=["-", "--"]) * rcParams["axes.prop_cycle"])
    for run in runs:
        points = [(epoch["epoch"], epoch[metric]) for epoch in run["history"] if metric in epoch]
        if points and run["settings"]["seed"] == 1:  # an ensemble has no curve
            axes.plot(*zip(*points, strict=True), label=run["settings"]["row"])
    axes.set_title(name)
    axes.set_xlabel("epoch")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel(f"dev {SCORES[metric][0]}")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="results of run/paper.sh")
    parser.add_argument("--table", metavar="NAME", help="this table alone (default: all that were run)")
    parser.add_argument("--corpus", metavar="NAME", help="this corpus alone (default: all)")
    parser.add_argument("--split", choices=SPLITS[1:], help="the scores of this split alone (default: dev and test)")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--punct", choices=("count", "skip"), default="count", help="punctuation (default: count)")
    shown.add_argument("--by", choices=PARTS, help="divide the LAS on test by this")
    parser.add_argument("--curves", type=Path, metavar="FOLDER", help="draw learning curves into this folder, as SVG")
    arguments = parser.parse_args()
    with errors_said("paper_table.py"):
        write(arguments)


def write(arguments: argparse.Namespace) -> None:
    """Print the tables, and draw the curves.

    Raises `InputError` for unfit results, for a table or corpus without results, and for curves without matplotlib.
    """
    if arguments.curves:
        with needs_extra("draw", "learning curves"):
            import matplotlib  # noqa: F401
    key = {"count": COUNTED, "skip": SKIPPED}[arguments.punct]
    splits = [arguments.split] if arguments.split else SPLITS
    wanted = {
        names: runs
        for names, runs in groups(read(arguments.results)).items()
        if names[1] == (arguments.table or names[1]) and names[2] == (arguments.corpus or names[2])
    }
    if not wanted:
        raise InputError("no results of this table and corpus are in the files")
    for (paper, table, data, _), runs in wanted.items():
        needed = DIVIDED if arguments.by else key
        if any(needed not in run for run in runs):
            raise InputError(f"{paper}, table {table}, {data}: has no scores {needed}: those are of trees")
        found = rows_by(runs, arguments.by) if arguments.by else rows(runs, key, splits)
        print(f"{paper}, table {table}, {data}:\n\n{markdown(found)}\n")
        if arguments.curves:
            arguments.curves.mkdir(parents=True, exist_ok=True)
            draw(f"{paper}, table {table}, {data}", runs, arguments.curves / f"{paper}-{table}-{data}.svg")


if __name__ == "__main__":
    main()
