"""Pictures of AMRs: nodes in layers, routes of edges between them, and the numbered words below.

Subtrees stand as close as their layers allow. Below each layer is a zone of tracks for the horizontal runs of
re-entrant edges. The curves of the tree's edges follow below the zone, and then their roles, right above the next
layer.

Source: Reingold and Tilford 1981 (subtrees)
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from transition_parser.drawing.svg import doubt, element, number, picture, text, text_width, tip, title
from transition_parser.graphs.amr import Edge
from transition_parser.graphs.bank import AmrEntry, split_tokens

_BOX, _ROLES, _ARROW = 26, 16, 10  # heights of a node, of a role above a node, and of an arrowhead
_GAP, _TRACK, _FAN = 24, 20, 34  # between nodes; heights of a track, and of the curves below the tracks
_BELOW = 36  # from the lowest layer to the words
_MARGIN, _LINE, _WORD_GAP = 14, 42, 14  # around the picture; height of a line of words; between words
_WIDTH = 560  # the least width of the lines of words


class Node(NamedTuple):
    """A node."""

    label: str
    is_constant: bool
    words: tuple[int, ...]  # the words that it came from, from 0
    confidence: float | None = None

    @property
    def numbers(self) -> str:
        """The numbers of its words, from 1."""
        words = [word + 1 for word in self.words]
        if len(words) > 1 and words[-1] - words[0] == len(words) - 1:
            return f"{words[0]}–{words[-1]}"
        return ", ".join(map(str, words))

    @property
    def numbers_width(self) -> float:
        """The width of the numbers with a gap."""
        return text_width(self.numbers, "tag") + 6 if self.words else 0.0

    @property
    def width(self) -> float:
        """The width of its contents."""
        label = text_width(self.label, "constant" if self.is_constant else "concept")
        return label + 20 + self.numbers_width


@dataclass
class Box:
    """A place of a node: its middle, layer, width, and width with the role above it."""

    x: float
    row: int
    width: float
    slot: float
    y: float = 0.0


@dataclass
class Run:
    """The horizontal run of a re-entrant edge below the layer of its upper node, and its role, which has a width.

    The nodes of an edge are in one layer or in neighboring ones, since the layers are those of a breadth-first search.
    """

    row: int
    start: float
    end: float
    role: float
    y: float = 0.0
    role_y: float = 0.0
    track: int = 0

    @property
    def role_range(self) -> tuple[float, float]:
        """The lowest and highest x for the middle of the role, which may extend beyond a short run."""
        low, high, half = *sorted((self.start, self.end)), self.role / 2
        short = high - low < 2 * self.role
        return (low - half + 3, high + half - 3) if short else (low + half, high - half)

    @property
    def extent(self) -> tuple[float, float]:
        """The range of x that the run and its role take of their track."""
        (low, high), half = self.role_range, self.role / 2 + 5
        return min(self.start, self.end, low - half), max(self.start, self.end, high + half)


@dataclass
class Forest:
    """Breadth-first trees: one from the top, and one from a node of each part that it does not reach."""

    depth: dict[int, int] = field(default_factory=dict)
    children: dict[int, list[int]] = field(default_factory=dict)
    edge_to: dict[int, int] = field(default_factory=dict)  # node → the edge by which it was reached
    roots: list[int] = field(default_factory=list)


def forest_of(nodes: Sequence[Node], edges: Sequence[Edge], top: int | None) -> Forest:
    """Return the forest. Siblings are in the order of the first words of their parts."""
    forest = Forest(children={node: [] for node in range(len(nodes))})
    around: dict[int, list[tuple[int, int]]] = {node: [] for node in range(len(nodes))}
    for i, (source, _, target) in enumerate(edges):
        around[source].append((i, target))
        around[target].append((i, source))
    headed = {edge.target for edge in edges}
    for start in [*([] if top is None else [top]), *sorted(around, key=lambda node: (node in headed, node))]:
        if start in forest.depth:
            continue
        forest.roots.append(start)
        forest.depth[start] = 0
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for i, other in around[node]:
                if other not in forest.depth:
                    forest.depth[other] = forest.depth[node] + 1
                    forest.edge_to[other] = i
                    forest.children[node].append(other)
                    queue.append(other)
    first = [min(node.words, default=math.inf) for node in nodes]
    for node in sorted(forest.depth, key=lambda node: -forest.depth[node]):
        first[node] = min([first[node], *(first[child] for child in forest.children[node])])
        forest.children[node].sort(key=lambda child: (first[child], child))
    return forest


Contour = list[tuple[float, float]]  # the left and right end of each layer


def _placed(node: int, below: Sequence[tuple[dict[int, float], Contour]], slot: float) -> tuple[dict, Contour]:
    """Return node → x of a node, which is 0, and of the nodes below it, and their contour.

    below: the same of each child
    """
    places: dict[int, float] = {}
    contour: Contour = []
    shifts = []
    for of_child, reach in below:
        shift = max((done[1] - new[0] + _GAP for done, new in zip(contour, reach)), default=0.0)
        shifts.append(shift)
        places |= {other: x + shift for other, x in of_child.items()}
        moved = [(left + shift, right + shift) for left, right in reach]
        joined = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(contour, moved)]
        contour = joined + contour[len(joined) :] + moved[len(joined) :]
    middle = (shifts[0] + shifts[-1]) / 2 if shifts else 0.0
    places = {other: x - middle for other, x in places.items()} | {node: 0.0}
    return places, [(-slot / 2, slot / 2), *((left - middle, right - middle) for left, right in contour)]


def _boxes(nodes: Sequence[Node], edges: Sequence[Edge], forest: Forest) -> list[Box]:
    """Return the places of the nodes, without heights."""
    widths = [max(node.width, 12.0 * len(forest.children[i])) for i, node in enumerate(nodes)]
    roles = {node: text_width(edges[i].role, "role") + 10 for node, i in forest.edge_to.items()}
    slots = [max(width, roles.get(node, 0.0)) for node, width in enumerate(widths)]
    parts: dict[int, tuple[dict[int, float], Contour]] = {}
    for node in sorted(forest.depth, key=lambda node: -forest.depth[node]):
        parts[node] = _placed(node, [parts.pop(child) for child in forest.children[node]], slots[node])
    boxes: dict[int, Box] = {}
    right = 0.0
    for places, contour in (parts[root] for root in forest.roots):
        left = min(low for low, _ in contour)
        for node, x in places.items():
            boxes[node] = Box(x - left + right, forest.depth[node], widths[node], slots[node])
        right += max(high for _, high in contour) - left + 2 * _GAP
    return [boxes[node] for node in range(len(nodes))]


class _Ports:
    """Places at the bottoms of nodes, those for several edges a little apart."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        self._boxes, self._used = boxes, Counter[tuple[int, int]]()

    def below(self, node: int, sign: int) -> float:
        """Return a place below the right (1) or left half (-1) of a node."""
        self._used[node, sign] += 1
        box, count = self._boxes[node], self._used[node, sign] - 1
        return box.x + sign * max(box.width / 2 - 6 - 5 * count, 2)

    def side(self, node: int, x: float) -> int:
        """Return the half of a node from which an edge goes to a column: the nearer one, or a free one right above."""
        box, near = self._boxes[node], 1 if x >= self._boxes[node].x else -1
        crowded = self._used[node, near] > self._used[node, -near] and abs(x - box.x) < box.width / 2
        return -near if crowded else near


