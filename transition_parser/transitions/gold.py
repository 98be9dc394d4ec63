"""Gold trees in the form that oracles need, and configurations without their arcs.

`GoldTree` serves the static oracles. It numbers words 1..n and the root n + 1, so that comparing numbers compares
positions in the sentence with the root at its end. `GoldOrder` and `Items` serve the dynamic oracle. They number
words as `State` does: from 0, with the root behind the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions.action import Action, Kind

_NEVER = Action(Kind.SHIFT)  # fills the lists at index 0, because words are numbered from 1


class GoldTree:
    """A gold tree, as lists indexed by word number.

    heads: the head of each word
    left, right: the LEFT-ARC and the RIGHT-ARC to each word
    shift: the SHIFT of each word, see `TransitionSystem.shift`
    last_child: the last dependent of each word and of the root, 0 for none
    children: the number of dependents of each word and of the root
    """

    def __init__(self, tree: DependencyTree, words: Sequence[str], shift: Callable[[str], Action]) -> None:
        n = len(tree)
        self.n = n
        self.root = n + 1
        self.heads = [0, *(head or n + 1 for head in tree.heads), 0]
        self.left = [_NEVER, *map(_left_arc, tree.relations)]
        self.right = [_NEVER, *map(_right_arc, tree.relations)]
        self.shift = [_NEVER, *map(shift, words), Action(Kind.SHIFT)]
        self.last_child = [0] * (n + 2)
        self.children = [0] * (n + 2)
        for word in range(1, n + 1):
            self.last_child[self.heads[word]] = word
            self.children[self.heads[word]] += 1
        self.tree = tree

    def projective_rank(self) -> list[int]:
        """Return the rank of each word, and of the root, in the projective order."""
        rank = [0] * (self.n + 2)
        for place, word in enumerate(self.tree.projective_order(), 1):
            rank[word] = place
        rank[self.root] = self.root
        return rank

    def projective_components(self) -> list[int]:
        """Return for each word the head of its maximal projective component, as in `DependencyTree`."""
        return [0, *self.tree.projective_components(), self.root]


@lru_cache(maxsize=4096)
def _left_arc(relation: str) -> Action:
    return Action(Kind.LEFT_ARC, relation)


@lru_cache(maxsize=4096)
def _right_arc(relation: str) -> Action:
    return Action(Kind.RIGHT_ARC, relation)


class GoldOrder(NamedTuple):
    """A gold tree in the form in which the dynamic oracle needs it.

    heads: the head of each word, numbered as in `State`
    rank: the rank of each word, and of the root, in the order in which the tree is projective
    component: for each word, and the root, the head of its projective component (`projective_components`)
    projective: True where `rank` is the order of the sentence
    """

    heads: Sequence[int]
    rank: Sequence[int]
    component: Sequence[int]
    projective: bool

    @classmethod
    @lru_cache(maxsize=1024)
    def from_tree(cls, tree: DependencyTree) -> GoldOrder:
        """Return the `GoldOrder` of a tree.

        The latest results are cached, because each step of a derivation asks for the same tree again.
        """
        n = len(tree)
        rank = [n] * (n + 1)
        for place, word in enumerate(tree.projective_order()):
            rank[word - 1] = place
        heads = [head - 1 if head else n for head in tree.heads]
        component = [*(top - 1 for top in tree.projective_components()), n]
        return cls(heads, rank, component, all(a < b for a, b in pairwise(rank)))


class Items(NamedTuple):
    """A configuration without its arcs.

    stack: words, bottom first
    headless: the words of the stack that have no head, bottom first
    buffer: words, without the root
    gold: the tree to be built
    """

    stack: Sequence[int]
    headless: Sequence[int]
    buffer: Collection[int]
    gold: GoldOrder

    @property
    def heads(self) -> Sequence[int]:
        return self.gold.heads

    @property
    def root(self) -> int:
        return len(self.gold.heads)


def lost_in_buffer(c: Items) -> int:
    """Count the words of the buffer whose gold heads were popped."""
    there = {*c.stack, *c.buffer, c.root}
    return sum(c.heads[word] not in there for word in c.buffer)
