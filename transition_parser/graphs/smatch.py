"""Smatch: the triples of AMRs, and hill-climbing for the mapping of nodes under which most triples match.

Source: Cai and Knight 2013, sec. 3. The starts, the steps and the tie-breaking are the same as in the package
`smatch`, so that the result is the same for graphs without repeated triples. (A triple matches at most as often as the
other graph has it. The package matches each repetition with each.) Here a table that is updated after each step holds
the gains of all steps. The package computes each gain anew and copies the mapping each time.
"""

from __future__ import annotations

import importlib.util
import io
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

import numpy as np

from transition_parser.base.errors import InputError, shortened
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MARK = re.compile(rf"({_STRING})|(?<=[^\s(])~(?:[a-z]\.?)?\d+(?:,\d+)*(?=[\s()]|$)", re.DOTALL)
_ROLE = re.compile(rf"({_STRING})|:[a-zA-Z0-9-]*", re.DOTALL)
_WIKI = re.compile(rf'({_STRING})|\s*:wiki\s+(?:{_STRING}|[^\s()"]+)', re.DOTALL)
_HIDDEN = re.compile('"?(\x00[0-9]+)["_]?')  # what the package reads, and returns, in place of a string
_SENSE = re.compile(r"(/\s*[a-zA-Z0-9-]+)-\d+(?=[\s()]|$)")

LARGE = 160_000  # pairs of nodes; graphs with more pairs get one climb that improves node by node
MOST = 100_000_000  # pairs of nodes; each pair takes four bytes

Mapping = list[int | None]
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True)
class Triples:
    """A graph as Smatch sees it. Nodes are numbers from 0.

    variables, concepts: the name and the concept of each node
    attributes: (role, node, constant); a string has its quotation marks
    relations: (role, source node, target node)
    """

    variables: tuple[str, ...]
    concepts: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...]
    relations: tuple[tuple[str, int, int], ...]

    def __len__(self) -> int:
        return len(self.concepts) + len(self.attributes) + len(self.relations)

    def normalized(self) -> Triples:
        """Return the triples as Smatch compares them: in lower case, and without a difference between 6 and "6"."""
        return Triples(
            self.variables,
            tuple(map(_normalized, self.concepts)),
            tuple((role.lower(), node, _normalized(value)) for role, node, value in self.attributes),
            tuple((role.lower(), source, target) for role, source, target in self.relations),
        )

    def distinct(self) -> Triples:
        """Return the triples without repeated attributes and relations."""
        attributes, relations = dict.fromkeys(self.attributes), dict.fromkeys(self.relations)
        return replace(self, attributes=tuple(attributes), relations=tuple(relations))


def _normalized(label: str) -> str:
    return label.lower().removeprefix('"').removesuffix('"')


def read_triples(text: str, error: Callable[[str], InputError] = InputError) -> Triples:
    """Return the triples of PENMAN text as the package `smatch` reads them. Alignments are ignored.

    The text may have several lines. The package reverses edges with inverse roles or :mod (to :domain). It
    adds TOP to the first node, and drops a constant after an inverse role or after :mod. It would read a string up to
    its first blank or escape, so it gets numbers in place of strings.
    """
    strings: dict[str, str] = {}

    def hide(match: re.Match) -> str:
        if not match[1]:
            return ""
        hidden = f"\x00{len(strings)}"
        strings[hidden] = match[1]
        return f'"{hidden}"'

    def show(label: str) -> str:
        return _HIDDEN.sub(lambda match: strings.get(match[1], match[0]), label)

    line = " ".join(_MARK.sub(hide, text).split())
    if not line.startswith("("):
        raise error("no graph: write (a / amr-empty) for an empty one")
    reader = _smatch_amr()
    before, reader.ERROR_LOG = reader.ERROR_LOG, io.StringIO()  # takes what would be printed on standard error
    try:
        graph = reader.AMR.parse_AMR_line(line)
        variables = tuple(graph.nodes) if graph else ()
        if graph:
            graph.rename_node("")
        problem = " ".join(reader.ERROR_LOG.getvalue().split())
    except (IndexError, KeyError):
        graph, problem = None, line
    finally:
        reader.ERROR_LOG = before
    if graph is None:
        raise error(f"smatch can't read the graph: {shortened(show(problem), 120)}")
    _, attributes, relations = graph.get_triples()
    return Triples(
        variables,
        tuple(map(show, graph.node_values)),
        tuple((role, int(node), show(value)) for role, node, value in attributes),
        tuple((role, int(source), int(target)) for role, source, target in relations),
    )


def entry_triples(entry: AmrEntry) -> Triples:
    """Return the triples of an entry's graph, `:wiki` included. Raises `InputError` if the graph can't be written."""
    return read_triples(entry.amr.to_penman(None, entry.wiki, entry.variables), entry.error)


@cache
def _smatch_amr() -> Any:
    """Return the module `amr` of the package `smatch`. A plain import could find an `amr.py` of the user's own."""
    path = str(metadata.distribution("smatch").locate_file("amr.py"))
    spec = importlib.util.spec_from_file_location("smatch_amr", path)
    assert spec is not None and spec.loader is not None  # the name ends in .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def without_alignments(text: str) -> str:
    """Return PENMAN text without the alignment marks after symbols and roles.

    >>> without_alignments('(s / see-01~e.1 :ARG0~e.0,2 (n / name :op1 "a~e.1"~e.3))')
    '(s / see-01 :ARG0 (n / name :op1 "a~e.1"))'
    """
    return _MARK.sub(lambda match: match[1] or "", text)


