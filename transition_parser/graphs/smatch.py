"""Smatch of AMRs, the hill-climbing that finds the mapping of nodes for it, and the fine-grained scores beside it.

Sources: Cai and Knight 2013, sec. 3; Damonte, Cohen and Satta 2017, sec. 5, with their tool amr-evaluation. Starts,
steps and tie-breaking are those of the package `smatch`; here a table that is updated after each step holds the gains
of all steps, and repeated triples count once.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from transition_parser.base.errors import InputError, errors_at, input_error
from transition_parser.base.process import in_parallel, progress
from transition_parser.graphs.amr import AmrGraph, Edge, is_inverse
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.graphs.penman_reader import read_penman, tokens_of

RESTARTS = 4  # the default of the program smatch.py
_SENSE = re.compile(r"(?<=[a-zA-Z0-9-])-\d+$")
_CHUNK = 8  # pairs of graphs that a process gets at once
LARGE = 160_000  # pairs of nodes; graphs with more pairs get one climb
MOST = 4_000_000  # pairs of nodes; each pair takes four bytes

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Triples:
    """A graph as Smatch sees it. Nodes are numbers from 0."""

    concepts: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...]  # (role, node, constant); a string has its quotation marks
    relations: tuple[tuple[str, int, int], ...]  # (role, source node, target node)

    def __len__(self) -> int:
        return len(self.concepts) + len(self.attributes) + len(self.relations)

    @cached_property
    def normalized(self) -> Triples:
        """The triples as Smatch compares them: in lower case, each once, without a difference of 6 and "6"."""
        attributes = ((role.lower(), node, plain_label(value)) for role, node, value in self.attributes)
        relations = ((role.lower(), source, target) for role, source, target in self.relations)
        return Triples(
            tuple(map(plain_label, self.concepts)),
            tuple(dict.fromkeys(attributes)),
            tuple(dict.fromkeys(relations)),
        )


def plain_label(label: str) -> str:
    """Return a concept or a constant in lower case and without quotation marks."""
    return label.lower().removeprefix('"').removesuffix('"')


def entry_triples(entry: AmrEntry) -> Triples:
    """Return the triples of an entry's graph, `:wiki` included."""
    return graph_triples(entry.amr, entry.wiki)


def graph_triples(graph: AmrGraph, wiki: Mapping[int, str] = MappingProxyType({})) -> Triples:
    """Return the triples of a graph, TOP included. As in Smatch, inverse roles and :mod have no constants."""
    nodes = [node for node in range(len(graph)) if node not in graph.constants]
    edges = [e for e in graph.edges if e.target not in graph.constants or not (e.role == "mod" or is_inverse(e.role))]
    whole = part_triples(graph, edges, nodes)
    number = {node: index for index, node in enumerate(nodes)}
    more = [*(("wiki", number[node], value) for node, value in wiki.items()), ("TOP", number[graph.top], "top")]
    return Triples(whole.concepts, (*whole.attributes, *more), whole.relations)


def part_triples(graph: AmrGraph, edges: Sequence[Edge], nodes: Iterable[int] | None = None) -> Triples:
    """Return the triples of some edges of a graph and of the concepts `nodes`, by default the ends of the edges."""
    if nodes is None:
        nodes = sorted({node for edge in edges for node in (edge.source, edge.target)} - graph.constants)
    number = {node: index for index, node in enumerate(nodes)}
    return Triples(
        tuple(graph.labels[node] for node in number),
        tuple((e.role, number[e.source], graph.labels[e.target]) for e in edges if e.target in graph.constants),
        tuple((e.role, number[e.source], number[e.target]) for e in edges if e.target not in graph.constants),
    )


def best_mapping(
    system: Triples, gold: Triples, restarts: int = RESTARTS, seed: int = 0, start: Sequence[int] = ()
) -> tuple[int, list[int | None]]:
    """Return how many triples match under the best mapping that the search finds, and the mapping.

    The mapping has for each node of `system` a node of `gold`, or None. One climb begins with a mapping that joins
    equal concepts (or with `start`, alone), `restarts` others with random ones unless there are more than `LARGE` pairs
    of nodes. Raises `InputError` for more than `MOST` pairs.
    """
    pairs = len(system.concepts) * len(gold.concepts)
    if pairs > MOST:
        raise InputError(
            f"graphs of {len(system.concepts)} and {len(gold.concepts)} nodes are too large for Smatch: "
            f"at most {MOST:,} pairs of nodes can be compared"
        )
    task = _Task(system.normalized, gold.normalized)
    best = 0
    mapping: list[int | None] = [None] * len(system.concepts)
    for own in [start] if start else _starts(task, system, gold, 0 if pairs > LARGE else restarts, seed):
        climb = _Climb(task, own)
        climb.ascend()
        if climb.match > best:
            best = climb.match
            mapping = [None if other == climb.none else int(other) for other in climb.to]
    return best, mapping


