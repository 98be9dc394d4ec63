"""Abstract Meaning Representations as graphs, and as the trees that PENMAN writes.

Source: Banarescu et al. 2013; PENMAN notation by the library of Goodman 2020.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import penman
from penman.tree import Tree

# roles that end in -of and are no inverses (as in Smatch, Cai and Knight 2013)
NOT_INVERSE = frozenset({"consist-of", "prep-on-behalf-of", "prep-out-of"})

_OPPOSITE = {"mod": "domain", "domain": "mod"}
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")


class Edge(NamedTuple):
    """An edge between nodes by their index. role: without the colon, never an inverse (`ARG0`, not `ARG0-of`; `mod`,
    not `domain`),
    unless its target is a constant, which can't be a source."""

    source: int
    role: str
    target: int


@dataclass(frozen=True)
class AmrGraph:
    """A rooted, labelled graph. Concepts and constants are nodes alike, in the order of first mention.

    labels: the concept of each node (`want-01`), or the constant as PENMAN writes it (`-`, `6`, `"New"`).
    constants: the nodes that are constants; each is the target of one edge and the source of none.
    top: the node that PENMAN writes first.
    """

    labels: tuple[str, ...]
    constants: frozenset[int]
    edges: tuple[Edge, ...]
    top: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def is_connected(self) -> bool:
        """True if every node can be reached from the top, the direction of edges aside."""
        seen, reach = {self.top}, [self.top]
        around = self.neighbours()
        while reach:
            for other in around[reach.pop()]:
                if other not in seen:
                    seen.add(other)
                    reach.append(other)
        return len(seen) == len(self)

    def neighbours(self) -> list[list[int]]:
        """For each node those at the other end of its edges."""
        around: list[list[int]] = [[] for _ in self.labels]
        for source, _role, target in self.edges:
            around[source].append(target)
            around[target].append(source)
        return around

    def renumbered(self, order: Sequence[int]) -> AmrGraph:
        """The same graph with node `order[i]` as node i, its edges sorted: equal for graphs that differ in
        nothing but numbering, given the orders that correspond."""
        place = {old: new for new, old in enumerate(order)}
        return AmrGraph(
            tuple(self.labels[old] for old in order),
            frozenset(place[node] for node in self.constants),
            tuple(sorted(Edge(place[s], role, place[t]) for s, role, t in self.edges)),
            place[self.top],
        )

    def variables(self) -> list[str | None]:
        """A variable for each concept (`w`, `w2`, …), None for constants."""
        used: dict[str, int] = {}
        names: list[str | None] = []
        for node, label in enumerate(self.labels):
            if node in self.constants:
                names.append(None)
                continue
            letter = label[:1].lower()
            letter = letter if letter.isascii() and letter.isalpha() else "x"
            used[letter] = used.get(letter, 0) + 1
            names.append(letter if used[letter] == 1 else f"{letter}{used[letter]}")
        return names

    def to_penman(
        self,
        alignments: Sequence[Sequence[int]] | None = None,
        wiki: Mapping[int, str] | None = None,
        variables: Sequence[str | None] | None = None,
    ) -> str:
        """PENMAN text.

        alignments: token positions of each node, written as `~e.N`. wiki: the `:wiki` value (with its quotation
        marks) of nodes. variables: names to use instead of those of `variables`. Raises `ValueError` for a graph
        that is not connected: PENMAN writes only what the top reaches.
        """
        if not self.is_connected():
            raise ValueError("the graph is not connected: PENMAN can't write it whole")
        writer = _Writer(self, alignments or [()] * len(self), wiki or {}, variables or self.variables())
        try:
            return penman.format(Tree(writer.node(self.top)), indent=6)
        except RecursionError:
            raise ValueError("the graph is nested too deeply to be written") from None


