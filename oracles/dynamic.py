"""Dynamic oracles of the dependency systems: what each legal action costs, in any configuration.

The cost of an action is the number of gold arcs that could be built before it and no longer can be after it. That trees
have one root is seen to by what is legal (see `TreeSystem`), so the formulas of the papers, for machines without such a
rule, are wrong in some configurations. Those here are exact in every configuration that legal actions reach, for every
projective tree; with SWAP they are not (see `_costs_with_swap`).

Words are numbered as in `State`: from 0, and the root is behind the last one.

Source: Goldberg and Nivre 2013 (arc-eager, arc-hybrid); Goldberg, Sartorio and Satta 2014 (arc-standard); de Lhoneux,
Stymne and Nivre 2017 (SWAP).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from oracles.static import NonProjectiveError
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, Kind, State, TransitionSystem, TreeSystem
from transition_parser.transitions.tree_system import NO_HEAD

_ARCS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)


def costs(system: TransitionSystem, state: State, gold: DependencyTree) -> dict[Kind, int]:
    """For each legal kind of action, whatever its relation, how many gold arcs can no longer be built after it.

    One kind costs 0, and the gold tree is built by any derivation of such actions. With SWAP this holds for
    configurations of such derivations alone; in others the best kind may cost more. A cost above the number of words
    is that of an action that must not be explored: one legal kind costs less.

    Raises `NonProjectiveError` where `system` can't build the tree, `ValueError` for a system that has no costs, and
    for a tree of other words.

    >>> from transition_parser.transitions import make_system
    >>> system, gold = make_system("arc-hybrid"), DependencyTree((2, 0), ("nsubj", "root"))
    >>> state = system.apply(system.initial(["She", "sleeps"]), Action(Kind.SHIFT))
    >>> {kind.name: cost for kind, cost in costs(system, state, gold).items()}
    {'SHIFT': 2, 'LEFT_ARC': 0}
    """
    if not isinstance(system, TreeSystem) or system.name not in LOSSES:
        raise ValueError(f"{system.name} has no costs: there is a dynamic oracle for {', '.join(LOSSES)}")
    if len(gold) != len(state.words):
        raise ValueError(f"the tree has {len(gold)} words, and the configuration {len(state.words)}")
    known = _Gold.of(gold)
    if system.projective_only and not known.projective:
        raise NonProjectiveError(f"the tree crosses arcs, which {system.name} can't build")
    before = _loss(system, state, known)
    found = {kind: _loss(system, after, known) - before for kind, after in _successors(system, state).items()}
    return found if system.projective_only else _costs_with_swap(system, state, known, found)


class _Gold(NamedTuple):
    """What costs depend on. heads: as in `State`. rank: where the words, and the root, are in the order in which the
    tree is projective. component: see `DependencyTree.projective_components`; that of the root, too."""

    heads: Sequence[int]
    rank: Sequence[int]
    component: Sequence[int]
    projective: bool

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, tree: DependencyTree) -> _Gold:
        """That of a tree; remembered, because it is asked for at each step of a derivation."""
        n = len(tree)
        rank = [n] * (n + 1)
        for place, word in enumerate(tree.projective_order()):
            rank[word - 1] = place
        heads = [head - 1 if head else n for head in tree.heads]
        component = [*(top - 1 for top in tree.projective_components()), n]
        return cls(heads, rank, component, all(a < b for a, b in pairwise(rank)))


def _successors(system: TreeSystem, state: State) -> dict[Kind, State]:
    """The configurations after the legal actions, one of each kind."""
    if system.is_final(state):
        return {}
    plain = "".join(system.roots.labels) + "x"  # no arc from the root carries it
    shift = system.shift(state.words[state.buffer[0]]).label if state.buffer and state.buffer[0] < state.root else None
    after = {}
    for kind in system.kinds:
        labels = [plain, *system.roots.labels] if kind in _ARCS else [shift if kind is Kind.SHIFT else None]
        legal = (a for a in (Action(kind, label) for label in labels) if system.why_illegal(state, a) is None)
        action = next(legal, None)
        if action is not None:
            after[kind] = system.apply(state, action)
    return after


# --- how many gold arcs are lost ------------------------------------------------------------


class _Items(NamedTuple):
    """A configuration without its arcs. stack: bottom first. headless: the words of the stack that have no head, bottom
    first. buffer: without the root. gold: the tree to be built."""

    stack: Sequence[int]
    headless: Sequence[int]
    buffer: Collection[int]
    gold: _Gold

    @property
    def heads(self) -> Sequence[int]:
        return self.gold.heads

    @property
    def root(self) -> int:
        return len(self.gold.heads)


def _loss(system: TreeSystem, state: State, gold: _Gold) -> int:
    """How many gold arcs are in no tree that can still be built."""
    wrong = sum(head not in (NO_HEAD, right) for head, right in zip(state.heads, gold.heads, strict=True))
    stack: Sequence[int] = state.stack
    buffer = {word for word in state.buffer if word != state.root}
    if not system.projective_only:
        stack, buffer = _swapped(state, gold, on_stack=system.name == "arc-standard-swap")
    headless = [word for word in stack if word != state.root and state.heads[word] == NO_HEAD]
    return wrong + LOSSES[system.name](_Items(stack, headless, buffer, gold))


def _arc_hybrid(c: _Items) -> int:
    """Each arc by itself, as if the root were below the stack: a word of the stack can become a dependent of words in
    the buffer and of what is directly below it."""
    below = dict(zip(c.stack, (c.root, *c.stack)))
    lost = sum(c.heads[word] != below[word] and c.heads[word] not in c.buffer for word in c.stack)
    return lost + _lost_in_buffer(c)


def _lost_in_buffer(c: _Items) -> int:
    """Words in the buffer can become dependents of all words but those that were popped."""
    there = {*c.stack, *c.buffer, c.root}
    return sum(c.heads[word] not in there for word in c.buffer)


def _arc_eager(c: _Items) -> int:
    """Each arc by itself: a word of the stack can become a dependent of words in the buffer, the lowest one without a
    head of the root, too. And one arc more where the last word is in the buffer and depends, itself or through words of
    the buffer, on a word of the stack that is not below the second word without a head.

    For when the buffer runs out, one word alone may be without a head. All others on the stack without one, but for the
    lowest, have to become dependents of words of the buffer, if need be of wrong ones. A word that they can depend on
    without loss is the first one that has an arc with a lower word of the stack, or else the one behind all those that
    depend on words above. There is none where what depends on words above reaches to the last word.
    """
    lost = sum(c.heads[w] not in c.buffer and (c.heads[w] != c.root or w != c.headless[0]) for w in c.headless)
    last = c.root - 1
    while last in c.buffer:
        last = c.heads[last]
    several_headless = c.root - 1 in c.buffer and len(c.headless) > 1
    return lost + _lost_in_buffer(c) + (several_headless and last in c.stack and last >= c.headless[1])


def _arc_standard(c: _Items) -> int:
    """The arcs of words whose heads were popped, and those that the best continuation has to do without.

    Whatever is above a word of the stack becomes one sub-tree before that word gets any arc. So the words of the stack
    join a tree one by one, the top first, and words of the buffer do in between; each becomes a dependent of the root
    that the tree has then, or its head. Words of the buffer without gold arcs to the stack never stand in the way:
    they are left out, and what hangs from the stack through them hangs from it directly.

    Source: Goldberg, Sartorio and Satta 2014, sec. 4: a table of how far the tree reaches into the stack and into the
    buffer, and of the roots that it may have. It is made anew in each configuration: without the words that are left
    out it is small. Nederhof 2019 (From cubic to linear time) needs no table, which would pay for long stacks alone.
    """
    there = {*c.stack, *c.buffer, c.root}
    lost = sum(c.heads[word] not in there for word in there if word != c.root)
    if len(c.stack) < 2 or c.root in c.stack:
        return lost
    joined = {c.heads[w] for w in c.stack if c.heads[w] in c.buffer} | {w for w in c.buffer if c.heads[w] in c.stack}
    left_out = set(c.buffer) - joined
    heads = {}
    for word in (*c.stack, *joined):
        heads[word] = c.heads[word]
        while heads[word] in left_out:
            heads[word] = c.heads[heads[word]]
    arcs = sum(head in heads or head == c.root for head in heads.values())
    return lost + arcs - _most_arcs(c.stack[::-1], sorted(joined, key=c.gold.rank.__getitem__), heads, c.root)


def _most_arcs(stack: Sequence[int], buffer: Sequence[int], heads: Mapping[int, int], root: int) -> int:
    """How many of the arcs in `heads` a tree over the stack (top first) and the buffer can have."""
    column = [{stack[0]: 0}]  # for trees of more and more words of the buffer: root of the tree → most arcs
    for word in buffer:
        column.append(_join(column[-1], word, heads))
    for word in stack[1:]:
        above, column = column, [_join(column[0], word, heads)]
        for trees, next_word in zip(above[1:], buffer, strict=True):
            ways = _join(trees, word, heads), _join(column[-1], next_word, heads)
            column.append({top: max(way.get(top, 0) for way in ways) for top in ways[0] | ways[1]})
    return max(arcs + (heads[top] == root) for top, arcs in column[-1].items())


def _join(trees: Mapping[int, int], word: int, heads: Mapping[int, int]) -> dict[int, int]:
    """`trees`, as in `_most_arcs`, with one word more: a dependent of their root, or its head."""
    longer = {top: arcs + (heads[word] == top) for top, arcs in trees.items()}
    longer[word] = max(arcs + (heads[top] == word) for top, arcs in trees.items())
    return longer


LOSSES: dict[str, Callable[[_Items], int]] = {
    "arc-standard": _arc_standard,
    "arc-hybrid": _arc_hybrid,
    "arc-eager": _arc_eager,
    "arc-standard-swap": _arc_standard,
    "arc-hybrid-swap": _arc_hybrid,
}


# --- SWAP -----------------------------------------------------------------------------------


def _swapped(state: State, gold: _Gold, on_stack: bool) -> tuple[list[int], set[int]]:
    """The stack, and the buffer without the root, as they would be had all swaps been made that are to come.

    A word of the stack that follows another one in projective order, which is above it or in the buffer, goes back to
    the buffer. on_stack: arcs join words of the stack, so that to move the top one the first word of the buffer, in
    projective order, has to come first.
    """
    buffer = set(state.buffer) - {state.root}
    ahead = first = min(state.buffer, key=gold.rank.__getitem__, default=state.root)
    stack: list[int] = []
    for word in reversed(state.stack):
        if gold.rank[word] <= gold.rank[ahead]:
            stack.insert(0, word)
            ahead = word
        else:
            buffer.add(word)
    if on_stack and state.stack and state.stack[-1] in buffer:
        stack.append(first)
        buffer.remove(first)
    return stack, buffer


def _costs_with_swap(system: TreeSystem, state: State, gold: _Gold, found: Mapping[Kind, int]) -> dict[Kind, int]:
    """Costs of all kinds from those, `found`, that count the arcs lost as if the words stood in projective order.

    SWAP is free where it is due, as for the static oracle, and must not be explored elsewhere. SHIFT is free where a
    later word goes before the front of the buffer (`found` says so); it must not be explored where it would bury a
    word that is out of order, but for words that will be gone before that word is to move.

    Source: de Lhoneux, Stymne and Nivre 2017, sec. 4; where SWAP is due: Nivre, Kuhlmann and Hall 2009, sec. 3.
    """
    forbidden = len(state.words) + 1
    order = _ORDERS[system.name](state, gold)
    free_arc = any(found.get(kind) == 0 for kind in _ARCS)
    swap = {Kind.SWAP: 0 if order.inverted and not order.waits else forbidden}
    shift = {Kind.SHIFT: found.get(Kind.SHIFT, 0)}
    if not order.kept and (free_arc or not order.waits):
        shift[Kind.SHIFT] += forbidden
    return {kind: cost for kind, cost in {**found, **swap, **shift}.items() if kind in found}


class _Order(NamedTuple):
    """inverted: the two words that SWAP exchanges are not in projective order. waits: but it may be due only later.
    kept: no word would be buried by a SHIFT that is out of order."""

    inverted: bool
    waits: bool
    kept: bool


def _order_in_hybrid(state: State, gold: _Gold) -> _Order:
    """SWAP waits until the front of the buffer has become a left dependent within its projective component."""
    front = state.buffer[0]
    inverted = bool(state.stack) and gold.rank[state.stack[-1]] > gold.rank[front]
    head = state.root if front == state.root else gold.heads[front]
    return _Order(inverted, head > front and gold.component[head] == gold.component[front], not inverted)


def _order_in_standard(state: State, gold: _Gold) -> _Order:
    """SWAP waits until the top of the stack and the front of the buffer have joined one projective component."""
    ranks = [gold.rank[word] for word in state.stack]
    tops = [gold.component[word] for word in (*state.stack[-1:], *state.buffer[:1])]
    return _Order(ranks[-2:] != sorted(ranks[-2:]), len(tops) == 2 and tops[0] == tops[1], ranks == sorted(ranks))


_ORDERS: dict[str, Callable[[State, _Gold], _Order]] = {
    "arc-standard-swap": _order_in_standard,
    "arc-hybrid-swap": _order_in_hybrid,
}
