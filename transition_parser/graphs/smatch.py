"""Smatch: the triples of AMRs, and hill-climbing for the mapping of nodes under which most triples match.

Source: Cai and Knight 2013, sec. 3. Starts, steps and tie-breaking are those of the package `smatch`; here a table
that is updated after each step holds the gains of all steps, and repeated triples count once.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph, Edge, is_inverse
from transition_parser.graphs.bank import AmrEntry

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
    system: Triples, gold: Triples, restarts: int = 4, seed: int = 0, start: Sequence[int] = ()
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