class _Writer:
    """Lays a graph out as the tree that PENMAN is: each node as near to the top as edges in their own direction lead
    to it; below an inverse edge stands only what they do not reach."""

    def __init__(self, graph, alignments, wiki, variables) -> None:
        self.graph, self.alignments, self.wiki, self.variables = graph, alignments, wiki, variables
        self.around: list[list[Edge]] = [[] for _ in graph.labels]
        for edge in graph.edges:
            self.around[edge.source].append(edge)
            if edge.target != edge.source:
                self.around[edge.target].append(edge)
        self.written_by = self._tree()

    def _tree(self) -> dict[int, Edge | None]:
        """For each node the edge below which it is written, None for the top."""
        found: dict[int, Edge | None] = {self.graph.top: None}
        reached = [self.graph.top]
        place = 0
        while True:
            for node in reached[place:]:
                for edge in self.around[node]:
                    if edge.source == node and edge.target not in found:
                        found[edge.target] = edge
                        reached.append(edge.target)
                place += 1
            if place == len(reached):
                against = (e for node in reached for e in self.around[node] if e.source not in found)
                edge = next(against, None)
                if edge is None:
                    return found
                found[edge.source] = edge
                reached.append(edge.source)

    def node(self, node: int):
        """The (variable, branches) tuple of a concept."""
        branches: list = [("/", self._marked(node))]
        if node in self.wiki:
            branches.append((":wiki", self.wiki[node]))
        for edge in self.around[node]:
            if edge.source == node and self.written_by[node] is not edge:
                branches.append((f":{edge.role}", self._target(edge)))
            elif edge.target == node and self.written_by[edge.source] is edge:
                branches.append((f":{inverse(edge.role)}", self.node(edge.source)))
        return (self.variables[node], branches)

    def _target(self, edge: Edge):
        if edge.target in self.graph.constants:
            return self._marked(edge.target)
        return self.node(edge.target) if self.written_by[edge.target] is edge else self.variables[edge.target]

    def _marked(self, node: int) -> str:
        label, tokens = self.graph.labels[node], self.alignments[node]
        return f"{label}~e.{','.join(map(str, tokens))}" if tokens else label


def inverse(role: str) -> str:
    """The inverse of a role that is none, as Smatch understands it: it reads `:domain` as the inverse of `:mod`, but
    not `:mod-of`.

    >>> inverse("ARG0"), inverse("mod")
    ('ARG0-of', 'domain')
    """
    return _OPPOSITE.get(role, f"{role}-of")


def is_inverse(role: str) -> bool:
    """True for the inverse of a role, written without its colon.

    >>> is_inverse("ARG0-of"), is_inverse("consist-of"), is_inverse("consist-of-of")
    (True, False, True)
    """
    return role.endswith("-of") and role not in NOT_INVERSE


def is_number(text: str) -> bool:
    """True for a constant that is a number: `6`, `-0.5`."""
    return _NUMBER.fullmatch(text) is not None


def quoted(text: str) -> str:
    """`text` as a string constant.

    >>> quoted('5" disk')
    '"5\\\\" disk"'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def named(graph: AmrGraph) -> Iterable[tuple[int, int, tuple[int, ...]]]:
    """Yields (node, its name node, the constants :op1 … of the name in order) for each named node of a graph
    whose name node holds nothing but its strings."""
    outgoing: dict[int, list[Edge]] = {}
    incoming: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        outgoing.setdefault(edge.source, []).append(edge)
        incoming.setdefault(edge.target, []).append(edge)
    for edge in graph.edges:
        if edge.role != "name" or edge.target in graph.constants or graph.labels[edge.target] != "name":
            continue
        ops = outgoing.get(edge.target, [])
        roles = [op.role for op in ops]
        strings = all(op.target in graph.constants and graph.labels[op.target].startswith('"') for op in ops)
        numbered = sorted(roles) == sorted(f"op{i}" for i in range(1, len(ops) + 1))
        if strings and roles and numbered and len(incoming[edge.target]) == 1:
            ops = sorted(ops, key=lambda op: int(op.role[2:]))
            yield edge.source, edge.target, tuple(op.target for op in ops)
