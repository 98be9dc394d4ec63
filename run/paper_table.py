"""The tables of `run/paper.py` as Markdown, with the paper's figures beside ours, and the papers' claims.

    python run/paper_table.py OUT/PAPER.json ... [--table NAME] [--corpus NAME]
        [--split dev|test] [--names] [--claims]

There is a table for each table of the paper and each corpus. A row has the paper's figure and our scores, each the mean
over the seeds ± its standard deviation. Trees: UAS / LAS in percent, without subtypes of relations; AMRs: Smatch. Rows
that were not run are in the table, too; "–" stands for a beam that a row was not searched with. Numbers of seeds and of
epochs stand above the table if all rows have the same. --names leaves out descriptions of rows and figures of papers,
for a table below one that has them.

--claims: configs/papers/PAPER.toml lists the claims of a paper: one row of a table is better than another row, worse,
or as good. Beside the paper's difference stands our difference of the mean scores on test, with its standard error
where a row has several seeds, with the largest beam that both rows were searched with. ✓: the claim holds; ✗: it does
not; ?: there is no verdict. Differences up to two standard errors may be chance; with one seed, up to `CHANCE`. One row
is as good as another if it is not worse by more than `CHANCE`. There is no verdict if the rows were trained for
different numbers of epochs, or if the score of a row is below `LEARNED`. Each corpus has a column, and a further one
for a table that is `like` a table with claims.
"""

import argparse
import json
import statistics
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from paper import COUNTED, PAPERS, SKIPPED, SPLITS, read_results, read_table

from transition_parser.base.errors import InputError
from transition_parser.parsing.formalisms import OF_SYSTEM

Run = dict[str, Any]
Rows = list[list[str]]

SCORES = {"uas": ("UAS", 1), "las": ("LAS", 1), "smatch": ("Smatch", 3)}  # name in the table, number of decimals
CHANCE = {"uas": 1.0, "las": 1.0, "smatch": 0.01}
WHAT, NUMBERS = "", ("seeds", "epochs")  # headers of columns
LEARNED = {"uas": 30.0, "las": 20.0, "smatch": 0.1}


def read(paths: Iterable[Path]) -> list[Run]:
    """Return the runs of files of results. Of runs with the same settings the last one is returned.

    Raises `InputError` for another file, and `OSError` for one that can't be read.
    """
    runs = (run for path in paths for run in read_results(path))
    return [*{json.dumps(run["settings"], sort_keys=True): run for run in runs}.values()]


def groups(runs: Iterable[Run]) -> dict[tuple[str, str, str, str], list[Run]]:
    """Return (paper, table, name of the corpus, digests of its files) → its runs."""
    found: dict[tuple[str, str, str, str], list[Run]] = {}
    for run in runs:
        settings, data = run["settings"], run["settings"]["data"]
        digests = " ".join(data.get(split, "") for split in ("train", *SPLITS))
        found.setdefault((settings["paper"], settings["table"], data["name"], digests), []).append(run)
    return found


def markdown(table: Sequence[Sequence[str]]) -> str:
    """Return the table as Markdown; its first row is the header."""
    head, *body = ("| " + " | ".join(row) + " |" for row in table)
    return "\n".join([head, "|---" * len(table[0]) + "|", *body])


def score(figure: float | dict[str, float]) -> float:
    """Return a score as one number: a score of trees as it is, the F1 of a Smatch score."""
    return figure["f1"] if isinstance(figure, dict) else figure


def size_of(beam: str) -> int:
    return int(beam.split()[-1])


# --- tables --------------------------------------------------------------------------------------


def cell(seeds: Sequence[dict[str, Any]]) -> str:
    """Return the means and standard deviations of the scores of each seed.

    >>> cell([{"uas": 76.2, "las": 68.6}]), cell([{"smatch": {"f1": 0.5}}, {"smatch": {"f1": 0.6}}])
    ('76.2 / 68.6', '0.550 ± 0.071')
    """
    scores = ((SCORES[name][1], [score(one[name]) for one in seeds]) for name in SCORES if name in seeds[0])
    return " / ".join(_mean(values, decimals) for decimals, values in scores)


