"""The relations at the root of trees: learned, because treebanks differ in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from transition_parser.graphs.dependency import DependencyTree


@dataclass(frozen=True)
class Roots:
    """Which relations the arc from the artificial root may carry, and which of them other arcs may carry.

    labels: those of the arc from the root; Universal Dependencies have `root` alone, the Prague treebank `Pred`,
    `ExD` and others. shared: those of `labels` that other arcs carry, too.
    """

    labels: frozenset[str] = frozenset({"root"})
    shared: frozenset[str] = frozenset()

    @classmethod
    def of(cls, trees: Iterable[DependencyTree]) -> Roots:
        """What some trees have.

        >>> roots = Roots.of([DependencyTree((2, 0), ("ExD", "Pred")), DependencyTree((0,), ("ExD",))])
        >>> sorted(roots.labels), sorted(roots.shared)
        (['ExD', 'Pred'], ['ExD'])
        """
        labels: set[str] = set()
        others: set[str] = set()
        for tree in trees:
            for head, relation in zip(tree.heads, tree.relations, strict=True):
                (others if head else labels).add(relation)
        return cls(frozenset(labels), frozenset(labels & others))

    def allow(self, relation: str, from_root: bool) -> bool:
        """Whether an arc may carry `relation`. Relations that `labels` does not have are free to all other arcs."""
        if from_root:
            return relation in self.labels
        return relation not in self.labels or relation in self.shared
