"""Trees that several parsers find together, from the probability that each parser gives to each labeled arc.

The tree is the one with the largest expected number of right labeled arcs, where the probability of an arc is the mean
of the parsers' probabilities. So the parsers may differ in everything but the names of relations: some may score whole
trees, others actions, and each may have its own transition system, subword pieces and training data.

Sources: Sagae and Lavie 2006 (Parser Combination by Reparsing), with probabilities in place of votes; Smith and Smith
2007 (Probabilistic Models of Nonprojective Dependency Trees), on minimum Bayes risk
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from os import PathLike

import numpy as np

from transition_parser.base.errors import input_error
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.best_tree import OnceRelations, best_tree
from transition_parser.modules.contract import ScoredTree
from transition_parser.modules.tree_decoder import ArcBeliefs, relations_of_arcs
from transition_parser.parsing.parses import Parse
from transition_parser.states.table import ActionTable
from transition_parser.transitions.tree_system import TreeSystem

_LITTLE = 1e-9  # weight of a dependent's relations to all heads, where those to its head alone decide nothing


def beliefs_of(parse: Parse) -> ArcBeliefs:
    """Return the confidences in the arcs of a parse and its alternatives."""
    count = len(parse)
    found = {
        (word, head - 1 if head else count, relation): confidence
        for one in parse.ranked
        for word, (head, relation, confidence) in enumerate(
            zip(one.tree.heads, one.tree.relations, one.arc_scores, strict=True)
        )
    }
    words, heads, relations = zip(*found, strict=True) if found else ((), (), ())
    return ArcBeliefs(np.array(words, int), np.array(heads, int), relations, np.array([*found.values()], float))


class JointTrees:
    """A finder of trees by the arc probabilities (`ArcBeliefs`) of several parsers."""

    def __init__(self, table: ActionTable, path: str | PathLike | None = None) -> None:
        system = table.system
        if not isinstance(system, TreeSystem) or system.projective_only:
            raise input_error(f"{system.name} can't build every tree: name a model of another system first", path)
        self._relations = table.relations
        self._ids = {relation: number for number, relation in enumerate(table.relations)}
        self._may_carry = relations_of_arcs(table).numpy() > 0  # (2, R) bool: arcs between words, arcs from the root
        self._once = OnceRelations(table.relations, system.once)

    def check_shared(self, relations: Iterable[str], path: str | PathLike | None = None) -> None:
        """Raise `InputError` where the vocabulary has none of the relations of another model, whose file is `path`."""
        if not self._ids.keys() & {*relations} - {""}:
            raise input_error("has no relation in common with the first model", path)

    def tree(self, beliefs: Sequence[ArcBeliefs], count: int) -> ScoredTree:
        """Return the tree over `count` words with the largest expected number of right labeled arcs."""
        return self._best(*self._means(beliefs, count), count)

    def _means(self, beliefs: Sequence[ArcBeliefs], count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the arcs of all parsers, as numbers (word · (count + 1) + head) · R + relation, and their means."""
        numbers, probabilities = [], []
        for one in beliefs:
            relations = np.array([self._ids.get(name, -1) for name in one.relations], int)
            there = (relations >= 0) & self._may_carry[(one.heads == count).astype(int), relations]
            arcs = one.words * (count + 1) + one.heads
            numbers.append((arcs * len(self._ids) + relations)[there])
            probabilities.append(one.probabilities[there])
        found, place = np.unique(np.concatenate(numbers), return_inverse=True)
        sums = np.bincount(place, np.concatenate(probabilities), len(found))
        return found, np.minimum(sums / len(beliefs), 1.0)

    def _best(self, found: np.ndarray, probabilities: np.ndarray, count: int) -> ScoredTree:
        """Return the tree of the largest sum; an arc that none lists gets its dependent's most probable relation."""
        arcs, relations = np.divmod(found, len(self._ids))
        words, columns = np.divmod(arcs, count + 1)
        scores, of_words, of_arcs = (np.zeros((count, size)) for size in (count + 1, len(self._ids), len(self._ids)))
        np.maximum.at(scores, (words, columns), probabilities)
        np.add.at(of_words, (words, relations), probabilities)
        heads = best_tree(scores)
        of_tree = np.array([head - 1 if head else count for head in heads], int)
        there = of_tree[words] == columns
        of_arcs[words[there], relations[there]] = probabilities[there]
        may_carry = self._may_carry[(of_tree == count).astype(int)]
        likely = of_arcs + _LITTLE * of_words
        labels = np.where(may_carry, likely, -1.0).argmax(1)
        likely[~may_carry | (of_words == 0)] = -np.inf
        labels = self._once.choose(of_tree, labels, likely.__getitem__)
        logs = np.log(np.maximum(of_arcs[np.arange(count), labels], sys.float_info.min))
        names = [self._relations[label] for label in labels]
        return ScoredTree(DependencyTree(tuple(heads), tuple(names)), logs.tolist())