def without_roles(text: str) -> str:
    """Return PENMAN text with one role for all edges. An edge with an inverse role keeps its written direction.

    >>> without_roles('(s / see-01 :ARG1-of (n / name :op1 "a:b"))')
    '(s / see-01 :label (n / name :label "a:b"))'
    """
    return _ROLE.sub(lambda match: match[1] or ":label", text)


def without_wiki(text: str) -> str:
    """Return PENMAN text without `:wiki`. The text must have no alignment marks.

    >>> without_wiki('(c / city :wiki "Rome" :name (n / name :op1 ":wiki x"))')
    '(c / city :name (n / name :op1 ":wiki x"))'
    """
    return _WIKI.sub(lambda match: match[1] or "", text)


def without_senses(text: str) -> str:
    """Return PENMAN text with the same sense for all concepts that have a sense.

    >>> without_senses("(h / have-org-role-91 :ARG1 (b / bear-02))")
    '(h / have-org-role-01 :ARG1 (b / bear-01))'
    """
    return _SENSE.sub(r"\1-01", text)


def graph_triples(graph: AmrGraph) -> Triples:
    """Return the triples of a graph, TOP included, without writing and reading PENMAN."""
    nodes = [node for node in range(len(graph)) if node not in graph.constants]
    whole = part_triples(graph, graph.edges, nodes)
    return replace(whole, attributes=(*whole.attributes, ("TOP", nodes.index(graph.top), "top")))


def part_triples(graph: AmrGraph, edges: Sequence[Edge], nodes: Iterable[int] | None = None) -> Triples:
    """Return the triples of some edges of a graph and of the concepts `nodes`, by default those that the edges join."""
    if nodes is None:
        nodes = sorted({node for edge in edges for node in (edge.source, edge.target)} - graph.constants)
    number = {node: index for index, node in enumerate(nodes)}
    names = graph.variables()  # None for constants
    return Triples(
        tuple(names[node] or "" for node in number),
        tuple(graph.labels[node] for node in number),
        tuple((e.role, number[e.source], graph.labels[e.target]) for e in edges if e.target in graph.constants),
        tuple((e.role, number[e.source], number[e.target]) for e in edges if e.target not in graph.constants),
    )


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
        climb = _climbed(task, start)
        if climb.match > best:
            best, mapping = climb.match, climb.result()
    return best, mapping


def _climbed(task: _Task, start: Sequence[int]) -> _Climb:
    climb = _Climb(task, start)
    climb.ascend()
    return climb


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
        self.out, self.into = (
            {key: (np.array(list(nodes)), np.array(list(nodes.values()))) for key, nodes in table.items()}
            for table in (out, into)
        )
        self.neighbours: list[list[tuple[dict, str, int, int]]] = [[] for _ in system.concepts]
        for (role, source, target), count in self.relations.items():
            self.neighbours[source].append((self.out, role, target, count))
            self.neighbours[target].append((self.into, role, source, count))

    def matches(self, role: str, source: int, target: int, count: int) -> int:
        """Return how often a relation matches that the system has `count` times. The nodes are gold nodes."""
        return min(count, self.in_gold[role, source, target])


def _grouped(items: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = defaultdict(list)
    for key, value in items:
        groups[key].append(value)
    return groups


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
        for node, other in enumerate(start):
            if other >= 0:
                self._map(node, other)
        relations = sum(
            task.matches(role, self.to[source], self.to[target], count)
            for (role, source, target), count in task.relations.items()
        )
        self.match = int(task.alone[np.arange(n), self.to].sum()) + relations

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
                swaps = self._swaps_of(node)
                move, swap = int(row.argmax()), int(swaps.argmax())
                gain = int(row[move]) - int(self.now[node])
                gained |= self._take(gain, (node, move), int(swaps[swap]), (node, swap))

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
        else:
            self._map(*move)
        self.match += max(moving, swapping)
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
        index = int(gains.argmax())  # of two equal maxima the one above the diagonal
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
    left = _grouped((concept, node) for node, concept in reversed(list(enumerate(gold.concepts))))
    start = [left[concept].pop() if left.get(concept) else -1 for concept in system.concepts]
    others = iter(sorted(node for nodes in left.values() for node in nodes))
    return [next(others, -1) if node == -1 else node for node in start]


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


def agreements(
    graphs: Sequence[AmrGraph], alignments: Sequence[Sequence[Sequence[int]]], weights: Sequence[float]
) -> list[float]:
    """Return for each AMR its mean Smatch F1 with all AMRs, itself included, from 0 to 1.

    The hill-climbing for the best mapping of nodes starts by joining nodes that are aligned to the same words. If a
    graph has more than 400 nodes, all agreements are 0, because the comparison would take too long.
    """
    total, sums = sum(weights), [*map(float, weights)]
    if max(map(len, graphs)) ** 2 > LARGE:
        return [0.0] * len(graphs)
    triples = [graph_triples(graph).normalized() for graph in graphs]
    places = [_places(graph, words) for graph, words in zip(graphs, alignments, strict=True)]
    numbers = [{place: node for node, place in enumerate(own)} for own in places]
    for i, (one, own) in enumerate(zip(triples, places, strict=True)):
        for j in range(i):
            climb = _climbed(_Task(one, triples[j]), [numbers[j].get(place, -1) for place in own])
            score = 2 * climb.match / (len(one) + len(triples[j]))
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