def _mean(values: Sequence[float], decimals: int) -> str:
    spread = f" ± {statistics.stdev(values):.{decimals}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{decimals}f}{spread}"


def of_row(runs: Iterable[Run], name: str) -> list[Run]:
    return [run for run in runs if run["settings"]["row"] == name]


def rows(runs: Sequence[Run], splits: Sequence[str] = SPLITS) -> Rows:
    """Return the header and the rows of one table and corpus, all rows of the table in its order."""
    first = runs[0]["settings"]
    table = read_table(first["paper"], first["table"], OF_SYSTEM[first["system"]])
    scored = ((split, beam) for run in runs for split, of in run[COUNTED].items() for beam in of)
    columns = list(dict.fromkeys(column for column in scored if column[0] in splits))
    columns.sort(key=lambda column: (SPLITS.index(column[0]), size_of(column[1])))
    body = []
    for row in table.rows:
        own = of_row(runs, row["name"])
        epochs = "; ".join(str(number) for number in sorted({run["settings"]["epochs"] for run in own}))
        scores = []
        for split, beam in columns:
            figures = [run[COUNTED][split][beam] for run in own if beam in run[COUNTED][split]]
            scores.append(cell(figures) if figures else "–" if own else "not run")
        figure = [row.get("figure", "–")] if table.figures else []
        body.append([row["name"], row["what"], *figure, str(len(own)), epochs or "–", *scores])
    names = [f"{split}, {'greedy' if beam == 'beam 1' else beam}" for split, beam in columns]
    figures = [f"paper: {table.figures}"] if table.figures else []
    return [["row", WHAT, *figures, *NUMBERS, *names], *body]


def without_columns(table: Rows, names_only: bool) -> tuple[dict[str, str], Rows]:
    """Return the numbers of seeds and epochs that all rows share, and the table without them.

    names_only: True to leave out the descriptions of rows and the paper's figures, too
    """
    head, *body = table
    values = {name: {row[i] for row in body} - {"0", "–"} for i, name in enumerate(head) if name in NUMBERS}
    shared = {name: min(found) for name, found in values.items() if len(found) == 1}
    out = {*shared} | ({WHAT} | {name for name in head if name.startswith("paper: ")} if names_only else set())
    kept = [i for i, name in enumerate(head) if name not in out]
    return shared, [[row[i] for i in kept] for row in table]


# --- claims --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A claim that compares two rows of a table; configs/papers/README.md explains the keys."""

    claim: str
    table: str
    row: str
    against: str
    paper: str
    expect: Literal["better", "worse", "as good"] = "better"
    trees: Literal["uas", "las"] = "las"
    punct: Literal["count", "skip"] = "count"

    def ours(self, runs: Iterable[Run]) -> str:
        """Return the difference in the runs of one corpus, and whether the claim holds: one cell of the table."""
        runs = [run for run in runs if run["settings"]["table"] == self.table]
        both = [of_row(runs, self.row), of_row(runs, self.against)]
        if not all(both):
            return "–"
        beams = set.intersection(*({*run[COUNTED]["test"]} for run in chain(*both)))
        if not beams:
            return "not run with the same beam"
        beam = max(beams, key=size_of)
        metric = "smatch" if "smatch" in both[0][0][COUNTED]["test"][beam] else self.trees
        key = SKIPPED if self.punct == "skip" and metric != "smatch" else COUNTED
        if any(key not in some[0] for some in both):
            return "has no scores without punctuation"
        row, against = ([score(run[key]["test"][beam][metric]) for run in some] for some in both)
        difference, error = statistics.mean(row) - statistics.mean(against), standard_error(row, against)
        decimals = SCORES[metric][1]
        shown = f"{difference:+z.{decimals}f}".replace("-", "−") + ("" if error is None else f" ± {error:.{decimals}f}")
        if len({run["settings"]["epochs"] for run in chain(*both)}) > 1:
            return f"{shown} ? (other epochs)"
        for name, scores in ((self.row, row), (self.against, against)):
            if statistics.mean(scores) < LEARNED[metric]:
                return f"{shown} ? ({name} has hardly learned)"
        return f"{shown} {self.verdict(difference, CHANCE[metric], error)}"

    def verdict(self, difference: float, chance: float, error: float | None = None) -> str:
        """Return ✓ if the claim holds, ✗ if it does not, or ? if the difference may be chance.

        chance: the difference that two seeds of the same row may have
        error: the standard error of the difference; None for one seed
        """
        if self.expect == "as good":
            return "✓" if difference >= -chance else "✗"
        gain = difference if self.expect == "better" else -difference
        if abs(gain) <= (chance if error is None else 2 * error):
            return "?"
        return "✓" if gain > 0 else "✗"


