"""Hill-climbing for the mapping between the nodes of two AMRs under which most triples match.

Source: Cai and Knight 2013, sec. 3. The starts, the steps and the tie-breaking are the same as in the package
`smatch`, so that the result is the same for graphs without repeated triples. (A triple matches at most as often as the
other graph has it. The package matches each repetition with each.) Here a table that is updated after each step holds
the gains of all steps. The package computes each gain anew and copies the mapping each time.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.amr_triples import Triples, graph_triples

LARGE = 160_000  # pairs of nodes; graphs with more pairs get one climb that improves node by node
MOST = 100_000_000  # pairs of nodes; each pair takes four bytes

Mapping = list[int | None]
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class TooLargeError(InputError):
    """Graphs that have too many nodes to be compared."""


def best_mapping(system: Triples, gold: Triples, restarts: int = 4, seed: int = 0) -> tuple[int, Mapping]:
    """Return how many triples match under the best mapping that the search finds, and the mapping.

    The mapping has for each node of `system` a node of `gold`, or None. One climb begins with a mapping that joins
    equal concepts, and `restarts` climbs begin with random ones. The same seed gives the same result for the same pair,
    whatever was scored before.

    Graphs with more than `LARGE` pairs of nodes (400 nodes each) get only the climb from equal concepts. It takes the
    best step of each node in turn, instead of the best step of all nodes. Raises `TooLargeError` for more than `MOST`
    pairs.
    """
    pairs = len(system.concepts) * len(gold.concepts)
    if pairs > MOST:
        raise TooLargeError(
            f"graphs of {len(system.concepts)} and {len(gold.concepts)} nodes are too large for Smatch: "
            f"at most {MOST:,} pairs of nodes can be compared"
        )
    task = _Task(system.normalized(), gold.normalized())
    if pairs > LARGE:
        climb = _Climb(task, _start_of_equal_concepts(system, gold))
        climb.sweep()
        return climb.match, climb.result()
    best = 0
    mapping: Mapping = [None] * len(system.concepts)
    for start in _starts(task, system, gold, restarts, seed):
        climb = _Climb(task, start)
        climb.ascend()
        if climb.match > best:
            best, mapping = climb.match, climb.result()
    return best, mapping


def climbed(system: Triples, gold: Triples, start: Sequence[int]) -> int:
    """Return the number of triples that match after one climb from a given mapping, without random numbers.

    system, gold: normalised triples
    start: for each node of `system` a node of `gold`, each at most once, or -1 for none
    """
    climb = _Climb(_Task(system, gold), start)
    climb.ascend()
    return climb.match


class _Task:
    """Tables for a climb, of a system's graph of n nodes and a gold graph of m nodes. The triples are normalised.

    alone: (n, m + 1) int32; the number of instances, attributes and self-loops that match if system node i is mapped to
        gold node j; column m stands for no node and is 0
    out, into: (role, gold node) → two arrays: the nodes at the other ends of the node's edges with this role, and their
        counts. The gold node is the source of these edges in `out` and their target in `into`.
    neighbours: for each system node its relations to other nodes, as (`out` or `into`, role, other node, count)
    relations, in_gold: the relations of the system and of gold with their counts, without self-loops
    """

    def __init__(self, system: Triples, gold: Triples) -> None:
        self.system, self.gold = system, gold
        n, m = len(system.concepts), len(gold.concepts)
        self.alone = np.zeros((n, m + 1), dtype=np.int32)
        nodes_of = _grouped((concept, node) for node, concept in enumerate(gold.concepts))
        for node, concept in enumerate(system.concepts):
            self.alone[node, nodes_of.get(concept, [])] += 1
        ours, theirs = (
            Counter([*graph.attributes, *((role, node, None) for role, node, end in graph.relations if node == end)])
            for graph in (system, gold)
        )
        like = _grouped(((role, value), node) for role, node, value in theirs)  # the value of a self-loop is None
        for (role, node, value), count in ours.items():
            for other in like.get((role, value), ()):
                self.alone[node, other] += min(count, theirs[role, other, value])
        self.relations, self.in_gold = (
            Counter(relation for relation in graph.relations if relation[1] != relation[2]) for graph in (system, gold)
        )
        out: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
        into: dict[tuple[str, int], Counter[int]] = defaultdict(Counter)
        for (role, source, target), count in self.in_gold.items():
            out[role, source][target] += count
            into[role, target][source] += count
        self.out, self.into = _as_arrays(out), _as_arrays(into)
        self.neighbours: list[list[tuple[dict, str, int, int]]] = [[] for _ in system.concepts]
        for (role, source, target), count in self.relations.items():
            self.neighbours[source].append((self.out, role, target, count))
            self.neighbours[target].append((self.into, role, source, count))

    def matches(self, role: str, source: int, target: int, count: int) -> int:
        """Return how often a relation matches that the system has `count` times. The nodes are gold nodes."""
        return min(count, self.in_gold[role, source, target])

    @cached_property
    def above_diagonal(self) -> np.ndarray:
        """An (n, n) bool array that is True for pairs (i, k) of nodes of the system with i < k."""
        n = len(self.system.concepts)
        return np.triu(np.ones((n, n), dtype=bool), 1)


def _grouped(items: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return key → list of the values that `items` pairs with this key."""
    groups: dict[Key, list[Value]] = defaultdict(list)
    for key, value in items:
        groups[key].append(value)
    return groups


