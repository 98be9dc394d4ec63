"""Pictures of AMRs: the graph with the places of `AmrLayout`, and its numbered words below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from transition_parser.drawing.amr_layout import ARROW, BOX, ROLES, AmrLayout, Box, Node, Run
from transition_parser.drawing.svg import doubt, element, figure, number, picture, text, text_width, tip, title
from transition_parser.graphs.amr import Edge
from transition_parser.graphs.bank import AmrEntry, split_tokens

_MARGIN, _LINE, _GAP = 14, 42, 14  # around the picture; height of a line of words; between words
_WIDTHS = (560, 320)  # the least widths of the lines of words: in a window, and on a phone


def amr_drawings(entry: AmrEntry, confidences: Sequence[float] = ()) -> list[str]:
    """Return the graph of an entry, including `:wiki`, as pictures in SVG, the widest first.

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
    return _drawings(words, nodes, edges, graph.top)


def steps_drawings(words: Sequence[str], configurations: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return all nodes and edges that a derivation makes; for the other parameters see `Amr.configuration`."""
    nodes, edges, top = [], [], None
    for configuration in configurations:
        for _, label, is_constant, first, last in configuration["nodes"]:
            nodes.append(Node(label, is_constant, tuple(range(first, last + 1))))
        edges += [Edge(*edge) for edge in configuration["edges"]]
        top = configuration["top"]
    return _drawings(words, nodes, edges, top)


def _drawings(words: Sequence[str], nodes: Sequence[Node], edges: Sequence[Edge], top: int | None) -> list[str]:
    layout = AmrLayout(nodes, edges, top)
    found = [_drawing(words, nodes, layout, top, width) for width in _WIDTHS]
    return list(dict.fromkeys(found))


def _drawing(words: Sequence[str], nodes: Sequence[Node], layout: AmrLayout, top: int | None, width: float) -> str:
    low, high = layout.extent
    lines = _word_places(words, (low + high) / 2, max(high - low, width), layout.floor)
    for word, (x, _) in zip(words, lines, strict=True):
        half = text_width(word, "word") / 2
        low, high = min(low, x - half), max(high, x + half)
    parts = [text(word, x, y, "word") for word, (x, y) in zip(words, lines, strict=True)]
    parts += [text(str(i), x, y + 15, "tag") for i, (x, y) in enumerate(lines, 1)]
    drawn = sorted(_edges(layout), key=lambda edge: edge.number)
    parts += [edge.line for edge in drawn]
    parts += [edge.role for edge in drawn]
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
        x += wide + _GAP
    return [(x + middle - most / 2, y) for x, y in places]


class _DrawnEdge(NamedTuple):
    number: int
    line: str
    role: str


def _edges(layout: AmrLayout) -> Iterator[_DrawnEdge]:
    for parent, children in layout.forest.children.items():
        for k, child in enumerate(children):
            i, upper, lower = layout.forest.edge_to[child], layout.boxes[parent], layout.boxes[child]
            x = upper.x + 0.8 * ((k + 0.5) / len(children) - 0.5) * upper.width
            start, bottom, end = upper.y + BOX / 2, layout.bottoms[upper.row], lower.y - BOX / 2
            role = end - ARROW - ROLES  # the edge is straight beside the tracks and beside its role
            x1, x2, curve = number(x), number(lower.x), number((bottom + role) / 2)
            path = f"M{x1} {number(start)}V{number(bottom)}C{x1} {curve} {x2} {curve} {x2} {number(role)}V{number(end)}"
            point = (lower.x, end, 0, 1) if layout.edges[i].target == child else (x, start, 0, -1)
            yield _edge(layout, i, path, point, (lower.x, end - ARROW - ROLES / 2))
    for i, runs in layout.runs.items():
        corners = _corners(runs, *(layout.boxes[node] for node in layout.ends(i)))
        is_down = layout.ends(i)[1] == layout.edges[i].target
        before, last = corners[-2:] if is_down else corners[1::-1]
        point = (*last, last[0] - before[0], last[1] - before[1])
        place = (sum(runs[0].role_range) / 2, runs[0].role_y)
        yield _edge(layout, i, _rounded(corners), point, place, again=True)


def _edge(
    layout: AmrLayout, i: int, path: str, point: tuple[float, ...], place: tuple[float, float], again: bool = False
) -> _DrawnEdge:
    line = element("path", class_="line again" if again else "line", d=path)
    arrow = tip(*point, kind="tip againtip" if again else "tip")
    role = text(layout.edges[i].role, place[0], place[1] + 4, "role", "againrole" if again else "")
    return _DrawnEdge(i, *(element("g", *parts, class_="edge", data_edge=i) for parts in ((line, arrow), (role,))))


def _corners(runs: Sequence[Run], upper: Box, lower: Box) -> list[tuple[float, float]]:
    """Return the corners of a re-entrant edge, from its upper node to its lower one."""
    corners = [(runs[0].start, upper.y + BOX / 2)]
    for run in runs:
        corners += [(run.start, run.y), (run.end, run.y)]
    last = runs[-1].end
    if upper.row == lower.row:
        return [*corners, (last, lower.y + BOX / 2)]
    side = lower.width / 2 if last > lower.x else -lower.width / 2
    return [*corners, (last, lower.y), (lower.x + side, lower.y)]


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
    x, y, left, right = box.x, box.y, box.x - box.width / 2, box.x + box.width / 2
    parts = [title(node.label, node.confidence)]
    round_ = 0 if node.is_constant else 8
    for kind, margin in (("ring", 3.5),) * is_top + (("box", 0),):
        parts.append(
            element(
                "rect", class_=kind, x=left - margin, y=y - BOX / 2 - margin, width=box.width + 2 * margin,
                height=BOX + 2 * margin, rx=round_ + margin,
            )
        )  # fmt: skip
    middle = x + (node.numbers_width - node.figure_width) / 2
    parts.append(text(node.label, middle, y + 5, "constant" if node.is_constant else "concept"))
    parts.append(text(node.numbers, left + node.numbers_width / 2 + 5, y + 4, "tag"))
    parts.append(text(figure(node.confidence), right - node.figure_width / 2 - 6, y + 4, "figure"))
    kind = " ".join(filter(None, ("node", "value" if node.is_constant else "", doubt(node.confidence))))
    return element("g", *parts, class_=kind, data_words=" ".join(map(str, node.words)) or None)
