"""The mapping between the nodes of two AMRs under which most triples match: the hill-climbing of Smatch.

Same pool of candidates, same steps (move one node, or swap two; the best first) and same kinds of start as in
the package `smatch`, but on matrices, without its global state, and done as soon as no mapping can be better.
Source: Cai and Knight 2013, sec. 3
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import numpy as np

from transition_parser.graphs.amr_triples import Triples


def best_mapping(system: Triples, gold: Triples, restarts: int = 4, seed: int = 0) -> tuple[int, list[int | None]]:
    """The most matching triples that were found, and for each node of `system` that of `gold`, or None.

    One climb from a start that joins equal concepts, then `restarts` from random ones; graphs that are the same
    but for their variables are seen to be (the climb alone misses that for some large graphs). The same seed
    gives the same result for the same pair, whatever was scored before.
    """
    if not system.concepts or not gold.concepts:
        return 0, [None] * len(system.concepts)
    climber = _Climber(system.normalized(), gold.normalized())
    chance = random.Random(seed)
    same = renaming(climber.system, climber.gold)
    best, mapping = climber.climb(climber.concept_start(chance) if same is None else same)
    for _ in range(restarts):
        if best >= climber.bound:
            break
        found, other = climber.climb(climber.random_start(chance))
        if found > best:
            best, mapping = found, other
    return best, [None if node == climber.none else int(node) for node in mapping]


class _Climber:
    """n nodes of the system's graph, m of the gold graph; column m of each matrix means: not mapped.

    base: (n, m + 1) triples that match when node i is mapped to p, whatever the others are mapped to.
    candidates: (n, m + 1) True where i may be mapped to p. joint: (4, k) columns (i, p, j, q): one relation
    matches when i is mapped to p and j to q; each is there in both orders. bound: no mapping has more matches.
    """

    def __init__(self, system: Triples, gold: Triples) -> None:
        self.system, self.gold = system, gold
        self.size, self.none = len(system.concepts), len(gold.concepts)
        self.base = np.zeros((self.size, self.none + 1), dtype=np.int64)
        self.candidates = np.zeros((self.size, self.none + 1), dtype=bool)
        self._concepts()
        self._attributes()
        self.joint = np.array(self._relations(), dtype=np.int64).reshape(-1, 4).T
        i, p, j, _q = self.joint
        self.cell = i * (self.none + 1) + p
        self.rows, self.columns = np.triu_indices(self.size, 1)
        number = np.zeros((self.size, self.size), dtype=np.int64)
        number[self.rows, self.columns] = np.arange(len(self.rows))
        self.pair = number[np.minimum(i, j), np.maximum(i, j)]
        self.bound = _bound(system, gold)
        self.choices = [np.flatnonzero(row).tolist() for row in self.candidates]

    def _concepts(self) -> None:
        nodes = defaultdict(list)
        for node, concept in enumerate(self.gold.concepts):
            nodes[concept].append(node)
        for node, concept in enumerate(self.system.concepts):
            for other in nodes[concept]:
                self._alone(node, other)

    def _attributes(self) -> None:
        nodes = defaultdict(list)
        for role, node, value in self.gold.attributes:
            nodes[role, value].append(node)
        for role, node, value in self.system.attributes:
            for other in nodes[role, value]:
                self._alone(node, other)

    def _alone(self, node: int, other: int) -> None:
        self.base[node, other] += 1
        self.candidates[node, other] = True

    def _relations(self) -> list[tuple[int, int, int, int]]:
        ends = defaultdict(list)
        for role, source, target in self.gold.relations:
            ends[role].append((source, target))
        joint = []
        for role, i, j in self.system.relations:
            for p, q in ends[role]:
                self.candidates[i, p] = self.candidates[j, q] = True
                if (i, p) == (j, q):
                    self.base[i, p] += 1
                elif i != j and p != q:  # else no mapping one to one has both
                    joint += [(i, p, j, q), (j, q, i, p)]
        return joint

    def concept_start(self, chance: random.Random) -> list[int]:
        """Nodes to the first free node of the same concept, the rest at random."""
        start, taken = [self.none] * self.size, set()
        for node, concept in enumerate(self.system.concepts):
            same = (p for p in self.choices[node] if self.gold.concepts[p] == concept and p not in taken)
            start[node] = next(same, self.none)
            taken.add(start[node])
        return self._filled(start, chance)

    def random_start(self, chance: random.Random) -> list[int]:
        """Each node to a free candidate."""
        return self._filled([self.none] * self.size, chance)

    def _filled(self, start: list[int], chance: random.Random) -> list[int]:
        taken = set(start)
        for node, choices in enumerate(self.choices):
            free = [p for p in choices if p not in taken]
            if start[node] == self.none and free:
                start[node] = chance.choice(free)
                taken.add(start[node])
        return start

    def climb(self, start: list[int]) -> tuple[int, np.ndarray]:
        """The matches and the mapping that no single step makes better."""
        mapping = np.array(start, dtype=np.int64)
        nodes = np.arange(self.size)
        while True:
            worth = self._worth(mapping)
            own = worth[nodes, mapping]
            if not self._step(mapping, worth, own):
                alone = self.base[nodes, mapping]
                return int(alone.sum() + (own - alone).sum() // 2), mapping

    def _worth(self, mapping: np.ndarray) -> np.ndarray:
        """(n, m + 1) the triples of node i that match if it is mapped to p and the others stay."""
        _i, _p, j, q = self.joint
        relations = np.bincount(self.cell[mapping[j] == q], minlength=self.base.size)
        return self.base + relations.reshape(self.base.shape)

    def _step(self, mapping: np.ndarray, worth: np.ndarray, own: np.ndarray) -> bool:
        """Takes the best step in place; False if there is none."""
        moves = np.where(self.candidates, worth - own[:, None], -1)
        moves[:, mapping] = -1
        move = int(moves.argmax())
        gain = moves.flat[move]
        swaps = self._swaps(mapping, worth, own)
        if len(swaps) and swaps.max() > max(gain, 0):
            best = int(swaps.argmax())
            i, j = self.rows[best], self.columns[best]
            mapping[i], mapping[j] = mapping[j], mapping[i]
        elif gain > 0:
            node, other = divmod(move, self.none + 1)
            mapping[node] = other
        else:
            return False
        return True

    def _swaps(self, mapping: np.ndarray, worth: np.ndarray, own: np.ndarray) -> np.ndarray:
        """(n · (n - 1) / 2) the gain of swapping the nodes of each pair (rows, columns)."""
        rows, columns = self.rows, self.columns
        i, p, j, q = self.joint
        # relations between the two: counted twice in `own`, and not at all in `worth` once both have moved
        between = (i < j) & (((mapping[i] == p) & (mapping[j] == q)) | ((mapping[i] == q) & (mapping[j] == p)))
        return (
            worth[rows, mapping[columns]]
            + worth[columns, mapping[rows]]
            - own[rows]
            - own[columns]
            + np.bincount(self.pair[between], minlength=len(rows))
        )


def _bound(system: Triples, gold: Triples) -> float:
    """Matches that no mapping one to one exceeds: triples of the same kind in both, nodes aside."""
    if system != system.distinct() or gold != gold.distinct():
        return math.inf  # Smatch counts a triple that both have twice four times
    return sum(
        (Counter(of(system)) & Counter(of(gold))).total()
        for of in (
            lambda triples: triples.concepts,
            lambda triples: [(role, value) for role, _node, value in triples.attributes],
            lambda triples: [role for role, _source, _target in triples.relations],
        )
    )


def renaming(system: Triples, gold: Triples) -> list[int] | None:
    """The node of `gold` for each of `system` if the graphs seem to be the same but for their variables, else None.

    Refines colours of nodes by those of their neighbours, over both graphs at once, and tells nodes of the same
    colour apart one by one. Source: Weisfeiler and Leman 1968
    """
    size = len(system.concepts)
    if size != len(gold.concepts) or len(system) != len(gold):
        return None
    ends = _ends(system, 0), _ends(gold, size)
    traits = _traits(system) + _traits(gold)
    colours = _refined(_numbered(traits), ends[0] + ends[1])
    while True:
        ours, theirs = colours[:size], colours[size:]
        if sorted(ours) != sorted(theirs):
            return None
        twin = next((node for node, count in enumerate(map(ours.count, ours)) if count > 1), None)
        if twin is None:
            return [theirs.index(colour) for colour in ours]
        told = max(colours) + 1
        colours[size + theirs.index(ours[twin])] = told
        colours[twin] = told
        colours = _refined(colours, ends[0] + ends[1])


def _traits(triples: Triples) -> list[tuple]:
    attributes: list[list[tuple[str, str]]] = [[] for _ in triples.concepts]
    for role, node, value in triples.attributes:
        attributes[node].append((role, value))
    return [(concept, *sorted(own)) for concept, own in zip(triples.concepts, attributes, strict=True)]


def _ends(triples: Triples, first: int) -> list[list[tuple[str, int]]]:
    """For each node (role, other end) of its relations, nodes counted from `first`."""
    around: list[list[tuple[str, int]]] = [[] for _ in triples.concepts]
    for role, source, target in triples.relations:
        around[source].append((role, first + target))
        around[target].append((f"{role}-of", first + source))
    return around


def _numbered(traits: list[tuple]) -> list[int]:
    numbers = {trait: number for number, trait in enumerate(dict.fromkeys(traits))}
    return [numbers[trait] for trait in traits]


def _refined(colours: list[int], around: list[list[tuple[str, int]]]) -> list[int]:
    while True:
        traits = [
            (colour, *sorted((role, colours[other]) for role, other in ends))
            for colour, ends in zip(colours, around, strict=True)
        ]
        finer = _numbered(traits)
        if len(set(finer)) == len(set(colours)):
            return colours
        colours = finer