def _route(edge: Edge, boxes: Sequence[Box], ports: _Ports) -> Run:
    """Return the run of a re-entrant edge from the bottom of its upper node to the side of its lower node.

    If both nodes are in one layer, it is attached to both bottoms.
    """
    role = text_width(edge.role, "role") + 4
    first, last = _ends(edge, boxes)
    upper, lower = boxes[first], boxes[last]
    sign = 1 if lower.x >= upper.x else -1
    if upper.row == lower.row:
        return Run(upper.row, ports.below(first, sign), ports.below(last, -sign), role)
    end = lower.x - sign * (lower.slot / 2 + _GAP / 2)
    return Run(upper.row, ports.below(first, ports.side(first, end)), end, role)


def _ends(edge: Edge, boxes: Sequence[Box]) -> tuple[int, int]:
    """Return the upper and the lower node of an edge."""
    source, _, target = edge
    return (source, target) if boxes[source].row <= boxes[target].row else (target, source)


def _give_tracks(runs: Iterable[Run], rows: int) -> list[int]:
    """Give each run a track, and return the number of tracks below each layer. Short runs get tracks near the nodes."""
    tracks: list[list[list[tuple[float, float]]]] = [[] for _ in range(rows)]
    for run in sorted(runs, key=lambda run: abs(run.end - run.start)):
        low, high = run.extent
        zone = tracks[run.row]
        free = (i for i, taken in enumerate(zone) if all(high < left or low > right for left, right in taken))
        run.track = next(free, len(zone))
        if run.track == len(zone):
            zone.append([])
        zone[run.track].append((low, high))
    return list(map(len, tracks))


