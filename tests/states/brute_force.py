"""What a configuration can still reach, by search through all legal continuations."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, Kind, State, TreeSystem
from transition_parser.transitions.tree_system import NO_HEAD

RELATION = {False: "x", True: "root"}  # of an arc from the root?


class Step(NamedTuple):
    """What a legal action leads to. target: a number of `Graph.states`. arc: (dependent, head), None without."""

    kind: Kind
    target: int
    arc: tuple[int, int] | None


class Graph:
    """All configurations that legal actions reach from one of them. Those that differ only in which heads words have,
    not in which words have one, are one: what can follow is the same.

    states: an example of each, every one before those that it leads to. steps: the legal actions of each.
    """

    def __init__(self, system: TreeSystem, start: State) -> None:
        numbers: dict[tuple, int] = {}
        found: list[tuple[State, list[Step]]] = []

        def visit(state: State) -> int:
            """Numbers what follows before the state itself."""
            key = (state.stack, state.buffer, tuple(head == NO_HEAD for head in state.heads))
            if key not in numbers:
                steps = [Step(a.kind, visit(after), _arc(state, after)) for a, after in legal_steps(system, state)]
                numbers[key] = len(found)
                found.append((state, steps))
            return numbers[key]

        visit(start)
        self.states = [state for state, _ in found]
        self.steps = [steps for _, steps in found]

    def costs(self, heads: Sequence[int]) -> Iterator[tuple[State, dict[Kind, int]]]:
        """Each configuration with a legal action, and for each kind how many fewer gold arcs can be built after it.
        heads: gold, as in `State`."""
        best = [0] * len(self.states)
        for number, steps in enumerate(self.steps):  # what follows comes first
            gains = {s.kind: best[s.target] + (s.arc is not None and heads[s.arc[0]] == s.arc[1]) for s in steps}
            if gains:
                best[number] = max(gains.values())
                yield self.states[number], {kind: best[number] - gain for kind, gain in gains.items()}


def legal_steps(system: TreeSystem, state: State) -> Iterator[tuple[Action, State]]:
    """The legal actions, one of each kind, and the configurations after them."""
    for kind in system.kinds:
        labels: tuple[str | None, ...] = (None,)
        if kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC):
            labels = tuple(RELATION.values())
        if not system.is_final(state):
            for label in labels:
                action = Action(kind, label)
                if system.why_illegal(state, action) is None:
                    yield action, system.apply(state, action)


def _arc(before: State, after: State) -> tuple[int, int] | None:
    new = [(d, head) for d, (old, head) in enumerate(zip(before.heads, after.heads, strict=True)) if old != head]
    return new[0] if new else None


def all_trees(n: int, projective: bool) -> list[DependencyTree]:
    """All trees of n words with one root."""
    trees = (DependencyTree(heads, tuple(RELATION[not h] for h in heads)) for heads in product(range(n + 1), repeat=n))
    return [tree for tree in trees if tree.why_invalid() is None and (not projective or tree.is_projective())]


def gold_heads(tree: DependencyTree) -> list[int]:
    """The heads as in `State`."""
    return [head - 1 if head else len(tree) for head in tree.heads]
