"""Random trees and random legal walks, for property tests."""

import random
from collections.abc import Sequence

from hypothesis import strategies as st

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, State, TransitionSystem

RELATIONS = ("nsubj", "obj", "a b(c)%", "root")


@st.composite
def trees(
    draw,
    max_words: int = 12,
    projective: bool = False,
    roots: Sequence[str] = ("root",),
    others: Sequence[str] = RELATIONS[:-1],
    min_words: int = 1,
) -> DependencyTree:
    """A tree with one root, each shape possible. roots, others: the relations of arcs from the root, and of others."""
    n = draw(st.integers(min_words, max_words))
    rng = random.Random(draw(st.integers(0, 2**32)))
    heads = _projective_heads(n, rng) if projective else random_heads(n, rng)
    relations = tuple(rng.choice(others if head else roots) for head in heads)
    return DependencyTree(tuple(heads), relations)


def random_heads(n: int, rng: random.Random) -> list[int]:
    """Of any tree of n words."""
    order = list(range(1, n + 1))
    rng.shuffle(order)
    heads = [0] * n
    for i, word in enumerate(order[1:], 1):
        heads[word - 1] = rng.choice(order[:i])
    return heads


def _projective_heads(n: int, rng: random.Random) -> list[int]:
    heads = [0] * n

    def attach(words: range, head: int) -> None:
        """Splits a stretch of words into sub-trees that hang from `head`."""
        while words:
            size = len(words) if head == 0 else rng.randint(1, len(words))  # one root: one sub-tree
            part, words = words[:size], words[size:]
            top = rng.choice(part)
            heads[top - 1] = head
            attach(range(part.start, top), top)
            attach(range(top + 1, part.stop), top)

    attach(range(1, n + 1), 0)
    return heads


def legal_actions(system: TransitionSystem, state: State, actions: list[Action]) -> list[Action]:
    """The ones that are legal in `state`."""
    return [action for action in actions if system.why_illegal(state, action) is None]
