"""The relations of arcs from the root. They are learned from training trees, because treebanks differ in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from transition_parser.graphs.dependency import DependencyTree


@dataclass(frozen=True)
class RootRelations:
    """The relations that arcs from the artificial root may carry.

    labels: the relations of arcs from the root; Universal Dependencies have `root` alone, the Prague treebank `Pred`,
        `ExD` and others
    shared: the relations in `labels` that other arcs may carry, too
    """

    labels: frozenset[str] = frozenset({"root"})
    shared: frozenset[str] = frozenset()

    @classmethod
    def from_trees(cls, trees: Iterable[DependencyTree]) -> RootRelations:
        """Return the relations of the arcs from the root in these trees.

        >>> roots = RootRelations.from_trees([DependencyTree((2, 0), ("ExD", "Pred")), DependencyTree((0,), ("ExD",))])
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
        """Return True where an arc may carry `relation`.

        An arc from the root needs a relation in `labels`. Any other arc may carry any relation that is not in `labels`,
        or that is in `shared`.
        """
        if from_root:
            return relation in self.labels
        return relation not in self.labels or relation in self.shared
