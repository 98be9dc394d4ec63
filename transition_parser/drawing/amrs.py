"""Pictures of AMRs: the graph in layers, its sentence below, and grey lines from nodes to their words."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO, NamedTuple

import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from transition_parser.drawing.derivations import drawable, page, save, text_width
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry, split_tokens

_CONCEPT, _CONSTANT, _EDGE, _REENTRANT, _WORD = "#1b6ca8", "#3a7d44", "#444444", "#a4343a", "#c4c4c4"
_SIZES = {"concept": 10, "constant": 9, "role": 8, "word": 10}  # points
_LAYER, _BOX, _GAP, _MARGIN = 0.95, 0.26, 0.18, 0.3  # inches: between layers, node height, between nodes, border
_BENDS = (0.08, -0.08, 0.18, -0.18, 0.3, -0.3, 0.45, -0.45, 0.65, -0.65)  # to try for re-entrant edges; share of length
_LABEL_PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)  # places to try for the label of a re-entrant edge


class _Rectangle(NamedTuple):
    """A rectangle, in inches."""

    x: float  # the centre
    y: float
    width: float
    height: float

    def overlap(self, other: _Rectangle) -> float:
        """Return the area that both rectangles cover."""
        wide = (self.width + other.width) / 2 - abs(self.x - other.x)
        high = (self.height + other.height) / 2 - abs(self.y - other.y)
        return wide * high if wide > 0 and high > 0 else 0.0

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Return a mask of the points inside: (n,) bool for (n, 2) points."""
        return (abs(points[:, 0] - self.x) < self.width / 2) & (abs(points[:, 1] - self.y) < self.height / 2)


@dataclass
class _Tree:
    depth: dict[int, int]
    edges: dict[int, Edge] = field(default_factory=dict)  # node → the edge that reaches it from its parent
    children: dict[int, list[int]] = field(default_factory=dict)
    rest: list[Edge] = field(default_factory=list)  # the edges of the graph that are not in the tree


def draw_amr(entry: AmrEntry, file: str | os.PathLike | BinaryIO) -> None:
    """Draw the graph of an entry, including `:wiki`, above its words."""
    wiki = list(enumerate(sorted(entry.wiki.items()), len(entry.graph)))
    graph = AmrGraph(
        (*entry.graph.labels, *(value for _, (_, value) in wiki)),
        entry.graph.constants | {constant for constant, _ in wiki},
        (*entry.graph.edges, *(Edge(node, "wiki", constant) for constant, (node, _) in wiki)),
        entry.graph.top,
    )
    words = entry.tokens or split_tokens(entry.metadata.get("snt", ""))
    aligned = entry.alignments if words else ()
    alignments = [*aligned, *[()] * (len(graph) - len(aligned))]
    tree = _breadth_first(graph, alignments)
    widths = [_width(word, "word") for word in words]
    places = [0.0] * bool(words)  # the centres of the words
    for before, width in pairwise(widths):
        places.append(places[-1] + (before + width) / 2 + 0.12)
    boxes = _boxes(graph, tree, places[-1] + widths[-1] / 2 if words else 0.0)
    left = min(box.x - box.width / 2 for box in boxes)
    right = max(box.x + box.width / 2 for box in boxes)
    if words:
        first, last = widths[0] / 2, places[-1] + widths[-1] / 2
        middle = (left + right + first - last) / 2
        places = [place + middle for place in places]
        left, right = min(left, places[0] - first), max(right, middle + last)
    bottom = min(box.y for box in boxes) - _LAYER
    above = _BOX + _MARGIN + (0.5 * _LAYER if tree.rest else 0.0)  # room for curved edges
    page = _Page(left - _MARGIN, right + _MARGIN, bottom - _MARGIN, above)
    for place, word, width in zip(places, words, widths, strict=True):
        page.text(place, bottom, word, "word")
        page.taken.append(_Rectangle(place, bottom, width + 0.12, 0.2))
    for box, tokens in zip(boxes, alignments, strict=True):
        for token in tokens:
            page.axes.plot([box.x, places[token]], [box.y, bottom + 0.12], color=_WORD, linewidth=0.8, zorder=0.5)
    _draw_nodes(page, graph, boxes)
    _draw_tree(page, tree, boxes)
    for edge in tree.rest:
        _draw_reentrancy(page, edge, boxes)
    save(page.axes.figure, file)