class _Task:
    """Tables for a climb, of a system's graph of n nodes and a gold graph of m nodes, with normalized triples.

    unary: (n, m + 1) int32; the number of instances, attributes and self-loops that match; column m is for no node
    neighbors: for each system node its relations to other nodes, as (table, role, other node); the table has the nodes
        at the other ends of each gold node's edges with a role in this direction: (role, gold node) → array
    """

    def __init__(self, system: Triples, gold: Triples) -> None:
        self.system, self.gold = system, gold
        n, m = len(system.concepts), len(gold.concepts)
        self.unary = np.zeros((n, m + 1), dtype=np.int32)
        nodes_of = _grouped((concept, node) for node, concept in enumerate(gold.concepts))
        for node, concept in enumerate(system.concepts):
            self.unary[node, nodes_of.get(concept, [])] += 1
        ours, theirs = (
            [*graph.attributes, *((role, node, None) for role, node, end in graph.relations if node == end)]
            for graph in (system, gold)
        )
        like = _grouped(((role, value), node) for role, node, value in theirs)  # the value of a self-loop is None
        for role, node, value in ours:
            self.unary[node, like.get((role, value), [])] += 1
        self.relations, self.in_gold = (
            {relation for relation in graph.relations if relation[1] != relation[2]} for graph in (system, gold)
        )
        out, into = (
            {key: np.array(nodes) for key, nodes in _grouped(items).items()}
            for items in (
                (((role, source), target) for role, source, target in self.in_gold),
                (((role, target), source) for role, source, target in self.in_gold),
            )
        )
        self.neighbors: list[list[tuple[dict, str, int]]] = [[] for _ in system.concepts]
        for role, source, target in self.relations:
            self.neighbors[source].append((out, role, target))
            self.neighbors[target].append((into, role, source))


def _grouped(items: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = defaultdict(list)
    for key, value in items:
        groups[key].append(value)
    return groups


class _Climb:
    """A mapping from n system nodes to m gold nodes, and the gain of each step: a move to a free node, or a swap."""

    def __init__(self, task: _Task, start: Sequence[int]) -> None:
        self.task = task
        n, width = task.unary.shape
        self.none = width - 1
        self.to = np.full(n, self.none)  # the gold node of each system node
        self.worth = task.unary.copy()
        self.now = np.zeros(n, dtype=np.int32)
        self.free = np.ones(width, dtype=bool)
        self.free[self.none] = False
        for node, other in enumerate(start):
            if other >= 0:
                self._map(node, other)
        relations = sum((role, self.to[one], self.to[other]) in task.in_gold for role, one, other in task.relations)
        self.match = int(task.unary[np.arange(n), self.to].sum()) + relations

    def ascend(self) -> None:
        """Take the best step of all nodes until no step gains."""
        while len(self.to):
            gains = np.where(self.free, self.worth - self.now[:, None], -1)
            index = int(gains.argmax())
            moving, (node, target) = int(gains.flat[index]), divmod(index, gains.shape[1])
            swapping, (one, other) = self._best_swap()
            if max(moving, swapping) <= 0:
                return
            if swapping > moving:
                first, second = int(self.to[one]), int(self.to[other])
                self._map(one, self.none)
                self._map(other, first)
                self._map(one, second)
            else:
                self._map(node, target)
            self.match += max(moving, swapping)

    def _best_swap(self) -> tuple[int, tuple[int, int]]:
        """Return the gain of the best swap of the gold nodes of two nodes, and the two nodes."""
        swapped = self.worth[:, self.to] - self.now[:, None]  # (i, k): node i mapped to the gold node of k
        gains = swapped + swapped.T
        for role, source, target in self.task.relations:
            one, other, gold = self.to[source], self.to[target], self.task.in_gold
            if gain := ((role, one, other) in gold) + ((role, other, one) in gold):
                gains[source, target] += gain
                gains[target, source] += gain
        index = int(gains.argmax())  # of two equal maxima the one above the diagonal
        return int(gains.flat[index]), divmod(index, len(self.to))

    def _map(self, node: int, other: int) -> None:
        """Map a node to a free node of gold, or to none."""
        before, self.to[node] = int(self.to[node]), other
        self.now[node] = self.worth[node, other]
        for sign, end in ((-1, before), (1, other)):
            if end == self.none:
                continue
            self.free[end] = sign < 0
            for table, role, neighbor in self.task.neighbors[node]:
                nodes = table.get((role, end))
                if nodes is not None:
                    self.worth[neighbor, nodes] += sign
                    self.now[neighbor] = self.worth[neighbor, self.to[neighbor]]


def _starts(task: _Task, system: Triples, gold: Triples, restarts: int, seed: int) -> Iterator[list[int]]:
    """Yield the mappings from which `best_mapping` starts, with -1 for nodes that are mapped to none."""
    candidates = _candidates(task)
    chance = random.Random(seed)
    start, taken = [-1] * len(candidates), set()
    for node, nodes in enumerate(candidates):
        equal = (one for one in nodes if gold.concepts[one] == system.concepts[node] and one not in taken)
        start[node] = next(equal, -1)
        taken.add(start[node])
    yield _filled(start, candidates, chance)
    for _ in range(restarts):
        yield _filled([-1] * len(candidates), candidates, chance)


def _filled(start: list[int], candidates: Sequence[set[int]], chance: random.Random) -> list[int]:
    """Return the start after each unmapped node has got a free candidate, if there is one."""
    taken = set(start)
    for node, nodes in enumerate(candidates):
        left = list(nodes) if start[node] == -1 else []
        while left and start[node] == -1:
            drawn = left.pop(chance.randint(0, len(left) - 1))
            if drawn not in taken:
                start[node] = drawn
                taken.add(drawn)
    return start


def _candidates(task: _Task) -> list[set[int]]:
    """Return for each system node the gold nodes with which at least one triple may match."""
    system, gold = task.system, task.gold
    nodes_of = _grouped((concept, node) for node, concept in enumerate(gold.concepts))
    candidates = [set(nodes_of.get(concept, ())) for concept in system.concepts]
    with_attribute = _grouped(((role, value), node) for role, node, value in gold.attributes)
    for role, node, value in system.attributes:
        candidates[node].update(with_attribute.get((role, value), ()))
    with_role = _grouped((role, (source, target)) for role, source, target in gold.relations)
    for role, source, target in system.relations:
        for one, other in with_role.get(role, ()):
            candidates[source].add(one)
            candidates[target].add(other)
    return candidates


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

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.match + other.match, self.system + other.system, self.gold + other.gold)


