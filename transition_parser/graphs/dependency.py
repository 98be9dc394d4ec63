"""Dependency trees over the words of one sentence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """A labeled tree over the words 1..n, as CoNLL-U counts them.

    heads: for each word the number of its head, 0 for the root
    relations: for each word the label of the arc that enters it
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def root(self) -> int:
        """The number of the word whose head is 0."""
        return self.heads.index(0) + 1

    def why_invalid(self) -> tuple[int, str] | None:
        """Return None for a well-formed tree, else (word number, problem)."""
        n = len(self.heads)
        for word, head in enumerate(self.heads, 1):
            if not 0 <= head <= n:
                return word, f"word {word} has head {head}, but the sentence has {n} words"
        roots = [word for word, head in enumerate(self.heads, 1) if head == 0]
        if len(roots) > 1:
            return roots[1], f"words {roots[0]} and {roots[1]} both have head 0: one root is allowed"
        on_cycle = self._word_on_cycle()
        if on_cycle:
            return on_cycle, f"word {on_cycle} is its own ancestor: the heads form a cycle"
        return None if roots else (1, "no word has head 0: the tree has no root")

    def _word_on_cycle(self) -> int:
        seen = [0] * (len(self.heads) + 1)  # the start of the walk on which a word was first met
        for start in range(1, len(self.heads) + 1):
            word = start
            while word and not seen[word]:
                seen[word] = start
                word = self.heads[word - 1]
            if word and seen[word] == start:
                return word
        return 0

    def children(self) -> list[list[int]]:
        """Return for the root (0) and each of the words 1..n its dependents in word order."""
        dependents: list[list[int]] = [[] for _ in range(len(self.heads) + 1)]
        for word, head in enumerate(self.heads, 1):
            dependents[head].append(word)
        return dependents

    def projective_order(self) -> list[int]:
        """Return the words in the order in which the tree is projective.

        This is the order of an in-order walk through the tree. Each dependent stays on the side of its head (left or
        right) on which it is in the sentence.

        Source: Nivre 2009, sec. 3 (the projective order <_G).
        """
        children = self.children()
        order: list[int] = []
        work = children[0][::-1]  # −w stands for the word w whose left dependents are in `order`
        while work:
            word = work.pop()
            dependents = children[word] if word > 0 else ()
            if not dependents:
                order.append(abs(word))
                continue
            work += dependents[bisect_right(dependents, word) :][::-1]
            work.append(-word)
            work += dependents[: bisect_left(dependents, word)][::-1]
        return order

    def projective_components(self) -> list[int]:
        """Return for each word the head of its maximal projective component.

        This component is the largest part of the tree around the word that arc-standard can build without SWAP.

        Source: Nivre, Kuhlmann and Hall 2009, sec. 3.
        """
        top = list(range(len(self.heads) + 1))
        missing = [0] * (len(self.heads) + 1)
        for head in self.heads:
            missing[head] += 1
        stack: list[int] = []
        joined: list[int] = []
        for word in range(1, len(self.heads) + 1):
            stack.append(word)
            while len(stack) > 1:
                second, first = stack[-2:]
                if self.heads[second - 1] == first and not missing[second]:
                    del stack[-2]
                    top[second] = first
                    missing[first] -= 1
                    joined.append(second)
                elif self.heads[first - 1] == second and not missing[first]:
                    stack.pop()
                    top[first] = second
                    missing[second] -= 1
                    joined.append(first)
                else:
                    break
        for word in reversed(joined):  # a head is joined later than its dependents
            top[word] = top[top[word]]
        return top[1:]

    def is_projective(self) -> bool:
        """Return True if no arc crosses another. Node 0, the head of the root word, stands before the first word."""
        order = self.projective_order()
        return all(a < b for a, b in pairwise(order))


