"""The best tree by arc scores, and the derivation of a tree: graph-based parsers return derivations, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.kernels import machine_kernels
from transition_parser.kernels.machine_kernels import LEFT_ARC, RIGHT_ARC, SHIFT, SWAP
from transition_parser.modules.contract import Hypothesis
from transition_parser.oracles.static import oracle
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, Kind, TreeSystem
from transition_parser.transitions.arc_hybrid import ArcHybridSwap

_ARCS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)
_SWAP = Action(Kind.SWAP)
_NONE = -1  # the token of an action that the vocabulary lacks


def best_tree(scores: np.ndarray) -> list[int]:
    """Return the heads of the highest-scoring tree with a single root.

    Heads are numbered as in `DependencyTree`: 0 is the root, words count from 1. The score of a tree is the sum of the
    scores of its arcs.

    Source: Chu and Liu 1965, Edmonds 1967, implemented by ufal.chu_liu_edmonds. A penalty on each arc
    from the root is larger than any difference in score between two trees, so that the best tree has only one such arc.
    If the best heads of all words already are a tree, as usual, nothing is searched.

    scores: (n, n + 1) for n words, finite; a row for each dependent and a column for each head, the root last. The
        score of a word as its own head is ignored.

    >>> best_tree(np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 3.0]]))  # both would hang from the root
    [0, 1]
    """
    from ufal.chu_liu_edmonds import chu_liu_edmonds  # imported late: only this function needs it

    n = len(scores)
    scores = scores.copy()
    np.fill_diagonal(scores, -np.inf)
    best = [int(column) + 1 if column < n else 0 for column in scores.argmax(1)]
    if DependencyTree(tuple(best), ("_",) * n).why_invalid() is None:
        return best
    matrix = np.empty((n + 1, n + 1))
    matrix[0] = 0.0
    np.fill_diagonal(scores, 0.0)
    matrix[1:, 0] = scores[:, n] - 1.0 - np.ptp(scores, 1).sum()
    matrix[1:, 1:] = scores[:, :n]
    np.fill_diagonal(matrix, 0.0)
    heads, _ = chu_liu_edmonds(matrix)
    return heads[1:]


class ScoredTree(NamedTuple):
    """A tree, and the scores of its arcs.

    heads: the head of each word, as in `DependencyTree`.
    relations: the relation of each word, as an id of `ActionTable.relations`.
    scores: for each word, the log-probability of its head plus that of its relation.
    """

    heads: Sequence[int]
    relations: Sequence[int]
    scores: Sequence[float]


class Derivations:
    """A converter of trees into their derivations, by the static oracle.

    A kernel finds the derivations of arc-hybrid with SWAP. Without the kernel, and for other systems, the pure-Python
    oracle finds them. The results are the same.
    """

    def __init__(self, table: ActionTable) -> None:
        assert isinstance(table.system, TreeSystem)
        self.table, self.system = table, table.system
        self.tokens = {action: token for token, action in enumerate(table.actions) if action is not None}
        arcs = [[self.tokens.get(Action(kind, relation), _NONE) for relation in table.relations] for kind in _ARCS]
        shifts = [self.tokens.get(Action(Kind.SHIFT, word or None), _NONE) for word in ("", *table.shift_words)]
        self._arcs, self._shifts = np.array(arcs), np.array(shifts)

    def from_tree(self, tree: ScoredTree, shift_ids: Sequence[int] | None = None) -> Hypothesis:
        """Return the derivation of a tree.

        The action that attaches a word has the score of the word. All other actions have score 0.

        shift_ids: the shift id of each word, see `ActionTable.features`, where SHIFT is labelled.
        """
        if self.system.name == ArcHybridSwap.name and len(tree.heads) and machine_kernels.library() is not None:
            return self._by_kernel(tree, shift_ids)
        return self.by_oracle(tree, shift_ids)

    def _by_kernel(self, tree: ScoredTree, shift_ids: Sequence[int] | None) -> Hypothesis:
        """Return the result of `from_tree` for arc-hybrid with SWAP."""
        n, heads = len(tree.heads), np.array(tree.heads, np.int64)
        kind, word = (x.numpy() for x in machine_kernels.derive_tree(torch.from_numpy(np.where(heads, heads - 1, n))))
        token_of = np.empty((4, n), np.int64)  # a row for each kind of step
        token_of[SHIFT] = self._shifts[0 if shift_ids is None else np.array(shift_ids[:n])]
        token_of[[LEFT_ARC, RIGHT_ARC]] = self._arcs[:, np.array(tree.relations)]
        token_of[SWAP] = self.tokens.get(_SWAP, _NONE)
        tokens = token_of[kind, word]
        if tokens.min() == _NONE:
            raise KeyError(f"an action of the tree is not among the {len(self.tokens)} actions of the vocabulary")
        attaches = (kind == LEFT_ARC) | (kind == RIGHT_ARC)
        scores = np.where(attaches, np.array(tree.scores)[word], 0.0).tolist()
        return Hypothesis(tokens.tolist(), scores, sum(scores) / (len(scores) + 1))

    def by_oracle(self, tree: ScoredTree, shift_ids: Sequence[int] | None = None) -> Hypothesis:
        """Return the result of `from_tree` by the pure-Python oracle."""
        tokens, scores = [], []
        # each word's number takes the place of its relation, so that an action says which word it attaches
        numbered = DependencyTree(tuple(tree.heads), tuple(map(str, range(len(tree.heads)))))
        for action in oracle(self.system, self._words(len(tree.heads), shift_ids), numbered):
            if action.kind in _ARCS:
                word = int(str(action.label))
                relation = self.table.relations[tree.relations[word]]
                tokens.append(self.tokens[Action(action.kind, relation)])
                scores.append(tree.scores[word])
            else:
                tokens.append(self.tokens[action])
                scores.append(0.0)
        return Hypothesis(tokens, scores, sum(scores) / (len(tokens) + 1))

    def _words(self, count: int, shift_ids: Sequence[int] | None) -> list[str]:
        """Return a string for each of `count` words: the word that labels its SHIFT, or "" for a plain SHIFT."""
        decorations = ["", *self.table.shift_words]
        return [""] * count if shift_ids is None else [decorations[shift] for shift in shift_ids[:count]]
