"""AMRs that are edited after search, and where their nodes and edges come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph, Edge, distances, quoted
from transition_parser.text.frames import packaged
from transition_parser.transitions.amr_limits import Sort, sort_of
from transition_parser.transitions.amr_state import AmrWord, is_constant, lemma_of

if TYPE_CHECKING:
    from transition_parser.graphs.dependency import DependencyTree
    from transition_parser.modules.semantic_roles import Readings


class Edited(NamedTuple):
    """A graph after an edit."""

    graph: AmrGraph
    nodes: list[int]  # for each node the old node whose words and confidence it has, -1 for none
    edges: list[int]  # for each edge its old number, -1 for a new edge


def without(graph: AmrGraph, removed: Collection[int]) -> Edited:
    """Return the graph without the nodes `removed` and their edges."""
    nodes = [node for node in range(len(graph)) if node not in removed]
    edges = [n for n, edge in enumerate(graph.edges) if edge.source not in removed and edge.target not in removed]
    return Edited(graph.part(nodes, [graph.edges[number] for number in edges]), nodes, edges)


class Draft:
    """A graph during an edit. Its nodes keep their numbers; those in `removed` stay until the result is made.

    graph: the graph before the edit
    alignments: for each of its nodes the words that it came from
    words: the words of the sentence
    readings: what a semantic role labeler reads of the words, None without one
    known: the keys of the spans of training
    tree: the dependency tree of the sentence, None where nobody asked for it
    """

    def __init__(
        self,
        graph: AmrGraph,
        alignments: Sequence[tuple[int, ...]] = (),
        words: Sequence[AmrWord] = (),
        readings: Readings | None = None,
        known: Container[str] = (),
        tree: DependencyTree | None = None,
    ) -> None:
        self.graph, self.labels, self.edges, self.top = graph, [*graph.labels], [*graph.edges], graph.top
        self.constants, self.removed = {*graph.constants}, set[int]()
        self.node_origins, self.edge_origins = [*range(len(graph))], [*range(len(graph.edges))]
        self.alignments, self.words, self.readings = [*alignments], words, readings
        self.known, self.tree = known, tree

    # --- what the graph and the words say --------------------------------------------------------------

    @cached_property
    def forms(self) -> list[str]:
        """The words in lower case, and an empty one after them."""
        return [*(word.form.lower() for word in self.words), ""]

    @cached_property
    def frames(self) -> dict[int, int]:
        """Word → its node with a frame of its lemma."""
        found = {}
        for node, places in enumerate(self.alignments):
            place, *more = places or (0, 0)
            label = self.labels[node]
            if not more and self.is_frame(node) and lemma_of(label).partition("-")[0] == self.words[place].lemma:
                found[place] = node
        return found

    def frames_in(self, first: int, end: int) -> list[int]:
        """Return the frames of the words of a span in their order, `end` being the word after it."""
        return [node for place, node in sorted(self.frames.items()) if first <= place < end]

    @cached_property
    def aligned(self) -> set[int]:
        """The words with a node."""
        return {place for places in self.alignments for place in places}

    def place(self, node: int) -> int:
        """Return the first word of a node, -1 for none."""
        origin = self.node_origins[node]
        return min(self.alignments[origin], default=-1) if origin >= 0 else -1

    def at(self, place: int) -> list[int]:
        """Return the nodes of a word alone."""
        return [i for i, places in enumerate(self.alignments) if tuple(places) == (place,) and i not in self.removed]

    def inside(self, first: int, end: int) -> set[int]:
        """Return the nodes whose first words are in a span, `end` being the word after it."""
        found = {node for node, places in enumerate(self.alignments) if places and first <= min(places) < end}
        return found - self.removed

    def nodes_of(self, label: str) -> list[int]:
        """Return the nodes with a label."""
        return [node for node, known in enumerate(self.labels) if known == label and node not in self.removed]

    def neighbors(self, node: int) -> set[int]:
        """Return the nodes at the other ends of the edges of a node."""
        return {source + target - node for source, _, target in self.edges if node in (source, target)}

    def around(self, node: int) -> dict[int, str]:
        """Return the neighbors of a node with their concepts."""
        return {other: self.labels[other] for other in self.neighbors(node)}

    def below(self, node: int) -> dict[str, int]:
        """Return the targets of the edges from a node by role."""
        return {edge.role: edge.target for edge in self.edges if edge.source == node}

    def is_frame(self, node: int) -> bool:
        return sort_of(self.labels[node], node in self.constants) is Sort.FRAME

    def core_roles(self, node: int) -> tuple[int, ...]:
        """Return the numbers of the roles `ARGn` that the frame of a node has; none for other nodes."""
        lemma, _, sense = self.labels[node].rpartition("-")
        return packaged().roles(lemma, sense)

    def members(self, node: int, role: str = "op") -> list[Edge]:
        """Return the edges from a list to its members."""
        return [edge for edge in self.edges if edge.source == node and edge.role.startswith(role)]

    def lists_of(self, node: int) -> set[int]:
        """Return the lists, by *and* or *or*, that a node is a member of."""
        above = {edge.source for edge in self.edges if edge.target == node and edge.role[:2] == "op"}
        return {one for one in above if self.labels[one] in CONJUNCTIONS}

    def dependents(self, word: int, relation: str) -> list[int]:
        """Return the words below a word by a relation, whatever its subtype; none where there is no tree."""
        if self.tree is None:
            return []
        arcs = enumerate(zip(self.tree.heads, self.tree.relations, strict=True))
        return [one for one, (head, own) in arcs if head == word + 1 and own.partition(":")[0] == relation]

    # --- changes ---------------------------------------------------------------------------------------

    def new_node(self, label: str, is_constant: bool, origin: int = -1) -> int:
        """Add a node and return its number. It has the words and confidence of `origin`, none and 1 for -1."""
        self.labels.append(label)
        self.node_origins.append(self.node_origins[origin] if origin >= 0 else -1)
        if is_constant:
            self.constants.add(len(self.labels) - 1)
        return len(self.labels) - 1

    def add_edge(self, source: int, role: str, target: int) -> None:
        """Add an edge, unless the graph has it or it is a loop."""
        if source != target and (source, role, target) not in self.edges:
            self.edges.append(Edge(source, role, target))
            self.edge_origins.append(-1)

    def add_below(self, node: int, role: str, label: str) -> int:
        """Add a node or a constant below another node, whose words it gets, and return it."""
        new = self.new_node(label, is_constant(label), node)
        self.add_edge(node, role, new)
        return new

    def add_name(self, node: int, words: Sequence[str]) -> None:
        """Give a node a name."""
        name = self.new_node("name", False, node)
        self.add_edge(node, "name", name)
        for number, word in enumerate(words, 1):
            self.add_below(name, f"op{number}", quoted(word))

    def add_argument(self, node: int, roles: Sequence[str], label: str) -> None:
        """Give a node the first free role that its frame has, to the only node of a pronoun or a new node."""
        below = self.below(node)
        subject = below.pop("ARG0", -1) if "ARG0" not in roles else -1
        known = [f"ARG{number}" for number in self.core_roles(node)] or ["mode", *roles]
        free = [role for role in roles if below.get(role, subject) == subject and role in ("mode", *known)]
        if free:
            same, constant = [one for one in self.nodes_of(label) if one != subject], is_constant(label)
            target = same[0] if len(same) == 1 and not constant else self.new_node(label, constant, node)
            self.remove_edges(lambda edge: edge[:2] == (node, free[0]))
            self.add_edge(node, free[0], target)

    def move_top(self, old: int, new: int) -> None:
        """Make a node the top in the place of another."""
        self.top = new if self.top == old else self.top

    def replace_edge(self, edge: Edge, *others: Edge) -> None:
        """Put other edges in the place of an edge; none in that of an edge that the graph has lost since."""
        if edge not in self.edges:
            return
        number = self.edges.index(edge)
        new = [one for one in others if one == edge or (one.source != one.target and one not in self.edges)]
        self.edges[number : number + 1] = new
        self.edge_origins[number : number + 1] = [-1] * len(new)

    def drop_edge(self, edge: Edge) -> None:
        """Remove an edge, and the node below it where it has no other."""
        self.replace_edge(edge)
        self.removed.update(() if self.neighbors(edge.target) else (edge.target,))

    def set_role(self, edge: Edge, role: str) -> None:
        """Give an edge another role."""
        self.edges[self.edges.index(edge)] = edge._replace(role=role)

    def remove_edges(self, is_wrong: Callable[[Edge], bool]) -> None:
        """Remove all edges of a kind."""
        for edge in [*filter(is_wrong, self.edges)]:
            self.replace_edge(edge)

    def change(self, *changes: tuple[Edge, Edge | None]) -> bool:
        """Put other edges, or none, in the place of edges, and return True, if the graph stays connected."""
        new = dict(changes)
        edges = [one for edge in self.edges if (one := new.get(edge, edge)) is not None]
        if any(edge and edge.source == edge.target for edge in new.values()):
            return False
        if not {*range(len(self.labels))} - self.removed <= distances(edges, self.top).keys():
            return False
        for old, edge in changes:
            self.replace_edge(old, *([] if edge is None or edge in self.edges else [edge]))
        return True

    def merge(self, node: int, into: int) -> None:
        """Give the edges of `node` to another node, without those between the two."""
        moved = {node: into}
        self.edges = [
            Edge(s, role, t) if {s, t} == {node, into} else Edge(moved.get(s, s), role, moved.get(t, t))
            for s, role, t in self.edges
        ]
        for number in range(len(self.edges) - 1, 0, -1):
            if self.edges[number] in self.edges[:number]:
                del self.edges[number], self.edge_origins[number]
        self.move_top(node, into)
        self.removed.add(node)

    def put(self, first: int, end: int, label: str, role: str, kept: Collection[str] = ()) -> int:
        """Put a node in the place of all nodes whose first words are in a span, and return it.

        role: the role of the node if the span has no nodes; then its source is the frame before the span
        kept: the roles of edges that it keeps; other nodes below the span stay only if they have another source, or get
            that of the new node
        """
        inside = self.inside(first, end)
        frames = sorted(self.frames.items(), key=lambda frame: (frame[0] > first, abs(frame[0] - first)))
        steps = distances(self.edges, self.top)
        crossing = [edge for edge in self.edges if (edge.source in inside) != (edge.target in inside)]
        links = sorted(crossing, key=lambda e: (e.target not in inside, steps.get(e.source, 0)))
        new = self.new_node(label, False, min(inside, key=lambda node: steps.get(node, 0), default=-1))
        if self.top in inside:
            parent, self.top = new, new
        elif links:
            link = links[0]
            parent, role = (link.source, link.role) if link.target in inside else (link.target, role)
        else:
            parent = frames[0][1] if frames else self.top
        self.removed |= inside
        self.remove_edges(lambda edge: not inside.isdisjoint(edge[::2]))
        if parent != new:
            self.add_edge(parent, role, new)
        for source, name, target in crossing:
            if target in inside and source not in (parent, new):
                self.add_edge(source, name, new)
            elif source in inside and name in kept:
                self.add_edge(new, name, target)
            elif source in inside and target not in distances(self.edges, self.top):
                self.add_edge(parent, name, target)
        return new

    @property
    def is_changed(self) -> bool:
        return bool(self.removed) or -1 in self.edge_origins or self._whole() != self.graph

    def _whole(self) -> AmrGraph:
        return AmrGraph(tuple(self.labels), frozenset(self.constants), tuple(self.edges), self.top)

    def result(self) -> Edited | None:
        """Return the edited graph, None if nothing has changed, or the graph has no top or is not connected."""
        whole = self._whole()
        if (whole == self.graph and not self.removed) or self.top in self.removed:
            return None
        graph, nodes, edges = without(whole, self.removed)
        if not graph.is_connected():
            return None
        return Edited(graph, [self.node_origins[node] for node in nodes], [self.edge_origins[edge] for edge in edges])
