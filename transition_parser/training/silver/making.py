"""The making of a bank of silver AMRs, which goes on where an earlier run was interrupted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output
from transition_parser.base.progress import progress
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import AGREEMENT, EXAMPLE, AmrEntry
from transition_parser.parsing.formalisms import AMR
from transition_parser.parsing.parser import Parser
from transition_parser.parsing.parses import AmrParse
from transition_parser.parsing.sentences.streams import in_chunks
from transition_parser.training.silver.sources import Source

CHUNK = 512  # sentences that all models parse together; an interrupted run loses at most their parses
MOST_OF_ONE_WORD = 6  # concepts; gold AMRs rarely have 4; more come from a loop of the search
# The values of numbers in a date. Gold AMRs have no year below 100: a smaller one is the day of the month.
IN_DATES = {"year": range(100, 10_000), "month": range(1, 13), "day": range(1, 32)}


class Choice(NamedTuple):
    """The parse of a sentence that was chosen among those of all models.

    agreement: its mean Smatch with the others
    """

    parse: AmrParse
    agreement: float


def chosen(parsers: Sequence[Parser[AmrParse]], sources: Sequence[Source]) -> Iterator[Choice]:
    """Yield for each sentence the parse of all models' parses that has the largest mean Smatch against the others.

    A graph that comes several times counts as often. Of equally good graphs it is the first.

    parsers: each gives up to `Parser.nbest` parses of a sentence
    """
    entries, facts = [one.entry for one in sources], [one.facts for one in sources]
    of_models = [parser.parse_stream(entries, given=facts) for parser in parsers]
    for parses in zip(*of_models, strict=True):
        yield best_of([one for parse in parses for one in parse.ranked])


def best_of(candidates: Sequence[AmrParse]) -> Choice:
    """Return the parse with the largest mean Smatch against all others; its agreement is 1 where there are none."""
    same: dict[Hashable, list[AmrParse]] = {}
    for one in candidates:
        same.setdefault(one.graph_key(), []).append(one)
    distinct, counts = [group[0] for group in same.values()], [*map(len, same.values())]
    agreements = AMR.agreements(distinct, counts)
    best = agreements.index(max(agreements))
    others = len(candidates) - 1
    return Choice(distinct[best], max(agreements[best] * len(candidates) - 1, 0.0) / others if others else 1.0)


@dataclass(frozen=True)
class Made:
    """A bank that was made.

    kept: the number of AMRs
    left_out: the number of sentences left out, by the reason
    agreement: the mean agreement of the AMRs kept
    """

    kept: int
    left_out: Counter[str] = field(default_factory=Counter)
    agreement: float = 0.0


def make_bank(
    path: str,
    sources: Sequence[Source],
    parsers: Sequence[Parser[AmrParse]],
    least: float = 0.0,
    without: Collection[str] = (),
) -> Made:
    """Write a bank of AMRs of sentences, without `:wiki` and alignments.

    The file `path`.partial holds what is done as long as the bank is not whole. A run with the same sentences and
    options goes on from it.

    least: graphs with a smaller agreement are left out
    without: graphs with one of these concepts are left out

    Raises `InputError` if `path`.partial is of another run, and if no AMR is left.
    """
    partial = Path(f"{path}.partial")
    settings = _settings(sources, parsers, least, without)
    done = _resume(partial, settings)
    with open(partial, "a", encoding="utf-8", buffering=1) as file:
        if done is None:
            file.write(json.dumps(settings) + "\n")
        rest = sources[done or 0 :]
        for source, choice in progress(_choices(parsers, rest), "parsing", len(rest)):
            file.write(json.dumps(_record(source.entry, choice, least, frozenset(without))) + "\n")
    made = _write_whole(path, partial)
    partial.unlink()
    return made


def _choices(parsers: Sequence[Parser[AmrParse]], sources: Sequence[Source]) -> Iterator[tuple[Source, Choice]]:
    for some in in_chunks(sources, CHUNK):
        yield from zip(some, chosen(parsers, some), strict=True)


def _settings(
    sources: Sequence[Source], parsers: Sequence[Parser[AmrParse]], least: float, without: Collection[str]
) -> dict[str, Any]:
    """Return what the result depends on, as JSON can hold it."""
    digest = hashlib.sha256()
    for entry, facts in sources:
        digest.update(repr((entry.id, entry.forms, facts)).encode("utf-8", "surrogatepass"))
    return {
        "models": [parser.described() for parser in parsers],
        "least": least,
        "without": sorted(without),
        "sentences": len(sources),
        "digest": digest.hexdigest(),
    }


def _resume(partial: Path, settings: dict[str, Any]) -> int | None:
    """Return how many sentences an interrupted run finished, None where there was none.

    A line that is not whole is removed from the file. Raises `InputError` for a file of another run.
    """
    if not partial.exists():
        return None
    with open(partial, "r+b") as file:
        lines = file.readlines()
        if lines and not lines[-1].endswith(b"\n"):
            file.truncate(sum(map(len, lines[:-1])))
            lines.pop()
    if not lines:
        return None
    try:
        same = json.loads(lines[0]) == settings
    except ValueError:
        same = False
    if not same:
        problem = (
            "an interrupted run with other sentences or options wrote this file: remove the file, or repeat that run"
        )
        raise input_error(problem, partial)
    return len(lines) - 1


def _record(entry: AmrEntry, choice: Choice, least: float, unwanted: frozenset[str]) -> dict[str, Any]:
    """Return the line about a sentence as JSON can hold it: its AMR, or why it is left out."""
    parse, agreement = choice
    if agreement < least:
        return {"id": entry.id, "left_out": f"agreement below {least:g}"}
    if _most_of_one_word(parse) > MOST_OF_ONE_WORD:
        return {"id": entry.id, "left_out": f"more than {MOST_OF_ONE_WORD} concepts of one word"}
    if not unwanted.isdisjoint(parse.graph.labels):
        return {"id": entry.id, "left_out": "unwanted concept"}
    if has_odd_date(parse.graph):
        return {"id": entry.id, "left_out": "date that cannot be"}
    found = replace(parse, place=None).annotated(wiki=False)
    found = replace(found, metadata={**entry.metadata, AGREEMENT: f"{agreement:.4f}"})
    written = found.rewritten(("id", AGREEMENT, EXAMPLE, "snt"), alignments=False)
    return {"id": entry.id, "amr": written, "agreement": agreement, "completed": parse.completed}


def has_odd_date(graph: AmrGraph) -> bool:
    """Return True for a graph with a number of a date that is out of `IN_DATES`, such as `:month 13` or `:year 17`."""
    return any(
        edge.role in IN_DATES
        and graph.labels[edge.source] == "date-entity"
        and edge.target in graph.constants
        and (value := graph.labels[edge.target]).isdecimal()
        and int(value) not in IN_DATES[edge.role]
        for edge in graph.edges
    )


def _most_of_one_word(parse: AmrParse) -> int:
    """Return the largest number of concepts that come from the same word."""
    concepts = (node for node in range(len(parse.graph)) if node not in parse.graph.constants)
    return max(Counter(parse.alignments[node][0] for node in concepts).values())


def _write_whole(path: str, partial: Path) -> Made:
    """Write the bank of a finished `partial`. Raises `InputError` if no AMR is left."""
    left_out: Counter[str] = Counter()
    agreements = []
    with open(partial, encoding="utf-8") as lines, output(path) as file:
        next(lines)
        for record in map(json.loads, lines):
            if "left_out" in record:
                left_out[record["left_out"]] += 1
                continue
            agreements.append(record["agreement"])
            file.write(record["amr"])
        if not agreements:
            raise InputError("no sentence is left whose graph is wanted")
    return Made(len(agreements), left_out, sum(agreements) / len(agreements))
