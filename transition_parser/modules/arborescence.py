"""The best tree with one root over scores of heads."""

from __future__ import annotations

import numpy as np


def best_tree(scores: np.ndarray) -> list[int]:
    """The heads of the best tree with one root, as `DependencyTree` numbers them: 0 is the root, words count from 1.

    Source: Chu and Liu 1965, Edmonds 1967, as ufal.chu_liu_edmonds has it. A penalty on the arcs from the root, larger
    than what any other tree could gain, leaves one of them.

    scores: (n, n + 1), finite: how good each word, and the root as the last one, is as the head of each word; those of
    a word for itself do not count. The score of a tree is their sum.

    >>> best_tree(np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 3.0]]))  # both would hang from the root
    [0, 1]
    """
    from ufal.chu_liu_edmonds import chu_liu_edmonds  # not before a tree is looked for

    n = len(scores)
    matrix = np.empty((n + 1, n + 1))
    matrix[0] = 0.0
    matrix[1:, 0] = scores[:, n] - 1.0 - np.ptp(scores, 1).sum()
    matrix[1:, 1:] = scores[:, :n]
    np.fill_diagonal(matrix, 0.0)
    heads, _ = chu_liu_edmonds(matrix)
    return heads[1:]