def _as_arrays(table: dict[tuple, Counter]) -> dict[tuple, tuple[np.ndarray, np.ndarray]]:
    """Return for each key an array of the nodes and an array of their counts."""
    return {key: (np.array(list(nodes)), np.array(list(nodes.values()))) for key, nodes in table.items()}


class _Climb:
    """A mapping from n system nodes to m gold nodes, and the gain of each step that changes the mapping.

    A step is a move (a node is mapped to a free gold node) or a swap (two nodes exchange their gold nodes).

    to: (n,) int64; the gold node of each system node, m for none
    worth: (n, m + 1) int32; the number of triples of node i that match if only node i is remapped, to gold node j
    now: (n,) int32; `worth[i, to[i]]` for each node i
    free: (m + 1,) bool; True for gold nodes to which no node is mapped; False at m
    """

    def __init__(self, task: _Task, start: Sequence[int]) -> None:
        self.task = task
        n, width = task.alone.shape
        self.none = width - 1
        self.to = np.full(n, self.none)
        self.worth = task.alone.copy()
        self.now = np.zeros(n, dtype=np.int32)
        self.free = np.ones(width, dtype=bool)
        self.free[self.none] = False
        self.all = np.arange(n)
        for node, other in enumerate(start):
            if other >= 0:
                self._map(node, other)
        relations = sum(
            task.matches(role, self.to[source], self.to[target], count)
            for (role, source, target), count in task.relations.items()
        )
        self.match = int(task.alone[self.all, self.to].sum()) + relations

    def ascend(self) -> None:
        """Take the best step of all nodes until no step gains."""
        while len(self.to) and self._take(*self._best_move(), *self._best_swap()):
            pass

    def sweep(self) -> None:
        """Take the best step of each node in turn, again and again until no step gains."""
        gained = True
        while gained:
            gained = False
            for node in range(len(self.to)):
                row = np.where(self.free, self.worth[node], -1)
                move = int(row.argmax())
                swaps = self._swaps_of(node)
                swap = int(swaps.argmax())
                best = (int(row[move]) - int(self.now[node]), (node, move), int(swaps[swap]), (node, swap))
                gained |= self._take(*best)

    def result(self) -> Mapping:
        """Return the mapping, with None for nodes that are mapped to no node."""
        return [None if other == self.none else int(other) for other in self.to]

    def _take(self, moving: int, move: tuple[int, int], swapping: int, swap: tuple[int, int]) -> bool:
        """Take the step with the larger gain if it is positive. Return True if a step was taken."""
        if max(moving, swapping) <= 0:
            return False
        if swapping > moving:
            one, other = swap
            target, others = int(self.to[other]), int(self.to[one])
            self._map(one, self.none)
            self._map(other, others)
            self._map(one, target)
            self.match += swapping
        else:
            self._map(*move)
            self.match += moving
        return True

    def _best_move(self) -> tuple[int, tuple[int, int]]:
        """Return the gain of the best move of a node to a free node of gold, and the move."""
        gains = np.where(self.free, self.worth - self.now[:, None], -1)
        index = int(gains.argmax())
        return int(gains.flat[index]), divmod(index, gains.shape[1])

    def _best_swap(self) -> tuple[int, tuple[int, int]]:
        """Return the gain of the best swap of the gold nodes of two nodes, and the two nodes."""
        swapped = self.worth[:, self.to] - self.now[:, None]  # (i, k): node i mapped to the gold node of k
        gains = swapped + swapped.T
        for (role, source, target), count in self.task.relations.items():
            gain = self._between(role, source, target, count)
            if gain:
                gains[source, target] += gain
                gains[target, source] += gain
        gains = np.where(self.task.above_diagonal, gains, -1)
        index = int(gains.argmax())
        return int(gains.flat[index]), divmod(index, len(self.to))

    def _swaps_of(self, node: int) -> np.ndarray:
        """Return (n,): the gain of the swap of a node with each node; 0 for the node itself."""
        gains = self.worth[node, self.to] + self.worth[:, self.to[node]] - self.now - self.now[node]
        for _table, role, other, count in self.task.neighbours[node]:
            gains[other] += self._between(role, node, other, count)
        return gains

    def _between(self, role: str, source: int, target: int, count: int) -> int:
        """Return the correction to the gain of a swap of two nodes for a relation between them."""
        one, other = self.to[source], self.to[target]
        return self.task.matches(role, one, other, count) + self.task.matches(role, other, one, count)

    def _map(self, node: int, other: int) -> None:
        """Map a node to a free node of gold, or to none."""
        before, self.to[node] = int(self.to[node]), other
        self.now[node] = self.worth[node, other]
        for sign, end in ((-1, before), (1, other)):
            if end == self.none:
                continue
            self.free[end] = sign < 0
            for table, role, neighbour, count in self.task.neighbours[node]:
                linked = table.get((role, end))
                if linked is not None:
                    nodes, counts = linked
                    self.worth[neighbour, nodes] += sign * np.minimum(count, counts)
                    self.now[neighbour] = self.worth[neighbour, self.to[neighbour]]