def attachment_scores(gold: Sequence[DependencyTree], system: Sequence[DependencyTree]) -> tuple[int, int, int]:
    """Return the numbers of words, of words with the right head, and of those with the right label, too."""
    words = heads = labeled = 0
    for a, b in zip(gold, system, strict=True):
        words += len(a)
        same = [x == y for x, y in zip(a.heads, b.heads, strict=True)]
        heads += sum(same)
        labeled += sum(s and x == y for s, x, y in zip(same, a.relations, b.relations, strict=True))
    return words, heads, labeled


_LEFT, _RIGHT, _UP, _DOWN = 1, 2, 4, 8
# the sides of a character cell that its line reaches → the character that draws this line
_LINES = {
    0: " ",
    _LEFT | _RIGHT: "─",
    _UP | _DOWN: "│",
    _LEFT | _DOWN: "┐",
    _LEFT | _UP: "┘",
    _LEFT | _RIGHT | _DOWN: "┬",
    _LEFT | _RIGHT | _UP: "┴",
    _LEFT | _UP | _DOWN: "┤",
    _LEFT | _RIGHT | _UP | _DOWN: "┼",
}
_ARROW = "◄"
MOST_DRAWN = 500  # words; longer sentences get no drawn arcs, only the numbers of heads


def tree_text(words: Sequence[str], tree: DependencyTree, *columns: Sequence[str]) -> str:
    """Return one line for each word: its number, form, `columns`, arcs, relation and head.

    An arrow points to the dependent. Sentences of more than `MOST_DRAWN` words have no arcs.

    >>> print(tree_text(["She", "sells", "shells"], DependencyTree((2, 0, 2), ("nsubj", "root", "obj"))))
    1  She     ◄┐    nsubj  2
    2  sells   ─┴─┐  root   0
    3  shells  ──◄┘  obj    2
    """
    numbers = [str(number) for number in range(1, len(tree) + 1)]
    width = len(numbers[-1])
    arcs = [_drawn_arcs(tree)] if len(tree) <= MOST_DRAWN else []
    heads = [f"{head:>{width}}" for head in tree.heads]
    numbers = [number.rjust(width) for number in numbers]
    padded = []
    for cells in (numbers, words, *columns, *arcs, tree.relations, heads):
        longest = max(map(len, cells))
        padded.append([cell.ljust(longest) for cell in cells])
    return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))


def _drawn_arcs(tree: DependencyTree) -> list[str]:
    places = {word: 2 * level - 1 for word, level in arc_levels(tree).items()}  # odd: an arrow fits in between
    cells = [[0] * (max(places.values(), default=0) + 1) for _ in tree.heads]
    for word, place in places.items():
        first, last = sorted((word, tree.heads[word - 1]))
        for row, turn in ((first, _DOWN), (last, _UP)):
            for column in range(place):
                cells[row - 1][column] |= _LEFT | _RIGHT
            cells[row - 1][place] |= _LEFT | turn
        for row in range(first + 1, last):
            cells[row - 1][place] |= _UP | _DOWN
    rows = [[_LINES[cell] for cell in row] for row in cells]
    for word, place in places.items():
        rows[word - 1][place - 1] = _ARROW
    return ["".join(row) for row in rows]


def arc_levels(tree: DependencyTree) -> dict[int, int]:
    """Return word → level of the arc into it, from 1, above inner arcs; arcs that touch or cross differ."""
    levels: dict[int, int] = {}
    spans: dict[int, tuple[int, int]] = {}
    arcs = [(*sorted((word, head)), word) for word, head in enumerate(tree.heads, 1) if head]
    for first, last, word in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc[0])):
        inside, beside = 0, set()
        for other, (start, end) in spans.items():
            if first <= start and end <= last:
                inside = max(inside, levels[other])
            elif start <= last and first <= end:
                beside.add(levels[other])
        levels[word] = next(level for level in range(inside + 1, len(tree) + 1) if level not in beside)
        spans[word] = (first, last)
    return levels
