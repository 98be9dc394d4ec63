"""The best tree of a sentence, from the scores of all arcs, in time that grows with the square of the words."""

from __future__ import annotations

import numpy as np

from transition_parser.graphs.dependency import DependencyTree

_NONE = -1  # the parent of a component that is in no other


def best_tree(scores: np.ndarray) -> list[int]:
    """Return the heads (0: the root) of the tree of the largest sum of scores among the trees with a single root.

    scores: (n, n + 1); a row for each dependent, a column for each head, the root last. An arc with −inf is only in a
        tree where every tree has such arcs. The diagonal does not count.

    >>> best_tree(np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 3.0]]))  # both would hang from the root
    [0, 1]
    """
    n = len(scores)
    if n < 2:
        return [0] * n
    scores = np.array(scores, float)
    np.fill_diagonal(scores, -np.inf)
    best = [int(column) + 1 if column < n else 0 for column in scores.argmax(1)]
    if DependencyTree(tuple(best), ("_",) * n).why_invalid() is None:
        return best
    lowest = np.isneginf(scores)
    if lowest.sum() > n:
        low, high = np.min(scores, where=~lowest, initial=0.0), np.max(scores, where=~lowest, initial=0.0)
        scores[lowest] = low - 1.0 - n * (high - low)  # no difference between two trees makes up for it
        np.fill_diagonal(scores, -np.inf)
    return _Contraction(scores).heads()


class _Contraction:
    """Words that are contracted, cycle by cycle, into one component, which then gets the one arc from the root.

    A component has the row of one of its words: for each head the best arc into the component, less what the arc
    replaces in the cycle. Each row is searched once, and each cycle takes as many rows as it has components, of which
    one is left: time grows with n², though cycles lie in cycles. Source: Tarjan 1977 (Finding Optimum Branchings), as a
    growing path (Gabow et al. 1986); the root is left to the end, as Zmigrod et al. 2020 (Please Mind the Root).

    rows: (n, n + 1) float, finite outside the diagonal, overwritten
    """

    def __init__(self, rows: np.ndarray) -> None:
        n = len(rows)
        self.rows, self.count = rows, n
        self.dependent = np.repeat(np.arange(n, dtype=np.int32)[:, None], n + 1, 1)  # the word that an arc attaches
        self.row_of = np.arange(n)  # of the component of each word
        self.component = [*range(n)]  # the number of the component in each row; words come first
        self.parent = [_NONE] * n  # for each component the component that it was contracted into
        self.parts: list[list[int]] = [[]] * n  # for each component its components, none for words
        self.arc = [(_NONE, _NONE)] * n  # for each component the dependent and the head of its best arc

    def heads(self) -> list[int]:
        path, place = [0], {0: 0}  # rows, each with its best head in the next one, and where they are
        while True:
            row = path[-1]
            head = int(self.rows[row, : self.count].argmax())
            self.arc[self.component[row]] = int(self.dependent[row, head]), head
            following = int(self.row_of[head])
            if following not in place:
                place[following] = len(path)
                path.append(following)
                continue
            cycle = path[place[following] :]
            del path[place[following] + 1 :]
            for one in cycle[1:]:
                del place[one]
            if self._contract(cycle):
                return self._expanded(following)

    def _contract(self, cycle: list[int]) -> bool:
        """Contract the components in these rows into the first row. Return True if all words are in it."""
        row, new = cycle[0], len(self.parent)
        self.parts.append([self.component[one] for one in cycle])
        for part in self.parts[new]:
            self.parent[part] = new
        self.parent.append(_NONE)
        self.arc.append((_NONE, _NONE))
        self.component[row] = new
        arcs, dependent = self.rows[row], self.dependent[row]
        arcs -= arcs[: self.count].max()
        for one in cycle[1:]:
            others = self.rows[one]
            others -= others[: self.count].max()
            better = others > arcs
            np.copyto(arcs, others, where=better)
            np.copyto(dependent, self.dependent[one], where=better)
        is_merged = np.zeros(self.count, bool)
        is_merged[cycle] = True
        inside = is_merged[self.row_of]
        self.row_of[inside] = row
        arcs[: self.count][inside] = -np.inf
        return bool(inside.all())

    def _expanded(self, row: int) -> list[int]:
        """Return the heads: an arc into a component, first the arc from the root, breaks the cycle that it was."""
        self.arc[-1] = int(self.dependent[row, self.count]), self.count
        heads, whole = [_NONE] * self.count, [len(self.arc) - 1]
        while whole:
            component = whole.pop()
            part, head = self.arc[component]
            heads[part] = head + 1 if head < self.count else 0
            while part != component:
                parent = self.parent[part]
                whole += [other for other in self.parts[parent] if other != part]
                part = parent
        return heads