def _start_of_equal_concepts(system: Triples, gold: Triples) -> list[int]:
    """Return a mapping that joins equal concepts, with -1 for none."""
    left = _grouped((concept, node) for node, concept in reversed(list(enumerate(gold.concepts))))
    start = [left[concept].pop() if left.get(concept) else -1 for concept in system.concepts]
    others = iter(sorted(node for nodes in left.values() for node in nodes))
    return [next(others, -1) if node == -1 else node for node in start]


def _starts(task: _Task, system: Triples, gold: Triples, restarts: int, seed: int) -> Iterator[list[int]]:
    """Yield the mappings from which `smatch` starts, with -1 for nodes that are mapped to none."""
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
    """Return a start in which each node that has none yet has a candidate that is free, if there is one."""
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
    candidates: list[set[int]] = [set() for _ in system.concepts]
    nodes_of = _grouped((concept, node) for node, concept in enumerate(gold.concepts))
    for node, concept in enumerate(system.concepts):
        candidates[node].update(nodes_of.get(concept, ()))
    with_attribute = _grouped(((role, value), node) for role, node, value in gold.attributes)
    for role, node, value in system.attributes:
        candidates[node].update(with_attribute.get((role, value), ()))
    with_role = _grouped((role, (source, target)) for role, source, target in gold.relations)
    for role, source, target in system.relations:
        for one, other in with_role.get(role, ()):
            candidates[source].add(one)
            candidates[target].add(other)
    return candidates


def agreements(
    graphs: Sequence[AmrGraph], alignments: Sequence[Sequence[Sequence[int]]], weights: Sequence[float]
) -> list[float]:
    """Return for each AMR its mean Smatch F1 with all AMRs, itself included, from 0 to 1.

    The hill-climbing for the best mapping of nodes starts by joining nodes that are aligned to the same words. If a
    graph has more than 400 nodes, all agreements are 0, because the comparison would take too long.

    graphs: at least one AMR
    alignments: for each graph the words of each node
    weights: the weight of each AMR in the means; not all are 0
    """
    total, sums = sum(weights), [*map(float, weights)]
    if max(map(len, graphs)) ** 2 > LARGE:
        return [0.0] * len(graphs)
    triples = [graph_triples(graph).normalized() for graph in graphs]
    places = [_places(graph, words) for graph, words in zip(graphs, alignments, strict=True)]
    numbers = [{place: node for node, place in enumerate(own)} for own in places]
    for i, (one, own) in enumerate(zip(triples, places, strict=True)):
        for j in range(i):
            match = climbed(one, triples[j], [numbers[j].get(place, -1) for place in own])
            score = 2 * match / (len(one) + len(triples[j]))
            sums[i] += score * weights[j]
            sums[j] += score * weights[i]
    return [one / total for one in sums]


def _places(graph: AmrGraph, alignments: Sequence[Sequence[int]]) -> list[tuple[tuple[int, ...], int]]:
    """Return (words, number among the nodes of these words) for each concept node. Equal pairs are joined first."""
    seen: Counter[tuple[int, ...]] = Counter()
    places = []
    for node, words in enumerate(map(tuple, alignments)):
        if node not in graph.constants:
            places.append((words, seen[words]))
            seen[words] += 1
    return places