class AmrLayout:
    """The places of the nodes and the routes of the edges of an AMR."""

    def __init__(self, nodes: Sequence[Node], edges: Sequence[Edge], top: int | None) -> None:
        self.edges, self.forest = edges, forest_of(nodes, edges, top)
        self.boxes = _boxes(nodes, edges, self.forest)
        ports, in_forest = _Ports(self.boxes), set(self.forest.edge_to.values())
        self.runs = {i: _route(edge, self.boxes, ports) for i, edge in enumerate(edges) if i not in in_forest}
        tracks = _give_tracks(self.runs.values(), max((box.row for box in self.boxes), default=-1) + 1)
        zones = [count * _TRACK + 4 if count else 0 for count in tracks]
        rows = [_BOX / 2]
        for zone in zones:
            rows.append(rows[-1] + _BOX + zone + _FAN + _ROLES + _ARROW)
        self.floor = rows[len(zones) - 1] + _BOX / 2 + zones[-1] + _BELOW if zones else 0.0
        self.bottoms = [row + _BOX / 2 + zone for row, zone in zip(rows, zones)]  # of zones
        for box in self.boxes:
            box.y = rows[box.row]
        for run in self.runs.values():
            middle = rows[run.row] + _BOX / 2 + (run.track + 0.5) * _TRACK + 4
            covers = abs(run.end - run.start) < run.role + 24  # the role would cover its run
            run.y, run.role_y = (middle - 6, middle + 5) if covers else (middle, middle)

    def ends(self, i: int) -> tuple[int, int]:
        """Return the upper and the lower node of an edge."""
        return _ends(self.edges[i], self.boxes)

    @property
    def extent(self) -> tuple[float, float]:
        """The lowest and highest x."""
        sides = [(box.x - box.slot / 2, box.x + box.slot / 2) for box in self.boxes]
        sides += [run.extent for run in self.runs.values()]
        return min((low for low, _ in sides), default=0.0), max((high for _, high in sides), default=0.0)


def amr_drawing(entry: AmrEntry, confidences: Sequence[float] = ()) -> str:
    """Return the graph of an entry, including `:wiki`, as a picture in SVG.

    Nodes are groups of the class `node`, in order, with the numbers of their words in `data-words`, from 0. Lines and
    roles of edges are groups of the class `edge`, with the number of the edge in `data-edge`.

    confidences: one for each node, except nodes of `:wiki`
    """
    graph = entry.amr
    words = entry.tokens or split_tokens(entry.metadata.get("snt", ""))
    aligned = [*(entry.alignments if words else ()), *[()] * len(graph)]
    known = [*confidences, *[None] * len(graph)]
    nodes = [Node(label, i in graph.constants, aligned[i], known[i]) for i, label in enumerate(graph.labels)]
    edges = [*graph.edges]
    for node, value in sorted(entry.wiki.items()):
        edges.append(Edge(node, "wiki", len(nodes)))
        nodes.append(Node(value, True, ()))
    return _drawing(words, nodes, edges, graph.top)


def steps_drawing(words: Sequence[str], configurations: Iterable[Mapping[str, Any]]) -> str:
    """Return all nodes and edges that a derivation makes; for the other parameters see `AmrState.as_data`."""
    nodes, edges, top = [], [], None
    for configuration in configurations:
        for _, label, is_constant, first, last in configuration["nodes"]:
            nodes.append(Node(label, is_constant, tuple(range(first, last + 1))))
        edges += [Edge(*edge) for edge in configuration["edges"]]
        top = configuration["top"]
    return _drawing(words, nodes, edges, top)


def _drawing(words: Sequence[str], nodes: Sequence[Node], edges: Sequence[Edge], top: int | None) -> str:
    layout = AmrLayout(nodes, edges, top)
    low, high = layout.extent
    lines = _word_places(words, (low + high) / 2, max(high - low, _WIDTH), layout.floor)
    for word, (x, _) in zip(words, lines, strict=True):
        half = text_width(word, "word") / 2
        low, high = min(low, x - half), max(high, x + half)
    parts = [text(word, x, y, "word") for word, (x, y) in zip(words, lines, strict=True)]
    parts += [text(str(i), x, y + 15, "tag") for i, (x, y) in enumerate(lines, 1)]
    drawn = sorted(_edges(layout))
    parts += [line for _, line, _ in drawn]
    parts += [role for _, _, role in drawn]
    parts += [_node(node, box, i == top) for i, (node, box) in enumerate(zip(nodes, layout.boxes, strict=True))]
    moved = element("g", *parts, transform=f"translate({number(_MARGIN - low)} {_MARGIN})")
    bottom = lines[-1][1] + 27 if lines else layout.floor - 22
    middle = layout.boxes[top].x + _MARGIN - low if top is not None else None
    label = f"AMR of: {' '.join(words)}"
    return picture(high - low + 2 * _MARGIN, bottom + _MARGIN, label, moved, middle=middle)


