"""Smatch of AMRs, and the fine-grained scores related to it.

Sources: Cai and Knight 2013; Damonte, Cohen and Satta 2017, sec. 5, with their tool amr-evaluation
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

from transition_parser.base.errors import errors_at, input_error
from transition_parser.base.process import in_parallel, progress
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.graphs.penman_reader import read_penman, tokens_of
from transition_parser.graphs.smatch import (
    Triples,
    best_mapping,
    entry_triples,
    graph_triples,
    part_triples,
)

RESTARTS = 4  # the default of the program smatch.py
_SENSE = re.compile(r"(?<=[a-zA-Z0-9-])-\d+$")
_CHUNK = 8  # pairs of graphs that a process gets at once


@dataclass(frozen=True)
class Counts:
    """Numbers of triples, or of items of sets: in both graphs, in the system's, and in gold. Scores are from 0 to 1."""

    match: int = 0
    system: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        return self.match / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.match / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.match / (self.system + self.gold) if self.match else 0.0

    @property
    def exact(self) -> bool:
        """True if all triples match."""
        return self.match == self.system == self.gold

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.match + other.match, self.system + other.system, self.gold + other.gold)


def smatch_counts(gold: AmrGraph, system: AmrGraph, restarts: int = RESTARTS, seed: int = 0) -> Counts:
    """Return the counts of `smatch.py -r RESTARTS` (1.0.4), with each triple once, whole strings and seeded starts."""
    return _count(graph_triples(gold), graph_triples(system), restarts, seed)


def _count(gold: Triples, system: Triples, restarts: int, seed: int) -> Counts:
    match, _mapping = best_mapping(system, gold, restarts, seed)
    return Counts(match, len(system.normalized), len(gold.normalized))


def _unlabeled(entry: AmrEntry) -> Triples:
    """Return the triples with one role for all edges. An edge with an inverse role keeps its written direction."""
    tokens = tokens_of(entry.penman.split("\n"))
    line = " ".join(":label" if token.kind == "ROLE" and token.text != ":wiki" else token.text for token in tokens)
    text = read_penman([line])
    triples = graph_triples(text.graph, text.wiki if entry.wiki else {})
    attributes = [("label" if role == "wiki" else role, node, value) for role, node, value in triples.attributes]
    return replace(triples, attributes=tuple(attributes))


def _one_sense(entry: AmrEntry) -> Triples:
    triples = entry_triples(entry)
    return replace(triples, concepts=tuple(_SENSE.sub("-01", concept) for concept in triples.concepts))


def _concepts_with(role: str, entry: AmrEntry) -> set[str]:
    return {entry.amr.labels[edge.source] for edge in entry.amr.edges if edge.role == role}


def _reentrancies(entry: AmrEntry) -> Triples:
    """Return the triples of the edges into nodes with several incoming edges; no edge has an inverse role here."""
    incoming = Counter(edge.target for edge in entry.amr.edges)
    return part_triples(entry.amr, [edge for edge in entry.amr.edges if incoming[edge.target] > 1])


# Score → the triples of an entry that Smatch compares, or a set of items. As in amr-evaluation, `unlabeled` has one
# role for all edges, each in its written direction; `no_wsd` has one sense for all concepts that have a sense. Some
# versions of amr-evaluation add a TOP triple to the subgraphs of reentrancies and of semantic roles, and some add the
# target's concept as an attribute. Here a subgraph has only its edges and the nodes at their ends.
FINE_GRAINED: dict[str, Callable[[AmrEntry], Triples | set[str]]] = {
    "unlabeled": _unlabeled,
    "no_wsd": _one_sense,
    "concepts": lambda entry: {label for node, label in enumerate(entry.amr.labels) if node not in entry.amr.constants},
    "named_entities": partial(_concepts_with, "name"),
    "negation": partial(_concepts_with, "polarity"),
    "wiki": lambda entry: {*entry.wiki.values()},
    "reentrancies": _reentrancies,
    "srl": lambda entry: part_triples(entry.amr, [edge for edge in entry.amr.edges if edge.role.startswith("ARG")]),
}


def count_entries(
    gold: AmrEntry,
    system: AmrEntry,
    compared: Callable[[AmrEntry], Triples | set[str]] = entry_triples,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> Counts:
    """Return the counts of a score for two entries: of Smatch, or of an entry of `FINE_GRAINED`."""
    ours, theirs = compared(gold), compared(system)
    if isinstance(ours, set) and isinstance(theirs, set):
        return Counts(len(ours & theirs), len(theirs), len(ours))
    assert isinstance(ours, Triples) and isinstance(theirs, Triples)
    return _count(ours, theirs, restarts, seed)


# of one sentence, or of a file: `smatch` and, in fine-grained scoring, the names in FINE_GRAINED → counts
Scores = dict[str, Counts]


def total(sentences: Sequence[Scores]) -> Scores:
    """Return the counts of all sentences together."""
    return {name: sum((of_sentence[name] for of_sentence in sentences), Counts()) for name in sentences[0]}


def compare_banks(
    gold_path: str | os.PathLike,
    system_path: str | os.PathLike,
    seed: int = 0,
    processes: int = 1,
    fine_grained: bool = False,
    ignore_wiki: bool = False,
    ignore_ids: bool = False,
) -> list[Scores]:
    """Return the scores of each sentence of two files; above 1 process, a script needs a `__main__` guard."""
    pairs = list(paired_entries(gold_path, system_path, ignore_wiki, ignore_ids))
    score = partial(_score, seed=seed, fine_grained=fine_grained)
    results = in_parallel(score, pairs, processes, _CHUNK)
    return list(progress(results, "score", len(pairs)))


def _score(pair: tuple[AmrEntry, AmrEntry], seed: int, fine_grained: bool) -> Scores:
    gold, system = pair
    compared = {"smatch": entry_triples, **(FINE_GRAINED if fine_grained else {})}
    with errors_at(system.path, system.line, system.id):
        return {name: count_entries(gold, system, of, seed=seed) for name, of in compared.items()}


def paired_entries(
    gold_path: str | os.PathLike, system_path: str | os.PathLike, ignore_wiki: bool = False, ignore_ids: bool = False
) -> Iterator[tuple[AmrEntry, AmrEntry]]:
    """Yield pairs of corresponding entries of two files, gold first. Alternatives (`# ::nbest 2/5`) are left out."""
    gold, system = _entries(gold_path, ignore_wiki), _entries(system_path, ignore_wiki)
    for number, (ours, theirs) in enumerate(zip_longest(gold, system), 1):
        if ours is None or theirs is None:
            long, short = (gold_path, system_path) if theirs is None else (system_path, gold_path)
            raise (ours or theirs).error(
                f"{short} has {number - 1} entries and {long} has more: "
                "both files need the same entries, in the same order"
            )
        if not ignore_ids and None not in (ours.id, theirs.id) and ours.id != theirs.id:
            raise theirs.error(
                f"entry {number} of {gold_path} (line {ours.line}) has the id {ours.id}: "
                "both files need the same entries in the same order (--ignore-ids compares them by their order alone)"
            )
        yield ours, theirs


def _entries(path: str | os.PathLike, ignore_wiki: bool) -> list[AmrEntry]:
    entries = [entry for entry in read_bank(path) if not entry.is_alternative]
    if not entries:
        raise input_error("the file holds no graphs", path)
    return [replace(entry, wiki={}) for entry in entries] if ignore_wiki else entries
