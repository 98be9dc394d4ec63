"""The dynamic oracles in plain Python, a configuration at a time: a reference for the costs of the batched machine.

Words are numbered as in `State`: from 0, with the root after the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import NonProjectiveError
from transition_parser.transitions import TREE_SYSTEMS, Action, Kind, State, TransitionSystem, TreeSystem
from transition_parser.transitions.tree_system import GoldTree

_ARCS = (Kind.LEFT_ARC, Kind.RIGHT_ARC)


def costs(system: TransitionSystem, state: State, gold: DependencyTree) -> dict[Kind, int]:
    """Return the cost of each legal kind of action, in gold arcs. The relation of an arc does not matter.

    The cost is the number of gold arcs that can no longer be built after the action. At least one kind costs 0, and any
    derivation whose actions all cost 0 builds the gold tree. With SWAP this holds only if all actions so far have
    cost 0; in other configurations even the best kind may cost more. A cost above the number of words marks an action
    that must not be explored; there is always a legal kind that costs less.

    Raises `NonProjectiveError` where `system` can't build the tree. Raises `ValueError` for a system without costs and
    for a tree and a configuration with different numbers of words.

    >>> from transition_parser.transitions import make_system
    >>> system, gold = make_system("arc-hybrid"), DependencyTree((2, 0), ("nsubj", "root"))
    >>> state = system.apply(system.initial(["She", "sleeps"]), Action(Kind.SHIFT))
    >>> {kind.name: cost for kind, cost in costs(system, state, gold).items()}
    {'SHIFT': 2, 'LEFT_ARC': 0}
    """
    if not isinstance(system, TreeSystem):
        raise ValueError(f"{system.name} has no costs: there is a dynamic oracle for {', '.join(TREE_SYSTEMS)}")
    if len(gold) != len(state.words):
        raise ValueError(f"the tree has {len(gold)} words, and the configuration {len(state.words)}")
    known = _known(gold)
    if system.projective_only and not known.projective:
        raise NonProjectiveError(f"the tree crosses arcs, which {system.name} can't build")
    before = system.missing_arcs(state, known)
    found = {kind: system.missing_arcs(after, known) - before for kind, after in _successors(system, state).items()}
    return found if system.projective_only else _costs_with_swap(system, state, known, found)


_known = lru_cache(maxsize=1024)(GoldTree)  # each step of a derivation asks for the same tree again


def _successors(system: TreeSystem, state: State) -> dict[Kind, State]:
    """Return the configurations after the legal actions, one for each kind."""
    if system.is_final(state):
        return {}
    plain = "".join(system.roots.labels) + "x"  # a relation that no arc from the root carries
    shift = system.shift(state.words[state.buffer[0]]).label if state.buffer and state.buffer[0] < state.root else None
    after = {}
    for kind in system.kinds:
        labels = [plain, *system.roots.labels] if kind in _ARCS else [shift if kind is Kind.SHIFT else None]
        legal = (a for a in (Action(kind, label) for label in labels) if system.why_illegal(state, a) is None)
        action = next(legal, None)
        if action is not None:
            after[kind] = system.apply(state, action)
    return after


# --- SWAP -----------------------------------------------------------------------------------


def _costs_with_swap(system: TreeSystem, state: State, gold: GoldTree, found: Mapping[Kind, int]) -> dict[Kind, int]:
    """Return the costs of all kinds in a system with SWAP.

    SWAP costs nothing where the static oracle would take it, and must not be explored elsewhere. SHIFT costs nothing
    where a later word has to move before the front of the buffer; `found` contains this already. SHIFT must not be
    explored where it would put a word onto a word that is out of order, unless SWAP has to wait and no arc costs 0.

    Source: de Lhoneux, Stymne and Nivre 2017, sec. 4; when to take SWAP: Nivre, Kuhlmann and Hall 2009, sec. 3.
    """
    forbidden = len(state.words) + 1
    order = (_order_in_standard if system.spec.closes_on_stack else _order_in_hybrid)(state, gold)
    free_arc = any(found.get(kind) == 0 for kind in _ARCS)
    swap = {Kind.SWAP: 0 if order.inverted and not order.waits else forbidden}
    shift = {Kind.SHIFT: found.get(Kind.SHIFT, 0)}
    if not order.kept and (free_arc or not order.waits):
        shift[Kind.SHIFT] += forbidden
    return {kind: cost for kind, cost in {**found, **swap, **shift}.items() if kind in found}


class _Order(NamedTuple):
    """The facts about the order of words that the costs of SWAP and SHIFT depend on."""

    inverted: bool  # the two words that SWAP exchanges are not in projective order
    waits: bool  # a lazy oracle delays the swap
    kept: bool  # SHIFT would not put a word onto words that are out of order


def _order_in_hybrid(state: State, gold: GoldTree) -> _Order:
    """Return the order in arc-hybrid, where SWAP waits for a left arc to the front in its projective component."""
    front = state.buffer[0]
    inverted = bool(state.stack) and gold.rank[state.stack[-1]] > gold.rank[front]
    head = state.root if front == state.root else gold.heads[front]
    return _Order(inverted, head > front and gold.component[head] == gold.component[front], not inverted)


def _order_in_standard(state: State, gold: GoldTree) -> _Order:
    """Return the order in arc-standard, where SWAP waits while the top and the front share a projective component."""
    ranks = [gold.rank[word] for word in state.stack]
    tops = [gold.component[word] for word in (*state.stack[-1:], *state.buffer[:1])]
    return _Order(ranks[-2:] != sorted(ranks[-2:]), len(tops) == 2 and tops[0] == tops[1], ranks == sorted(ranks))
