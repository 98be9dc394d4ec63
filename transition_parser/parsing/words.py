"""The words of parses, and the nodes and edges of AMRs, as objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Word:
    """A word of a parsed sentence.

    id: its number, from 1
    start, end: its place in the text that was parsed, for CoNLL-U in `# text`: the first character, counted from 0, and
        the position after the last one; None where the place is unknown
    """

    parse: Any = field(repr=False, compare=False)
    id: int
    form: str
    start: int | None
    end: int | None


@dataclass(frozen=True)
class TreeWord(Word):
    """A word of a tree, with the names of CoNLL-U. Unknown columns are None.

    feats: feature → value, such as `{"Number": "Sing"}`; empty for a word without features
    deprel: the relation to its head
    score: the confidence in head and relation, from 0 to 1 (see `Parse.arc_scores`); None in a gold tree
    """

    lemma: str | None
    upos: str | None
    xpos: str | None
    feats: Mapping[str, str] = field(hash=False)
    deprel: str
    score: float | None

    @property
    def head(self) -> TreeWord | None:
        """The head, None for the root."""
        head = self.parse.tree.heads[self.id - 1]
        return self.parse[head - 1] if head else None

    @property
    def children(self) -> list[TreeWord]:
        """The dependents, in word order."""
        return [word for word, head in zip(self.parse, self.parse.tree.heads, strict=True) if head == self.id]

    @property
    def ancestors(self) -> list[TreeWord]:
        """The head, the head of the head, and so on up to the root."""
        found, head = [], self.head
        while head is not None:
            found.append(head)
            head = head.head
        return found

    @property
    def subtree(self) -> list[TreeWord]:
        """The word and all words below it, in word order."""
        reached = [self]
        for word in reached:  # the loop appends to this list
            reached += word.children
        return sorted(reached, key=lambda word: word.id)


@dataclass(frozen=True)
class AmrWord(Word):
    """A word of the sentence of an AMR."""

    @property
    def nodes(self) -> list[AmrNode]:
        """The nodes that come from the word."""
        return [node for node in self.parse.nodes if self in node.words]


@dataclass(frozen=True)
class AmrNode:
    """A node of the AMR of a parsed sentence.

    id: its number, from 1
    concept: such as `want-01`, or the constant as PENMAN writes it (`-`, `6`, `"New"`)
    variable: its variable in PENMAN, None for a constant
    wiki: the value of `:wiki`, None where it has none
    score: the confidence in the node, from 0 to 1; None where it is unknown
    """

    parse: Any = field(repr=False, compare=False)
    id: int
    concept: str
    is_constant: bool
    variable: str | None
    wiki: str | None
    score: float | None

    @property
    def words(self) -> list[AmrWord]:
        """The words that the node comes from."""
        return [self.parse.words[word] for word in self.parse.alignments[self.id - 1]]

    @property
    def edges(self) -> dict[str, list[AmrNode]]:
        """Role, without its colon → the nodes to which edges with this role lead from here."""
        found: dict[str, list[AmrNode]] = {}
        for edge in self.parse.edges:
            if edge.source == self:
                found.setdefault(edge.role, []).append(edge.target)
        return found


class AmrEdge(NamedTuple):
    """An edge of the AMR of a parsed sentence; its role has no colon, and is inverse only if the target is a constant.

    score: the confidence in the edge, from 0 to 1; None where it is unknown
    """

    source: AmrNode
    role: str
    target: AmrNode
    score: float | None