def _breadth_first(graph: AmrGraph, alignments: Sequence[Sequence[int]]) -> _Tree:
    """Return the tree. Siblings are sorted by the first word that they or their descendants are aligned to."""
    tree = _Tree({graph.top: 0})
    queue = deque([graph.top])
    while queue:
        node = queue.popleft()
        tree.children[node] = []
        for edge in graph.edges:
            if node not in (edge.source, edge.target):
                continue
            other = edge.target if edge.source == node else edge.source
            if other not in tree.depth:
                tree.depth[other] = tree.depth[node] + 1
                tree.edges[other] = edge
                tree.children[node].append(other)
                queue.append(other)
    used = set(tree.edges.values())
    tree.rest = [edge for edge in graph.edges if edge not in used]
    first_words: dict[int, int] = {}
    for node in sorted(tree.depth, key=tree.depth.__getitem__, reverse=True):
        key, keys = -1, {}
        for child in tree.children[node]:  # a child without words stays after the sibling before it
            key = keys[child] = first_words.get(child, key)
        tree.children[node].sort(key=keys.__getitem__)
        below = [first_words[child] for child in tree.children[node] if child in first_words]
        if below or alignments[node]:
            first_words[node] = min([*below, *alignments[node]])
    return tree


def _width(text: str, kind: str) -> float:
    """Return the width of a text in inches."""
    return text_width(text, _SIZES[kind])


def _boxes(graph: AmrGraph, tree: _Tree, wanted: float) -> list[_Rectangle]:
    """Return the boxes of the nodes; the centre of the top node is at (0, 0)."""
    widths = []
    for node, label in enumerate(graph.labels):
        text = _width(label, "constant" if node in graph.constants else "concept")
        widths.append(max(text + 0.2, 0.13 * len(tree.children[node])))
    slots = [
        max(width, _width(tree.edges[node].role, "role") + 0.1 if node in tree.edges else 0.0)
        for node, width in enumerate(widths)
    ]
    places, contour = _placed(graph.top, tree, slots)
    extent = max(right for _, right in contour) - min(left for left, _ in contour)
    stretch = min(max(wanted / extent, 1.0), 1.6)
    return [
        _Rectangle(stretch * places[node], -_LAYER * tree.depth[node], widths[node], _BOX) for node in range(len(graph))
    ]


def _placed(node: int, tree: _Tree, slots: Sequence[float]) -> tuple[dict[int, float], list[tuple[float, float]]]:
    """Return the x of each node below `node`, at 0, and the ends of its layers. Source: Reingold and Tilford 1981"""
    places: dict[int, float] = {}
    contour: list[tuple[float, float]] = []
    roots = []
    for child in tree.children[node]:
        below, reach = _placed(child, tree, slots)
        shift = max((done[1] - new[0] + _GAP for done, new in zip(contour, reach, strict=False)), default=0.0)
        roots.append(shift)
        places |= {other: x + shift for other, x in below.items()}
        moved = [(left + shift, right + shift) for left, right in reach]
        joined = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(contour, moved, strict=False)]
        contour = joined + contour[len(joined) :] + moved[len(joined) :]
    middle = (roots[0] + roots[-1]) / 2 if roots else 0.0
    places = {other: x - middle for other, x in places.items()} | {node: 0.0}
    half = slots[node] / 2
    return places, [(-half, half), *((left - middle, right - middle) for left, right in contour)]


class _Page:
    """A figure whose coordinates are inches."""

    def __init__(self, left: float, right: float, bottom: float, top: float) -> None:
        self.axes = page(left, right, bottom, top)
        self.inside = _Rectangle((left + right) / 2, (bottom + top) / 2, right - left, top - bottom)
        self.taken: list[_Rectangle] = []
        self.curves: list[np.ndarray] = []

    def text(self, x: float, y: float, text: str, kind: str, **style) -> None:
        self.axes.text(x, y, drawable(text), parse_math=False, fontsize=_SIZES[kind], ha="center", va="center", **style)

    def edge(self, points: np.ndarray, role: str, label: _Rectangle, color: str, line: str = "-") -> None:
        """Draw an arrow along (n, 2) points, and its label."""
        self.axes.add_patch(
            FancyArrowPatch(
                path=Path(points), arrowstyle="-|>", mutation_scale=9, color=color, linewidth=1,
                linestyle=line, zorder=1, capstyle="butt",
            )
        )  # fmt: skip
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        self.text(label.x, label.y, role, "role", color=color, zorder=2, bbox=box)
        self.taken.append(label)
        self.curves.append(points)

    def crowding(self, points: np.ndarray, ends: Sequence[_Rectangle]) -> float:
        """Return how much a curve (n, 2) leaves the page, runs along edges, or crosses nodes, words or labels."""
        within = [rectangle.contains(points) for rectangle in self.taken if rectangle not in ends]
        crossed = sum(inside.any() + 8 * inside.mean() for inside in within)
        drawn = np.concatenate([*self.curves, np.full((1, 2), np.inf)])
        nearest = np.hypot(*(points[:, None] - drawn).transpose(2, 0, 1)).min(axis=1)
        outside = ~self.inside.contains(points)
        return float(crossed + 2 * (nearest < 0.07).mean() + 20 * outside.mean())