def _word_places(words: Sequence[str], middle: float, width: float, top: float) -> list[tuple[float, float]]:
    """Return the places of words in lines, which are centered around an x together."""
    x, y, most, places = 0.0, top, 0.0, []
    for i, word in enumerate(words, 1):
        wide = max(text_width(word, "word"), text_width(str(i), "tag"))
        if x and x + wide > width:
            x, y = 0.0, y + _LINE
        places.append((x + wide / 2, y))
        most = max(most, x + wide)
        x += wide + _WORD_GAP
    return [(x + middle - most / 2, y) for x, y in places]


def _edges(layout: AmrLayout) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each edge, its line and its role."""
    for parent, children in layout.forest.children.items():
        for k, child in enumerate(children):
            i, upper, lower = layout.forest.edge_to[child], layout.boxes[parent], layout.boxes[child]
            x = upper.x + 0.8 * ((k + 0.5) / len(children) - 0.5) * upper.width
            start, bottom, end = upper.y + _BOX / 2, layout.bottoms[upper.row], lower.y - _BOX / 2
            role = end - _ARROW - _ROLES  # the edge is straight beside the tracks and beside its role
            x1, x2, curve = number(x), number(lower.x), number((bottom + role) / 2)
            path = f"M{x1} {number(start)}V{number(bottom)}C{x1} {curve} {x2} {curve} {x2} {number(role)}V{number(end)}"
            point = (lower.x, end, 0, 1) if layout.edges[i].target == child else (x, start, 0, -1)
            yield _edge(layout, i, path, point, (lower.x, end - _ARROW - _ROLES / 2))
    for i, run in layout.runs.items():
        corners = _corners(run, *(layout.boxes[node] for node in layout.ends(i)))
        is_down = layout.ends(i)[1] == layout.edges[i].target
        before, last = corners[-2:] if is_down else corners[1::-1]
        point = (*last, last[0] - before[0], last[1] - before[1])
        place = (sum(run.role_range) / 2, run.role_y)
        yield _edge(layout, i, _rounded(corners), point, place, again=True)


def _edge(
    layout: AmrLayout, i: int, path: str, point: tuple[float, ...], place: tuple[float, float], again: bool = False
) -> tuple[int, str, str]:
    line = element("path", class_="line again" if again else "line", d=path)
    arrow = tip(*point, kind="tip againtip" if again else "tip")
    role = text(layout.edges[i].role, place[0], place[1] + 4, "role", "againrole" if again else "")
    return i, *(element("g", *parts, class_="edge", data_edge=i) for parts in ((line, arrow), (role,)))


def _corners(run: Run, upper: Box, lower: Box) -> list[tuple[float, float]]:
    """Return the corners of a re-entrant edge, from its upper node to its lower one."""
    corners = [(run.start, upper.y + _BOX / 2), (run.start, run.y), (run.end, run.y)]
    if upper.row == lower.row:
        return [*corners, (run.end, lower.y + _BOX / 2)]
    side = lower.width / 2 if run.end > lower.x else -lower.width / 2
    return [*corners, (run.end, lower.y), (lower.x + side, lower.y)]


def _rounded(corners: Sequence[tuple[float, float]]) -> str:
    """Return a path along corners, with rounded corners."""
    path = f"M{number(corners[0][0])} {number(corners[0][1])}"
    for before, (x, y), after in zip(corners, corners[1:], corners[2:]):
        ends = []
        for ox, oy in (before, after):
            length = math.hypot(ox - x, oy - y) or 1.0
            share = min(6.0, length / 2) / length
            ends.append(f"{number(x + share * (ox - x))} {number(y + share * (oy - y))}")
        path += f"L{ends[0]}Q{number(x)} {number(y)} {ends[1]}"
    return f"{path}L{number(corners[-1][0])} {number(corners[-1][1])}"


def _node(node: Node, box: Box, is_top: bool) -> str:
    x, y, left = box.x, box.y, box.x - box.width / 2
    parts = [title(node.label, node.confidence)]
    round_ = 0 if node.is_constant else 8
    for kind, margin in (("ring", 3.5),) * is_top + (("box", 0),):
        parts.append(
            element(
                "rect", class_=kind, x=left - margin, y=y - _BOX / 2 - margin, width=box.width + 2 * margin,
                height=_BOX + 2 * margin, rx=round_ + margin,
            )
        )  # fmt: skip
    parts.append(text(node.label, x + node.numbers_width / 2, y + 5, "constant" if node.is_constant else "concept"))
    parts.append(text(node.numbers, left + node.numbers_width / 2 + 5, y + 4, "tag"))
    kind = " ".join(filter(None, ("node", "value" if node.is_constant else "", doubt(node.confidence))))
    return element("g", *parts, class_=kind, data_words=" ".join(map(str, node.words)) or None)
