"""The making of a bank of silver AMRs: the choice among the models' AMRs, and the AMRs that are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import AGREEMENT, EXAMPLE, AmrEntry
from transition_parser.parsing.formalisms import AMR
from transition_parser.parsing.parser import Parser
from transition_parser.parsing.parses import AmrParse
from transition_parser.parsing.sentences.streams import in_chunks
from transition_parser.training.silver.files import KeptSentence, LeftOut, Made, described, make_file
from transition_parser.training.silver.sources import Source

CHUNK = 512  # sentences that all models parse together; an interrupted run loses at most their parses
MOST_OF_ONE_WORD = 6  # the most concepts of one word: gold AMRs rarely have 4, but a search in a loop makes more
# The valid numbers of a date. Gold AMRs have no year below 100: a smaller year is a misread day of the month.
IN_DATES = {"year": range(100, 10_000), "month": range(1, 13), "day": range(1, 32)}


class Choice(NamedTuple):
    """The parse that was chosen among all models' parses of a sentence.

    agreement: its mean Smatch with the other parses, from 0 to 1
    """

    parse: AmrParse
    agreement: float


def chosen(parsers: Sequence[Parser[AmrParse]], sources: Sequence[Source]) -> Iterator[Choice]:
    """Yield for each sentence the parse of any model with the largest mean Smatch against all other parses.

    Several parses may have the same graph, and each of them counts. If scores are equal, the first graph is chosen.

    parsers: each gives up to `Parser.nbest` parses of a sentence
    """
    entries, facts = [one.entry for one in sources], [one.facts for one in sources]
    of_models = [parser.parse_stream(entries, given=facts) for parser in parsers]
    for parses in zip(*of_models, strict=True):
        yield best_of([one for parse in parses for one in parse.ranked])


def best_of(candidates: Sequence[AmrParse]) -> Choice:
    """Return the parse with the largest mean Smatch against all others. A single parse has the agreement 1."""
    same: dict[Hashable, list[AmrParse]] = {}
    for one in candidates:
        same.setdefault(one.graph_key(), []).append(one)
    distinct, counts = [group[0] for group in same.values()], [*map(len, same.values())]
    agreements = AMR.agreements(distinct, counts)
    best = agreements.index(max(agreements))
    others = len(candidates) - 1
    return Choice(distinct[best], max(agreements[best] * len(candidates) - 1, 0.0) / others if others else 1.0)


def make_bank(
    path: str,
    sources: Sequence[Source],
    parsers: Sequence[Parser[AmrParse]],
    least: float = 0.0,
    without: Collection[str] = (),
) -> Made:
    """Write a bank of AMRs of sentences, without `:wiki` and alignments.

    An interrupted run leaves `path`.partial. A run with the same sentences and options goes on from it (`make_file`).

    least: graphs with a smaller agreement are left out
    without: graphs with one of these concepts are left out

    Raises `InputError` if `path`.partial is of another run, and if no AMR is left.
    """
    unwanted = frozenset(without)

    def made_from(start: int) -> Iterator[KeptSentence | LeftOut]:
        for some in in_chunks(sources[start:], CHUNK):
            for source, choice in zip(some, chosen(parsers, some), strict=True):
                yield _kept(source.entry, choice, least, unwanted)

    settings = {"models": described(parsers), "least": least, "without": sorted(without)}
    return make_file(path, settings, ((entry.id, entry.forms, facts) for entry, facts in sources), made_from)


def _kept(entry: AmrEntry, choice: Choice, least: float, unwanted: frozenset[str]) -> KeptSentence | LeftOut:
    """Return the AMR of a sentence as the bank holds it, or why it is left out."""
    parse, agreement = choice
    if agreement < least:
        return LeftOut(f"agreement below {least:g}")
    if _most_of_one_word(parse) > MOST_OF_ONE_WORD:
        return LeftOut(f"more than {MOST_OF_ONE_WORD} concepts of one word")
    if not unwanted.isdisjoint(parse.graph.labels):
        return LeftOut("unwanted concept")
    if has_odd_date(parse.graph):
        return LeftOut("date that cannot be")
    found = replace(parse, place=None).annotated(wiki=False)
    found = replace(found, metadata={**entry.metadata, AGREEMENT: f"{agreement:.4f}"})
    written = found.rewritten(("id", AGREEMENT, EXAMPLE, "snt"), alignments=False)
    return KeptSentence(written, agreement)


def has_odd_date(graph: AmrGraph) -> bool:
    """Return True for a graph with a date whose number is outside `IN_DATES`, such as `:month 13` or `:year 17`."""
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