def smatch_counts(gold: AmrGraph, system: AmrGraph, restarts: int = RESTARTS) -> Counts:
    """Return the counts of `smatch.py -r RESTARTS` (1.0.4), with each triple once, whole strings and seeded starts."""
    return _count(graph_triples(gold), graph_triples(system), restarts, seed=0)


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
    seed: int = 0,
) -> Counts:
    """Return the counts of a score for two entries: of Smatch, or of an entry of `FINE_GRAINED`."""
    ours, theirs = compared(gold), compared(system)
    if isinstance(ours, set) and isinstance(theirs, set):
        return Counts(len(ours & theirs), len(theirs), len(ours))
    assert isinstance(ours, Triples) and isinstance(theirs, Triples)
    return _count(ours, theirs, RESTARTS, seed)


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
    counts_of = partial(_counts_of, seed=seed, fine_grained=fine_grained)
    results = in_parallel(counts_of, pairs, processes, _CHUNK)
    return list(progress(results, "score", len(pairs)))


def score(gold: str | os.PathLike, system: str | os.PathLike, **options: Any) -> dict[str, Any]:
    """Return the scores of a file by name, as `score --json` prints them; for the options see `compare_banks`."""
    scores = compare_banks(gold, system, **options)
    figures: dict[str, Any] = {"sentences": len(scores)}
    for name, counts in total(scores).items():
        parts = {part: round(getattr(counts, part), 4) for part in ("precision", "recall", "f1")}
        figures[name] = parts if counts.system or counts.gold else None  # None: neither file has such triples
    return figures


def table(figures: Mapping[str, Any]) -> str:
    """Return the figures of `score` as a text for people."""
    lines = [f"sentences {figures['sentences']:>14}", "", f"{'':<16}{'precision':>11}{'recall':>9}{'F1':>9}"]
    for name, parts in figures.items():
        if name != "sentences":
            precision, recall, f1 = (f"{value:.4f}" for value in parts.values()) if parts else "---"
            lines.append(f"{name.replace('_', ' '):<16}{precision:>11}{recall:>9}{f1:>9}")
    return "\n".join(lines)


def _counts_of(pair: tuple[AmrEntry, AmrEntry], seed: int, fine_grained: bool) -> Scores:
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
