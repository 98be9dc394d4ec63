"""The best tree with a single root, given a score for every head of every word."""

from __future__ import annotations

import numpy as np


def best_tree(scores: np.ndarray) -> list[int]:
    """Return the heads of the highest-scoring tree with a single root.

    Heads are numbered as in `DependencyTree`: 0 is the root, words count from 1. The score of a tree is the sum of the
    scores of its arcs.

    Source: Chu and Liu 1965, Edmonds 1967, as ufal.chu_liu_edmonds has it. A penalty on the arcs from the root is
    larger than the gain of any other tree, so that the best tree has only one such arc.

    scores: (n, n + 1), finite; a row for each dependent and a column for each head, the root last. The score of a word
        as its own head is ignored.

    >>> best_tree(np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 3.0]]))  # both would hang from the root
    [0, 1]
    """
    from ufal.chu_liu_edmonds import chu_liu_edmonds  # imported late: only this function needs it

    n = len(scores)
    matrix = np.empty((n + 1, n + 1))
    matrix[0] = 0.0
    matrix[1:, 0] = scores[:, n] - 1.0 - np.ptp(scores, 1).sum()
    matrix[1:, 1:] = scores[:, :n]
    np.fill_diagonal(matrix, 0.0)
    heads, _ = chu_liu_edmonds(matrix)
    return heads[1:]
