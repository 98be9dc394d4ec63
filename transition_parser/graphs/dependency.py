"""Dependency trees over the words of one sentence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """A labelled tree over the words 1..n, as CoNLL-U counts them.

    heads: for each word the number of its head, 0 for the root
    relations: for each word the label of the arc that enters it

    >>> tree = DependencyTree((2, 0, 2), ("nsubj", "root", "obj"))
    >>> tree.root
    2
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
        """Return a word that is its own ancestor, 0 if there is none."""
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
    """Return three counts of words for trees over the same words.

    The counts are: all words; words with the right head; words with the right head and full label.
    """
    words = heads = labelled = 0
    for a, b in zip(gold, system, strict=True):
        words += len(a)
        same = [x == y for x, y in zip(a.heads, b.heads, strict=True)]
        heads += sum(same)
        labelled += sum(s and x == y for s, x, y in zip(same, a.relations, b.relations, strict=True))
    return words, heads, labelled
