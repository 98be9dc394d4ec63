"""The claims of the papers, and whether they hold in the results of `run/paper.sh`, as Markdown.

    python run/paper_claims.py RESULTS ...

configs/papers/PAPER.toml lists the claims of a paper. A claim says that one row of a table is better than another row,
worse, or as good. Beside the paper's difference stands our difference of the mean scores on test, with its standard
error where a row has several seeds. Both rows are scored with the largest beam that both were searched with.
Differences up to two standard errors can't be told from chance; with one seed, up to `CHANCE`. One row is as good as
another if it is not worse by more than `CHANCE`. There is no verdict if the rows were trained for different numbers of
epochs, or if the score of a row is below `LEARNED`. Each corpus has a column. A table that is `like` a table with
claims has a further column for each corpus, in which the claims are judged by its own runs.
"""

from __future__ import annotations

import argparse
import statistics
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from paper import COUNTED, PAPERS, SKIPPED
from paper_table import SCORES, Rows, Run, errors_said, groups, markdown, read, score, size_of

from transition_parser.base.errors import InputError

CHANCE = {"uas": 1.0, "las": 1.0, "smatch": 0.01}
LEARNED = {"uas": 30.0, "las": 20.0, "smatch": 0.1}


@dataclass(frozen=True)
class Claim:
    """A claim that compares two rows of a table.

    claim: what the paper says, and where
    table: the name of the table
    row, against: the names of the rows
    paper: the difference in the paper, as text
    expect: what `row` is, compared with `against`
    trees: the score that is compared for trees
    punct: whether punctuation counts in the scores of trees
    """

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
        row, against = ([run for run in runs if run["settings"]["row"] == name] for name in (self.row, self.against))
        if not row or not against:
            return "not run"
        beams = set.intersection(*({*run[COUNTED]["test"]} for run in row + against))
        if not beams:
            return "not run with the same beam"
        beam = max(beams, key=size_of)
        metric = "smatch" if "smatch" in row[0][COUNTED]["test"][beam] else self.trees
        if self._key(metric) not in row[0] or self._key(metric) not in against[0]:
            return "has no scores without punctuation"
        how = ", greedily" if size_of(beam) == 1 else ""
        scores = [self._scores(runs, metric, beam) for runs in (row, against)]
        return self._compared(metric, *scores, how, len({run["settings"]["epochs"] for run in row + against}) == 1)

    def _key(self, metric: str) -> str:
        return SKIPPED if self.punct == "skip" and metric != "smatch" else COUNTED

    def _scores(self, runs: Iterable[Run], metric: str, beam: str) -> list[float]:
        return [score(run[self._key(metric)]["test"][beam][metric]) for run in runs]

    def _compared(
        self, metric: str, row: Sequence[float], against: Sequence[float], how: str, trained_alike: bool
    ) -> str:
        difference = statistics.mean(row) - statistics.mean(against)
        error = _standard_error(row, against)
        decimals = SCORES[metric][1]
        shown = f"{difference:+z.{decimals}f}".replace("-", "−") + ("" if error is None else f" ± {error:.{decimals}f}")
        if not trained_alike:
            return f"{shown}{how}: can't be said after different epochs"
        for name, scores in ((self.row, row), (self.against, against)):
            if statistics.mean(scores) < LEARNED[metric]:
                return f"{shown}{how}: can't be said, {name} has hardly learned"
        return f"{shown}{how}: {self.verdict(difference, CHANCE[metric], error)}"

    def verdict(self, difference: float, chance: float, error: float | None = None) -> str:
        """Return `holds`, `does not hold` or `can't be said`.

        difference: the mean score of `row` less the mean score of `against`
        chance: the difference that two seeds of the same row may have
        error: the standard error of the difference; None for one seed
        """
        if self.expect == "as good":
            return "holds" if difference >= -chance else "does not hold"
        margin = chance if error is None else 2 * error
        gain = difference if self.expect == "better" else -difference
        if abs(gain) <= margin:
            return "can't be said"
        return "holds" if gain > 0 else "does not hold"


def _standard_error(*samples: Sequence[float]) -> float | None:
    """Return the standard error of the difference of two means; None if both samples have a single value.

    A sample with a single value is taken to have the variance of the other sample.
    """
    variances = [statistics.variance(sample) if len(sample) > 1 else None for sample in samples]
    known = [variance for variance in variances if variance is not None]
    if not known:
        return None
    pairs = zip(samples, variances, strict=True)
    return sum((known[0] if variance is None else variance) / len(sample) for sample, variance in pairs) ** 0.5


def read_claims(paper: str) -> list[Claim]:
    """Return the claims of a paper.

    Raises `OSError` for an unknown paper, and `TypeError` for a claim with unknown or missing keys.
    """
    return [Claim(**one) for one in _file_of(paper).get("claims", ())]


def _file_of(paper: str) -> dict[str, Any]:
    """Return the contents of a paper's file. Raises `OSError` for an unknown paper."""
    return tomllib.loads((PAPERS / f"{paper}.toml").read_text(encoding="utf-8"))


def rows(paper: str, runs: Sequence[Run]) -> Rows:
    """Return the header, and a row for each claim of a paper.

    runs: the runs of all tables of the paper
    """
    corpora: dict[tuple[str, str, str], list[Run]] = {}  # key: corpus, its digests, a `like` table or ""
    tables, claims = _file_of(paper)["tables"], read_claims(paper)
    judged = {claim.table for claim in claims}
    for (_, table, name, digests), own in groups(runs).items():
        other = tables.get(table, {}).get("like")
        corpora.setdefault((name, digests, table if other in judged else ""), []).extend(own)
    body = []
    for claim in claims:
        named = f"{claim.claim} ({claim.row} against {claim.against})"
        cells = []
        for (_, _, table), own in corpora.items():
            judge = replace(claim, table=table) if table and tables[table]["like"] == claim.table else claim
            cells.append(judge.ours(own))
        body.append([named, claim.paper, *cells])
    names = [f"{name}, table {table}" if table else name for name, _, table in corpora]
    return [["claim", "paper", *names], *body]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help="results of run/paper.sh")
    arguments = parser.parse_args()
    with errors_said("paper_claims.py"):
        write(arguments.results)


def write(results: Sequence[Path]) -> None:
    """Print the claims of each paper that has some. Raises `InputError` for unfit results."""
    runs = read(results)
    papers = [paper for paper in dict.fromkeys(run["settings"]["paper"] for run in runs) if read_claims(paper)]
    if not papers:
        raise InputError("no paper of these results has claims")
    for paper in papers:
        table = rows(paper, [run for run in runs if run["settings"]["paper"] == paper])
        print(f"{paper}:\n\n{markdown(table)}\n")


if __name__ == "__main__":
    main()