def _draw_nodes(page: _Page, graph: AmrGraph, boxes: Sequence[_Rectangle]) -> None:
    for node, (label, box) in enumerate(zip(graph.labels, boxes, strict=True)):
        constant = node in graph.constants
        color = _CONSTANT if constant else _CONCEPT
        height = 0.8 * box.height if constant else box.height
        page.axes.add_patch(
            FancyBboxPatch(
                (box.x - box.width / 2, box.y - height / 2), box.width, height,
                boxstyle="square,pad=0" if constant else "round,pad=0,rounding_size=0.08",
                facecolor="white", edgecolor=color, linewidth=2 if node == graph.top else 1, zorder=3,
            )
        )  # fmt: skip
        page.text(box.x, box.y - 0.01, label, "constant" if constant else "concept", color=color, zorder=4)
        page.taken.append(box)


def _draw_tree(page: _Page, tree: _Tree, boxes: Sequence[_Rectangle]) -> None:
    t = np.linspace(0, 1, 41)[:, None]
    for child, edge in tree.edges.items():
        parent = edge.source if edge.target == child else edge.target
        siblings = tree.children[parent]
        # a curve (n, 2) from the lower border of one node to the upper border of another
        upper, lower, share = boxes[parent], boxes[child], (siblings.index(child) + 0.5) / len(siblings)
        start = np.array([upper.x + 0.8 * (share - 0.5) * upper.width, upper.y - upper.height / 2])
        end = np.array([lower.x, lower.y + lower.height / 2])
        first, second = np.array([start[0], (start[1] + end[1]) / 2]), np.array([end[0], start[1] - 0.05])
        points = (1 - t) ** 3 * start + 3 * (1 - t) ** 2 * t * first + 3 * (1 - t) * t**2 * second + t**3 * end
        label = _label(points, 0.66, edge.role)
        page.edge(points if edge.target == child else points[::-1], edge.role, label, _EDGE)


def _label(points: np.ndarray, place: float, role: str) -> _Rectangle:
    x, y = points[int(place * (len(points) - 1))]
    return _Rectangle(x, y, _width(role, "role") + 0.04, 0.16)


def _draw_reentrancy(page: _Page, edge: Edge, boxes: Sequence[_Rectangle]) -> None:
    """Draw an edge and its label where they collide least with the drawing so far."""
    ends = boxes[edge.source], boxes[edge.target]
    ways = []
    for bend in _BENDS:
        points = _bow(*ends, bend)
        cost = page.crowding(points, ends) + abs(bend)
        for place in _LABEL_PLACES:
            label = _label(points, place, edge.role)
            covered = sum(label.overlap(other) for other in page.taken) / (label.width * label.height)
            hidden = sum(label.contains(curve).any() for curve in page.curves)
            ways.append((round(cost + 4 * covered + hidden, 6), len(ways), points, label))
    _cost, _number, points, label = min(ways, key=lambda way: way[:2])
    page.edge(points, edge.role, label, _REENTRANT, "--")


def _bow(source: _Rectangle, target: _Rectangle, bend: float) -> np.ndarray:
    """Return a curve (n, 2) between two nodes, `bend` times as high as it is long, or a loop at a single node."""
    start, end = np.array([source.x, source.y]), np.array([target.x, target.y])
    t = np.linspace(0, 1, 201)[:, None]
    if source == target:
        reach = np.array([source.width, 1.5 * source.height])
        return start + reach * (0.5 + abs(bend)) * np.hstack([np.sin(np.pi * t), np.sin(2 * np.pi * t)])[40:-40]
    across = np.array([start[1] - end[1], end[0] - start[0]])
    control = (start + end) / 2 + 2 * bend * across
    points = (1 - t) ** 2 * start + 2 * (1 - t) * t * control + t**2 * end
    return points[~source.contains(points) & ~target.contains(points)]
