"""The static oracles of the dependency systems: one action sequence for each gold tree.

Each system defines its own oracle (`TreeSystem.oracle`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, TreeSystem
from transition_parser.transitions.gold import GoldTree


class NonProjectiveError(ValueError):
    """The error for a tree with crossing arcs in a system that builds projective trees only."""


def oracle(system: TreeSystem, words: Sequence[str], tree: DependencyTree) -> Iterator[Action]:
    """Yield the actions that build `tree` in `system`.

    Raises `NonProjectiveError` where `system` can't build the tree. The tree may have relations that `system` does not
    know, as in development data; the actions that set these relations may be illegal.

    >>> from transition_parser.transitions import make_system
    >>> tree = DependencyTree((2, 0), ("nsubj", "root"))
    >>> [str(a) for a in oracle(make_system("arc-hybrid"), ["She", "sleeps"], tree)]
    ['SHIFT', 'LEFT-ARC(nsubj)', 'SHIFT', 'LEFT-ARC(root)']
    """
    if system.projective_only and not tree.is_projective():
        raise NonProjectiveError(f"the tree crosses arcs, which {system.name} can't build")
    return system.oracle(GoldTree(tree, words, system.shift))