def standard_error(*samples: Sequence[float]) -> float | None:
    """Return the standard error of the difference of two means; None if both samples have a single value.

    A sample with a single value is taken to have the variance of the other sample.
    """
    known = [statistics.variance(sample) for sample in samples if len(sample) > 1]
    if not known:
        return None
    variances = (statistics.variance(sample) if len(sample) > 1 else known[0] for sample in samples)
    return sum(variance / len(sample) for sample, variance in zip(samples, variances, strict=True)) ** 0.5


def claims_of(paper: str) -> list[Claim]:
    """Return the claims of a paper. Raises `OSError` for an unknown paper."""
    return [Claim(**one) for one in tomllib.loads((PAPERS / f"{paper}.toml").read_text("utf-8")).get("claims", ())]


def claim_rows(paper: str, runs: Sequence[Run]) -> Rows:
    """Return the header, and a row for each claim of a paper, from the runs of all its tables."""
    tables = tomllib.loads((PAPERS / f"{paper}.toml").read_text("utf-8"))["tables"]
    claims = claims_of(paper)
    corpora: dict[tuple[str, str, str], list[Run]] = {}  # key: corpus, its digests, a `like` table or ""
    for (_, table, name, digests), own in groups(runs).items():
        is_like = tables.get(table, {}).get("like") in {claim.table for claim in claims}
        corpora.setdefault((name, digests, table if is_like else ""), []).extend(own)
    body = []
    for claim in claims:
        cells = []
        for (_, _, table), own in corpora.items():
            judge = replace(claim, table=table) if table and tables[table]["like"] == claim.table else claim
            cells.append(judge.ours(own))
        body.append([f"{claim.claim} ({claim.row} against {claim.against})", claim.paper, *cells])
    names = [f"{name}, table {table}" if table else name for name, _, table in corpora]
    return [["claim", "paper", *names], *body]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="results of run/paper.py")
    parser.add_argument("--table", metavar="NAME", help="this table alone (default: all that were run)")
    parser.add_argument("--corpus", metavar="NAME", help="this corpus alone (default: all)")
    parser.add_argument("--split", choices=SPLITS[1:], help="the scores of this split alone (default: dev and test)")
    parser.add_argument("--names", action="store_true", help="leave out descriptions of rows and figures of papers")
    parser.add_argument("--claims", action="store_true", help="print whether the papers' claims hold instead")
    try:
        write(parser.parse_args())
    except (InputError, OSError) as error:
        sys.stderr.write(f"paper_table.py: error: {error}\n")
        sys.exit(2)


def write(arguments: argparse.Namespace) -> None:
    """Print the tables. Raises `InputError` for unfit results, and for a table or corpus without results."""
    wanted = {
        names: runs
        for names, runs in groups(read(arguments.results)).items()
        if names[1] == (arguments.table or names[1]) and names[2] == (arguments.corpus or names[2])
    }
    if not wanted:
        raise InputError("no results of this table and corpus are in the files")
    if arguments.claims:
        papers = [paper for paper in dict.fromkeys(names[0] for names in wanted) if claims_of(paper)]
        if not papers:
            raise InputError("no paper of these results has claims")
        for paper in papers:
            runs = [run for names, own in wanted.items() if names[0] == paper for run in own]
            print(f"{paper}:\n\n{markdown(claim_rows(paper, runs))}\n")
        return
    splits = [arguments.split] if arguments.split else SPLITS
    for (paper, table, data, _), runs in wanted.items():
        shared, found = without_columns(rows(runs, splits), arguments.names)
        title = ", ".join((paper, f"table {table}", data, *(f"{name}: {number}" for name, number in shared.items())))
        print(f"{title}\n\n{markdown(found)}\n")


if __name__ == "__main__":
    main()
