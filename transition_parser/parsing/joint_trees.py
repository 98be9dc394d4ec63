"""Trees that several parsers find together: each says how probable it finds each labelled arc, and one tree is found.

The tree is the one with the largest expected number of right labelled arcs, where the probability of an arc is the mean
of the parsers' probabilities. So the parsers may differ in everything but the names of relations: some may score whole
trees, others actions, and each may have a transition system, pieces and training data of its own.

Sources: Sagae and Lavie 2006 (Parser Combination by Reparsing), with probabilities in place of votes; Smith and Smith
2007 (Probabilistic Models of Nonprojective Dependency Trees), on minimum Bayes risk
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

import numpy as np

from transition_parser.base.errors import InputError
from transition_parser.modules.contract import Hypothesis
from transition_parser.modules.tree_decoder import ArcBeliefs, relations_of_arcs
from transition_parser.modules.tree_derivations import Derivations, ScoredTree, best_tree
from transition_parser.parsing.parses import Parse
from transition_parser.states.table import ActionTable
from transition_parser.transitions.tree_system import TreeSystem


def beliefs_of(parse: Parse) -> ArcBeliefs:
    """Return the confidences in the arcs of a parse and its alternatives. Equal arcs have equal confidences."""
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
    """Finds trees by the beliefs of several parsers, and gives their derivations.

    table: the action vocabulary of the parser whose derivations are returned

    Raises `InputError` where its system does not build every tree.
    """

    def __init__(self, table: ActionTable) -> None:
        system = table.system
        if not isinstance(system, TreeSystem) or system.projective_only:
            raise InputError(
                f"{system.name} can't build every tree that models find together: name another model first"
            )
        self._ids = {relation: number for number, relation in enumerate(table.relations)}
        self._may_carry = relations_of_arcs(table).numpy() > 0  # (2, relations)
        self._derive = Derivations(table)

    def derivation(
        self, beliefs: Sequence[ArcBeliefs], count: int, shift_ids: Sequence[int] | None = None
    ) -> Hypothesis:
        """Return the derivation of the tree with the largest expected number of right labelled arcs.

        The score of an action that attaches a word is the log of the mean probability of the arc and its relation.

        beliefs: of each parser
        count: the number of words
        shift_ids: the shift id of each word, where SHIFT is labelled, see `Derivations.from_tree`
        """
        mass = self._mass(beliefs, count)
        return self._derive.from_tree(self._best(mass, count), shift_ids)

    def _mass(self, beliefs: Sequence[ArcBeliefs], count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the arcs that any parser believes in, and their mean probabilities.

        An arc is one number: (word · (count + 1) + head) · R + relation; the numbers increase. Relations that the
        vocabulary lacks, or that an arc may not carry, are left out.
        """
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

    def _best(self, mass: tuple[np.ndarray, np.ndarray], count: int) -> ScoredTree:
        found, probabilities = mass
        arcs, relations = np.divmod(found, len(self._ids))
        order = np.lexsort((probabilities, arcs))  # the last of the equal arcs is the most probable one
        last = order[np.flatnonzero(np.diff(arcs[order], append=-1))]
        scores, labels = np.zeros((count, count + 1)), np.full((count, count + 1), -1)
        scores.flat[arcs[last]], labels.flat[arcs[last]] = probabilities[last], relations[last]
        heads = best_tree(scores) if count else []
        columns = [head - 1 if head else count for head in heads]
        best = [int(labels[word, head]) for word, head in enumerate(columns)]
        for word, relation in enumerate(best):
            if relation < 0:  # no parser believes in this arc, which only makes the others a tree
                own = arcs // (count + 1) == word
                of_word = np.bincount(relations[own], probabilities[own], len(self._ids))
                allowed = self._may_carry[int(heads[word] == 0)]
                best[word] = int(np.where(allowed, of_word, -1.0).argmax())
        logs = [math.log(max(float(scores[word, head]), sys.float_info.min)) for word, head in enumerate(columns)]
        return ScoredTree(heads, best, logs)
