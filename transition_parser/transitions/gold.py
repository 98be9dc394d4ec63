"""Gold trees in the form that oracles need, and configurations without their arcs.

Words are numbered as in `State`: from 0, with the root behind the last word.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions.action import Action, Kind


class GoldTree:
    """A gold tree, as lists indexed by the numbers of words and of the root.

    heads: the head of each word, −1 for the root
    last_child: the last dependent, −1 for none
    children: the number of dependents
    left, right: the LEFT-ARC and the RIGHT-ARC to each word
    shift: the SHIFT of each word and of the root, see `TransitionSystem.shift`; only if words are given
    """

    def __init__(
        self,
        tree: DependencyTree,
        words: Sequence[str] = (),
        shift: Callable[[str], Action] = lambda _: Action(Kind.SHIFT),
    ) -> None:
        self.tree = tree
        self.root = n = len(tree)
        self.heads = [*(head - 1 if head else n for head in tree.heads), -1]
        self.left = [_action(Kind.LEFT_ARC, relation) for relation in tree.relations]
        self.right = [_action(Kind.RIGHT_ARC, relation) for relation in tree.relations]
        self.shift = [*map(shift, words), Action(Kind.SHIFT)]
        self.last_child = [-1] * (n + 1)
        self.children = [0] * (n + 1)
        for word, head in enumerate(self.heads[:-1]):
            self.last_child[head] = word
            self.children[head] += 1

    @cached_property
    def rank(self) -> list[int]:
        """The rank in the projective order."""
        rank = [self.root] * (self.root + 1)
        for place, word in enumerate(self.tree.projective_order()):
            rank[word - 1] = place
        return rank

    @cached_property
    def component(self) -> list[int]:
        """The head of the maximal projective component (`DependencyTree.projective_components`)."""
        return [*(top - 1 for top in self.tree.projective_components()), self.root]

    @cached_property
    def projective(self) -> bool:
        """True where `rank` is the order of the sentence."""
        return all(a < b for a, b in pairwise(self.rank))


@lru_cache(maxsize=4096)
def _action(kind: Kind, relation: str) -> Action:
    return Action(kind, relation)


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
    gold: GoldTree

    @property
    def heads(self) -> Sequence[int]:
        return self.gold.heads

    @property
    def root(self) -> int:
        return self.gold.root


def lost_in_buffer(c: Items) -> int:
    """Count the words of the buffer whose gold heads were popped."""
    there = {*c.stack, *c.buffer, c.root}
    return sum(c.heads[word] not in there for word in c.buffer)
