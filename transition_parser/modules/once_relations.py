"""Relations that a head has at most once, such as its subject: those of all its dependents are chosen together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np


class OnceRelations:
    """A chooser of relations of which a head has at most one of each group.

    relations: the names of the relations, by id
    groups: disjoint groups of relations, see `TreeSystem.once`; names that are not in `relations` do not count
    """

    def __init__(self, relations: Sequence[str], groups: Collection[Collection[str]]) -> None:
        group_of = {name: number for number, group in enumerate(groups, 1) for name in group}
        self._group_of = np.array([group_of.get(name, 0) for name in relations], np.int64)  # 0: in no group
        self._groups = [np.flatnonzero(self._group_of == number) for number in range(1, len(groups) + 1)]

    def choose(self, heads: np.ndarray, best: np.ndarray, scores: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the relations (N,) of the largest sum of scores with at most one of each group for each head.

        A dependent that may carry no relation outside the groups has its best one, whatever the others have.

        heads: (N,) int; dependents of one head have the same number
        best: (N,) int; the best relation of each dependent
        scores: a function that returns the scores (D, relations) of D of the N dependents, given their indices; −inf
            for relations that a dependent may not have
        """
        groups = self._group_of[best]
        places = np.sort((heads * (len(self._groups) + 1) + groups)[groups > 0])
        repeated = places[1:][places[1:] == places[:-1]] // (len(self._groups) + 1)
        chosen = best.copy() if len(repeated) else best
        for head in np.unique(repeated):
            own = np.flatnonzero(heads == head)
            chosen[own] = self._assigned(scores(own), best[own])
        return chosen

    def _assigned(self, scores: np.ndarray, best: np.ndarray) -> np.ndarray:
        """Return the relations (D,) of the dependents of one head by their scores (D, relations)."""
        outside = np.where(self._group_of == 0, scores, -np.inf)
        chosen, base = outside.argmax(1), outside.max(1)
        bound = np.isneginf(base)
        chosen[bound], base[bound] = best[bound], np.inf  # no group is better than infinity
        gains = [np.maximum(scores[:, group].max(1, initial=-np.inf) - base, 0.0) for group in self._groups]
        wanted = [number for number, gain in enumerate(gains) if gain.any()]
        matching = best_matching(np.array([gains[number] for number in wanted]).reshape(-1, len(scores)))
        for number, dependent in zip(wanted, matching, strict=True):
            if dependent is not None:
                group = self._groups[number]
                chosen[dependent] = group[scores[dependent, group].argmax()]
        return chosen


def best_matching(gains: np.ndarray) -> list[int | None]:
    """Return the column of each row, another one for each, that together have the largest gain; None for no gain.

    Each row in turn gets a column by the cheapest path on which others change theirs. Source: Kuhn 1955 (the Hungarian
    method), with the prices of columns and rows as in Jonker and Volgenant 1987.

    gains: (rows, columns) float, 0 or more

    >>> best_matching(np.array([[5.0, 4.0], [5.0, 0.0], [0.0, 0.0]]))
    [1, 0, None]
    """
    rows, columns = gains.shape
    size = columns + rows  # a row that gains nothing gets a column of its own; after these, the start of a path
    costs = np.hstack([-gains, np.zeros((rows, rows))])
    row_of, of_rows, of_columns = np.full(size + 1, -1), np.zeros(rows), np.zeros(size + 1)
    for start in range(rows):
        column, row_of[size] = size, start
        on_path, least, before = np.zeros(size + 1, bool), np.full(size, np.inf), np.full(size, size)
        while row_of[column] >= 0:
            on_path[column], row = True, row_of[column]
            reduced = costs[row] - of_rows[row] - of_columns[:size]
            shorter = ~on_path[:size] & (reduced < least)
            least[shorter], before[shorter] = reduced[shorter], column
            column = int(np.where(on_path[:size], np.inf, least).argmin())
            step = least[column]
            of_rows[row_of[on_path]] += step
            of_columns[on_path] -= step
            least -= step
        while column != size:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    found: list[int | None] = [None] * rows
    for column, row in enumerate(row_of[:columns].tolist()):
        if row >= 0 and gains[row, column] > 0:
            found[row] = column
    return found
