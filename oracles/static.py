"""Static oracles of the dependency systems: one gold tree, one action sequence.

Inside this file words are numbered 1..n and the root is n + 1, so that comparing numbers
compares positions in the sentence with the root at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, Kind, TransitionSystem

REDUCE = Action(Kind.REDUCE)
SWAP = Action(Kind.SWAP)
_NEVER = Action(Kind.SHIFT)  # of word 0, which there is not

Oracle = Callable[["_Gold"], Iterator[Action]]


class NonProjectiveError(ValueError):
    """The tree crosses arcs, and the system builds projective trees only."""


def oracle(system: TransitionSystem, words: Sequence[str], tree: DependencyTree) -> Iterator[Action]:
    """Yields the actions that build `tree` in `system`.

    Raises `NonProjectiveError` where `system` can't reach the tree. Its relations may be others than those that
    `system` knows, as development data have them: then actions that set them are not legal.

    >>> from transition_parser.transitions import make_system
    >>> tree = DependencyTree((2, 0), ("nsubj", "root"))
    >>> [str(a) for a in oracle(make_system("arc-hybrid"), ["She", "sleeps"], tree)]
    ['SHIFT', 'LEFT-ARC(nsubj)', 'SHIFT', 'LEFT-ARC(root)']
    """
    if system.projective_only and not tree.is_projective():
        raise NonProjectiveError(f"the tree crosses arcs, which {system.name} can't build")
    return ORACLES[system.name](_Gold(system, words, tree))


class _Gold:
    """What the oracles ask of a gold tree, in lists indexed by word number."""

    def __init__(self, system: TransitionSystem, words: Sequence[str], tree: DependencyTree) -> None:
        n = len(tree)
        self.n = n
        self.root = n + 1
        self.heads = [0, *(head or n + 1 for head in tree.heads), 0]
        self.left = [_NEVER, *map(_left_arc, tree.relations)]
        self.right = [_NEVER, *map(_right_arc, tree.relations)]
        self.shift = [_NEVER, *map(system.shift, words), Action(Kind.SHIFT)]
        self.last_child = [0] * (n + 2)
        self.children = [0] * (n + 2)
        for word in range(1, n + 1):
            self.last_child[self.heads[word]] = word
            self.children[self.heads[word]] += 1
        self.tree = tree

    def projective_rank(self) -> list[int]:
        """The place of each word, and of the root, in the projective order."""
        rank = [0] * (self.n + 2)
        for place, word in enumerate(self.tree.projective_order(), 1):
            rank[word] = place
        rank[self.root] = self.root
        return rank

    def projective_components(self) -> list[int]:
        """For each word the head of its maximal projective component, see `DependencyTree`."""
        return [0, *self.tree.projective_components(), self.root]


@lru_cache(maxsize=4096)
def _left_arc(relation: str) -> Action:
    return Action(Kind.LEFT_ARC, relation)


@lru_cache(maxsize=4096)
def _right_arc(relation: str) -> Action:
    return Action(Kind.RIGHT_ARC, relation)


def _arc_hybrid(gold: _Gold) -> Iterator[Action]:
    heads, last_child = gold.heads, gold.last_child
    stack: list[int] = []
    for front in range(1, gold.root + 1):
        while stack:
            top = stack[-1]
            if heads[top] == front:
                yield gold.left[top]
            elif len(stack) > 1 and heads[top] == stack[-2] and last_child[top] < front:
                yield gold.right[top]
            else:
                break
            stack.pop()
        if front <= gold.n:
            stack.append(front)
            yield gold.shift[front]


def _arc_standard(gold: _Gold) -> Iterator[Action]:
    heads, last_child = gold.heads, gold.last_child
    stack: list[int] = []
    for word in range(1, gold.root + 1):
        stack.append(word)
        yield gold.shift[word]
        while len(stack) > 1:
            second, top = stack[-2], stack[-1]
            if heads[second] == top:
                yield gold.left[second]
                del stack[-2]
            elif heads[top] == second and last_child[top] <= word:
                yield gold.right[top]
                stack.pop()
            else:
                break


def _arc_eager(gold: _Gold) -> Iterator[Action]:
    heads, last_child = gold.heads, gold.last_child
    stack: list[int] = []
    for front in range(1, gold.root + 1):
        while stack:
            top = stack[-1]
            if heads[top] == front:
                yield gold.left[top]
            elif heads[top] < top and heads[front] != top and last_child[top] < front:
                yield REDUCE
            else:
                break
            stack.pop()
        if front <= gold.n:
            yield gold.right[front] if stack and heads[front] == stack[-1] else gold.shift[front]
            stack.append(front)


def _arc_standard_swap(gold: _Gold) -> Iterator[Action]:
    """Lazy: a swap waits while the top of the stack is still to be joined with the front of the
    buffer in one projective component. Source: Nivre, Kuhlmann and Hall 2009, sec. 3."""
    heads, missing = gold.heads, gold.children.copy()
    rank, component = gold.projective_rank(), gold.projective_components()
    stack: list[int] = []
    buffer = list(range(gold.root, 0, -1))
    while buffer or len(stack) > 1:
        if len(stack) > 1:
            second, top = stack[-2:]
            if heads[second] == top and not missing[second]:
                yield gold.left[second]
                del stack[-2]
                missing[top] -= 1
                continue
            if heads[top] == second and not missing[top]:
                yield gold.right[top]
                stack.pop()
                missing[second] -= 1
                continue
            if rank[second] > rank[top] and component[top] != component[buffer[-1]]:
                yield SWAP
                del stack[-2]
                buffer.append(second)
                continue
        word = buffer.pop()
        stack.append(word)
        yield gold.shift[word]


def _arc_hybrid_swap(gold: _Gold) -> Iterator[Action]:
    """Lazy: a swap waits while the front of the buffer is still to become the left dependent
    of a word of its own projective component, because that takes it out of the way."""
    heads, missing = gold.heads, gold.children.copy()
    rank, component = gold.projective_rank(), gold.projective_components()
    stack: list[int] = []
    buffer = list(range(gold.root, 0, -1))
    while len(buffer) > 1 or stack:
        front = buffer[-1]
        if stack:
            top = stack[-1]
            if heads[top] == front and not missing[top]:
                yield gold.left[top]
                stack.pop()
                missing[front] -= 1
                continue
            if len(stack) > 1 and heads[top] == stack[-2] and not missing[top]:
                yield gold.right[top]
                stack.pop()
                missing[stack[-1]] -= 1
                continue
            leaves = heads[front] > front and component[heads[front]] == component[front]
            if rank[top] > rank[front] and not leaves:
                yield SWAP
                stack.pop()
                buffer.insert(-1, top)
                continue
        stack.append(buffer.pop())
        yield gold.shift[front]


ORACLES: dict[str, Oracle] = {
    "arc-hybrid": _arc_hybrid,
    "arc-standard": _arc_standard,
    "arc-eager": _arc_eager,
    "arc-standard-swap": _arc_standard_swap,
    "arc-hybrid-swap": _arc_hybrid_swap,
}
