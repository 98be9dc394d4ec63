"""Abstract Meaning Representations (Banarescu et al. 2013) as graphs, and their layout as trees in PENMAN."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from transition_parser.base.errors import InputError

# roles that end in -of but are not inverse roles (as in Smatch, Cai and Knight 2013)
NOT_INVERSE = frozenset({"consist-of", "prep-on-behalf-of", "prep-out-of"})

_OPPOSITE = {"mod": "domain", "domain": "mod"}
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")
_INDENT = 6
_PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "this", "that"})
# patterns of text that PENMAN reads as one symbol or string, as one role, and as a variable
_SYMBOL = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|(?!#)[^ \t\r\n\v\f"()/:~]+')
_ROLE = re.compile(r'[^ \t\r\n\v\f"()/:~]+')
_VARIABLE = re.compile(r"[A-Za-z]\d*")
_MEMBER = re.compile(r"(op|snt)(\d+)")  # of a list, with its number


class Edge(NamedTuple):
    """An edge between two nodes, never with an inverse role, unless the target is a constant: `mod`, not `domain`."""

    source: int
    role: str  # without its colon
    target: int


@dataclass(frozen=True)
class AmrGraph:
    """A rooted, labeled graph. Both concepts and constants are nodes, in the order of first mention.

    labels: the concept of each node (`want-01`), or the constant as PENMAN writes it (`-`, `6`, `"New"`)
    constants: the nodes that are constants; each is the target of one edge and the source of none
    top: the node that PENMAN writes first
    """

    labels: tuple[str, ...]
    constants: frozenset[int]
    edges: tuple[Edge, ...]
    top: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def is_connected(self) -> bool:
        """Return True if every node can be reached from the top when the direction of edges is ignored."""
        return len(distances(self.edges, self.top)) == len(self)

    def neighbors(self) -> list[list[int]]:
        """Return for each node the nodes at the other ends of its edges."""
        around: list[list[int]] = [[] for _ in self.labels]
        for source, _role, target in self.edges:
            around[source].append(target)
            around[target].append(source)
        return around

    def renumbered(self, order: Sequence[int]) -> AmrGraph:
        """Return the same graph with node `order[i]` as node i and with sorted edges.

        Graphs that differ only in their numbering become equal, given corresponding orders.
        """
        same = self.part(order, self.edges)
        return replace(same, edges=tuple(sorted(same.edges)))

    def part(self, nodes: Sequence[int], edges: Iterable[Edge]) -> AmrGraph:
        """Return the graph of some nodes, numbered in their order, the top among them, and of edges between them."""
        number = {old: new for new, old in enumerate(nodes)}
        return AmrGraph(
            tuple(self.labels[old] for old in nodes),
            frozenset(number[node] for node in self.constants if node in number),
            tuple(Edge(number[source], role, number[target]) for source, role, target in edges),
            number[self.top],
        )

    def variables(self) -> list[str | None]:
        """Return a variable for each concept (`w`, `w2`, …), and None for each constant."""
        used: dict[str, int] = {}
        names: list[str | None] = []
        for node, label in enumerate(self.labels):
            if node in self.constants:
                names.append(None)
                continue
            letter = label[0].lower() if label[:1].isascii() and label[:1].isalpha() else "x"
            used[letter] = used.get(letter, 0) + 1
            names.append(letter if used[letter] == 1 else f"{letter}{used[letter]}")
        return names

    def triples(self, wiki: Mapping[int, str] | None = None) -> list[tuple[str, str, str]]:
        """Return the graph as triples of the package `penman`.

        A triple `("w", ":instance", "want-01")` stands for each concept, with the concept of the top first. Then come
        triples of `:wiki`, and a triple `("w", ":ARG0", "b")` for each edge, with `:domain` turned into `:mod`.

        wiki: see `to_penman`
        """
        names = [name or label for name, label in zip(self.variables(), self.labels)]
        concepts = sorted(set(range(len(self))) - self.constants, key=lambda node: (node != self.top, node))
        return [
            *((names[node], ":instance", self.labels[node]) for node in concepts),
            *((names[node], ":wiki", value) for node, value in (wiki or {}).items()),
            *((names[source], f":{role}", names[target]) for source, role, target in self.edges),
        ]

    def to_penman(
        self,
        alignments: Sequence[Sequence[int]] | None = None,
        wiki: Mapping[int, str] | None = None,
        variables: Sequence[str | None] | None = None,
    ) -> str:
        """Return PENMAN text.

        Raises `InputError` for a graph that is not connected, because PENMAN writes only the nodes that the top
        reaches. Raises `InputError` for a graph whose text could not be read again.

        alignments: the positions of each node's tokens, written as `~e.N`
        wiki: node → value of `:wiki`, with its quotation marks
        variables: names that replace the result of the method `variables`
        """
        return PenmanLayout(self, wiki, variables).text(alignments)


class PenmanLayout:
    """A graph laid out as the tree that PENMAN writes.

    Edges are followed in their own direction from the top, breadth first, and each node is written below the edge that
    reaches it first. A node is below an inverse role only if no such edge reaches it (see `_edge_above`).
    """

    def __init__(
        self, graph: AmrGraph, wiki: Mapping[int, str] | None = None, variables: Sequence[str | None] | None = None
    ) -> None:
        self.graph, self.wiki = graph, wiki or {}
        self.variables = tuple(variables or graph.variables())
        self._around: list[list[int]] = [[] for _ in graph.labels]  # the numbers of the edges at each node
        for number, edge in enumerate(graph.edges):
            self._around[edge.source].append(number)
            if edge.target != edge.source:
                self._around[edge.target].append(number)
        self._sort_members()
        self._written_by = self._tree()
        if len(self._written_by) < len(graph):
            raise InputError("the graph is not connected: PENMAN can write only connected graphs")
        self._check_names()
        self.order: list[int] = []
        self.paths: list[str] = []
        self._edges: list[Edge] = []
        # each line without its alignment, and its node (None for `:wiki` and the variable of another line)
        self._lines: list[tuple[str, int | None]] = []
        self._closed: list[int] = []  # the number of parentheses that close after each line
        self._write()

    def text(self, alignments: Sequence[Sequence[int]] | None = None) -> str:
        """Return the text, with `~e.N` after each node if alignments are given."""
        lines = []
        for (line, node), closed in zip(self._lines, self._closed, strict=True):
            tokens = alignments[node] if alignments and node is not None else ()
            mark = "~e." + ",".join(map(str, tokens)) if tokens else ""
            lines.append(line + mark + ")" * closed)
        return "\n".join(lines)

    def renumbered(self) -> AmrGraph:
        """Return the graph that a reader gets from the text. Nodes and edges are numbered in written order."""
        place = {old: new for new, old in enumerate(self.order)}
        unique = dict.fromkeys(Edge(place[source], role, place[target]) for source, role, target in self._edges)
        constants = frozenset(place[node] for node in self.graph.constants)
        return AmrGraph(tuple(self.graph.labels[node] for node in self.order), constants, tuple(unique))

    def _sort_members(self) -> None:
        """Put the members of each list in the order of their numbers, in the places that members have."""
        ranks: dict[int, dict[int, int]] = {}  # node → edge to a member of its list → the member's number
        for number, edge in enumerate(self.graph.edges):
            if found := _MEMBER.fullmatch(edge.role):
                ranks.setdefault(edge.source, {})[number] = int(found[2])
        for node, members in ranks.items():
            ordered = iter(sorted(members, key=members.__getitem__))
            self._around[node] = [next(ordered) if number in members else number for number in self._around[node]]

    def _tree(self) -> dict[int, int | None]:
        """Return node → number of the edge below which it is written (None for the top), without unreachable nodes."""
        edges = self.graph.edges
        written_by: dict[int, int | None] = {}
        places: dict[int, int] = {}
        reached: list[int] = []

        def reach(node: int, edge: int | None) -> None:
            written_by[node], places[node] = edge, len(reached)
            reached.append(node)

        def reach_forwards(node: int, edge: int | None) -> None:
            """Reach a node, and then all nodes to which edges in their own direction lead from it, breadth first."""
            ahead = len(reached)
            reach(node, edge)
            while ahead < len(reached):
                for number in self._around[reached[ahead]]:
                    source, _, target = edges[number]
                    if source == reached[ahead] and target not in written_by:
                        reach(target, number)
                ahead += 1

        apart = self._reached_apart()  # not written below inverse roles: edges in their own direction will reach them
        reach_forwards(self.graph.top, None)
        for node in reached:  # the loop appends to this list
            for number in self._around[node]:
                source = edges[number].source
                if source not in written_by and source not in apart:
                    above = self._edge_above(source, places)
                    if above == number:  # otherwise the loop comes to the edge `above` later
                        reach_forwards(source, above)
        return written_by

    def _is_relation(self, node: int) -> bool:
        return self.graph.labels[node].endswith("-91")

    def _reached_apart(self) -> set[int]:
        """Return the relation nodes (`-91`) that are reached without following an edge backwards to a relation node."""
        relations = {*filter(self._is_relation, range(len(self.graph)))}
        reached = [self.graph.top] if relations else []
        seen = {self.graph.top}
        for node in reached:  # the loop appends to this list
            for source, _, target in (self.graph.edges[number] for number in self._around[node]):
                other = target if source == node else source
                if other not in seen and (source == node or other not in relations):
                    seen.add(other)
                    reached.append(other)
        return relations & seen

    def _edge_above(self, node: int, places: Mapping[int, int]) -> int:
        """Return the number of the edge below which to write a node that only inverse roles lead to.

        As in gold AMRs, a relative clause is not below a pronoun if there is another edge, and the relation of two
        people is below the person with the role: `(p / person :ARG0-of (h / have-rel-role-91 …))`.
        """
        edges, has_role = self.graph.edges, self._is_relation(node)

        def key(number: int) -> tuple[bool, str, int]:
            _, role, target = edges[number]
            return self.graph.labels[target] in _PRONOUNS, role if has_role else "", places[target]

        return min((number for number in self._around[node] if edges[number].target in places), key=key)

    def _check_names(self) -> None:
        names = {name for name in self.variables if name is not None}
        for node, label in enumerate(self.graph.labels):
            constant = node in self.graph.constants
            if not _is_symbol(label) or (constant and (label in names or looks_like_a_variable(label))):
                raise InputError(f"{label!r} can't be written as a {'constant' if constant else 'concept'} in PENMAN")
        for value in self.wiki.values():
            if not _is_symbol(value):
                raise InputError(f"{value!r} can't be written as a :wiki in PENMAN")
        for _, role, target in self.graph.edges:
            if not _is_role(role):
                raise InputError(f"{role!r} can't be written as a role in PENMAN")
            if role == "wiki" and target in self.graph.constants:
                raise InputError("'wiki' can't be the role of a constant node: give :wiki values beside the graph")

    def _write(self) -> None:
        top, labels = self.graph.top, self.graph.labels
        self._add(0, f"({self.variables[top]} / {labels[top]}", top, "1")
        open_ = [(top, "1", enumerate(self._branches(top), 1))]
        while open_:
            node, path, branches = open_[-1]
            number, branch = next(branches, (0, None))
            if branch is None:
                open_.pop()
                self._closed[-1] += 1
                continue
            role, target, is_first = branch
            below = f"{path}.{number}"
            if target is None:
                self._add(len(open_), f":wiki {self.wiki[node]}")
                continue
            constant = target in self.graph.constants
            self._edges.append(Edge(node, role, target) if constant else edge_of(node, role, target))
            if constant:
                self._add(len(open_), f":{role} {labels[target]}", target, below)
            elif not is_first:
                self._add(len(open_), f":{role} {self.variables[target]}")
            else:
                self._add(len(open_), f":{role} ({self.variables[target]} / {labels[target]}", target, below)
                open_.append((target, below, enumerate(self._branches(target), 1)))

    def _add(self, depth: int, line: str, node: int | None = None, path: str = "") -> None:
        self._lines.append((" " * (_INDENT * depth) + line, node))
        self._closed.append(0)
        if node is not None:
            self.order.append(node)
            self.paths.append(path)

    def _branches(self, node: int) -> Iterator[tuple[str, int | None, bool]]:
        """Yield the branches below a node: role, target (None for `:wiki`), and True for the first mention of it."""
        if node in self.wiki:
            yield "wiki", None, False
        for edge in self._around[node]:
            source, role, target = self.graph.edges[edge]
            if self._is_predicate_of(edge):
                if target == node:
                    yield "domain", source, False
            elif source == node and self._written_by[node] != edge:
                yield role, target, self._written_by[target] == edge
            elif target == node and self._written_by[source] == edge:
                yield inverse(role), source, True

    def _is_predicate_of(self, number: int) -> bool:
        """Return True for the edge from a subject to a predicate that another edge introduces: *he said he was ill*.

        It is written as `:domain` below the predicate. Predicates have no `:name`, and are no modifiers.
        """
        _, role, target = edge = self.graph.edges[number]
        above = self._written_by[target]
        if (
            role != "mod"
            or target in self.graph.constants
            or above is None
            or number in (above, self._written_by[edge[0]])
        ):
            return False
        is_named = any(self.graph.edges[one].role == "name" for one in self._around[target])
        return (
            self.graph.edges[above].target == target
            and self.graph.edges[above].role not in ("mod", "domain")
            and not is_named
        )


def edge_of(source: int, role: str, target: int) -> Edge:
    """Return the edge that a role between two concepts stands for; `ARG0-of` gives the reverse edge of `ARG0`."""
    while is_inverse(role):
        source, role, target = target, role[:-3], source
    return Edge(target, "mod", source) if role == "domain" else Edge(source, role, target)


def distances(edges: Iterable[Edge], start: int) -> dict[int, int]:
    """Return node → its distance from `start`, over edges in any direction, for the nodes connected with it."""
    around: dict[int, list[int]] = {}
    for source, _, target in edges:
        around.setdefault(source, []).append(target)
        around.setdefault(target, []).append(source)
    steps, reach = {start: 0}, [start]
    for node in reach:  # the loop appends to this list
        for other in around.get(node, ()):
            if other not in steps:
                steps[other] = steps[node] + 1
                reach.append(other)
    return steps


def looks_like_a_variable(symbol: str) -> bool:
    """Return True for a letter alone or a letter followed by digits."""
    return _VARIABLE.fullmatch(symbol) is not None


@lru_cache(maxsize=1 << 16)
def _is_symbol(text: str) -> bool:
    return _SYMBOL.fullmatch(text) is not None


@lru_cache(maxsize=1 << 12)
def _is_role(text: str) -> bool:
    return _ROLE.fullmatch(text) is not None and text.replace("-of", "") != ""


def inverse(role: str) -> str:
    """Return the inverse of a role that is no inverse role itself: `ARG0-of`, and as in Smatch `domain` for `mod`."""
    return _OPPOSITE.get(role, f"{role}-of")


def is_inverse(role: str) -> bool:
    """Return True for an inverse role, written without its colon: `ARG0-of`, but not `consist-of`."""
    return role.endswith("-of") and role not in NOT_INVERSE


def is_number(text: str) -> bool:
    """Return True for a constant that is a number: `6`, `-0.5`."""
    return _NUMBER.fullmatch(text) is not None


def quoted(text: str) -> str:
    """Return `text` as a string constant, in quotation marks and with escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def named(graph: AmrGraph) -> Iterable[tuple[int, int, tuple[int, ...]]]:
    """Yield (node, its name node, the constants :op1 … in order) for each node with a name of strings alone."""
    if "name" not in graph.labels:
        return
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


CONJUNCTIONS = ("and", "or")
LISTS = ("op", "snt")  # the roles of members of lists, without their numbers


def with_numbers(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Return the edges; those with roles in `LISTS` get numbers, which follow the order of the targets.

    Each node's numbers begin with 1. A number that another edge of the node bears is passed over. A role with a colon
    after it loses the colon instead, for gold graphs that lack a number.

    >>> [role for _, role, _ in with_numbers([Edge(0, "op", 3), Edge(0, "op", 1), Edge(0, "op1", 2)])]
    ['op3', 'op2', 'op1']
    """
    taken = {edge_of(*edge)[:2] for edge in edges}
    numbered: dict[Edge, Edge] = {}
    for edge in sorted((edge for edge in edges if edge.role in LISTS), key=lambda edge: edge.target):
        roles = (f"{edge.role}{number}" for number in count(1))
        role = next(role for role in roles if (edge.source, role) not in taken)
        taken.add((edge.source, role))
        numbered[edge] = edge._replace(role=role)
    return tuple(numbered.get(edge) or edge._replace(role=edge.role.removesuffix(":")) for edge in edges)


def without_gaps(graph: AmrGraph) -> AmrGraph:
    """Return the graph with the roles of its lists numbered 1, 2, … without a gap, in the same order.

    A conjunction whose only conjunct is `:op2` keeps this role, because gold graphs use it for a sentence that begins
    with "And". Gaps are removed from complete graphs only, because search adds the members of a list in any order.
    """
    renamed: dict[Edge, Edge] = {}
    lists: dict[tuple[int, str], list[tuple[int, Edge]]] = {}  # (node, `op` or `snt`) → (number, edge) of each member
    for edge in graph.edges:
        if found := _MEMBER.fullmatch(edge.role):
            lists.setdefault((edge.source, found[1]), []).append((int(found[2]), edge))
    for (node, name), members in lists.items():
        if not (graph.labels[node] in CONJUNCTIONS and [number for number, _ in members] == [2]):
            ordered = sorted(members, key=lambda member: member[0])
            renamed |= {edge: edge._replace(role=f"{name}{i}") for i, (_, edge) in enumerate(ordered, 1)}
    return replace(graph, edges=tuple(renamed.get(edge, edge) for edge in graph.edges))


def signature(graph: AmrGraph) -> tuple[int, ...]:
    """Return numbers, of this process, that do not depend on the numbering of the nodes, and differ for other graphs.

    Graphs that refinement can't tell apart, such as one ring of six equal nodes and two rings of three, have the same.
    Source: Weisfeiler and Leman 1968
    """
    colors = [hash((label, node in graph.constants, node == graph.top)) for node, label in enumerate(graph.labels)]
    while True:
        around: list[list[tuple]] = [[] for _ in colors]
        for source, role, target in graph.edges:
            around[source].append((role, 0, colors[target]))
            around[target].append((role, 1, colors[source]))
        finer = [hash((color, *sorted(own))) for color, own in zip(colors, around, strict=True)]
        if len(set(finer)) == len(set(colors)):
            return tuple(sorted(finer))
        colors = finer
