"""Pictures of dependency trees and of the derivations that build them; curves of trainings."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any, BinaryIO

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Arc
from matplotlib.textpath import text_to_path

from transition_parser.base.errors import shortened, warn
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, TransitionSystem

_STACK, _BUFFER, _GONE, _ARC = "#1b6ca8", "#3a7d44", "#c8c8c8", "#a4343a"
_INCH = 0.3  # height of one step, in inches
_LONGEST = 100  # maximum number of characters of a text in a picture
_UNWRITABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # control and non-XML characters


def draw_derivation(
    system: TransitionSystem, words: Sequence[str], actions: Sequence[Action], path: str | os.PathLike
) -> None:
    """Draw the tree, and below it one line for each step of the derivation."""
    tree = system.replay(words, actions)
    places = [2.0 + place for place in _places(words)]
    axes = page(0, places[-1] + 3.5, -_INCH * (len(actions) + 3), 0.35 * (max(_heights(tree)) + 2))
    _draw_tree(axes, tree, words, places)
    _draw_steps(axes, system, words, actions, places)
    save(axes.figure, path)


def draw_tree(words: Sequence[str], tree: DependencyTree, file: str | os.PathLike | BinaryIO) -> None:
    """Draw a tree without a derivation. `file` is as for `save`."""
    places = _places(words)
    axes = page(0, places[-1] + 0.4, -0.1, 0.35 * (max(_heights(tree)) + 2))
    _draw_tree(axes, tree, words, places)
    save(axes.figure, file)


def page(left: float, right: float, bottom: float, top: float) -> Axes:
    """Return the axes of a new figure, whose coordinates are inches."""
    axes = Figure(figsize=(right - left, top - bottom), dpi=150).add_axes((0, 0, 1, 1))
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.axis("off")
    return axes


def save(figure: FigureBase, file: str | os.PathLike | BinaryIO) -> None:
    """Write a picture in the format of the suffix of its name (.svg, .png, .pdf), or into an open file as SVG."""
    is_svg = not isinstance(file, str | os.PathLike) or str(file).endswith(".svg")
    options: dict[str, Any] = {"format": "svg", "metadata": {"Date": None}} if is_svg else {}
    settings = {"svg.fonttype": "none", "svg.hashsalt": "transition-parser"}  # text, not outlines
    with rc_context(settings), missing_glyphs() as missing:
        figure.savefig(file, **options)
    if missing and not is_svg:  # programs that show SVG choose fonts themselves
        warn("the font lacks some characters, for which boxes are drawn: write .svg, which can use other fonts")


@contextmanager
def missing_glyphs() -> Iterator[list[warnings.WarningMessage]]:
    """Yield a list that gets matplotlib's warnings, which are of missing glyphs, while the block runs."""
    with warnings.catch_warnings(record=True) as missing:
        warnings.filterwarnings("always", "Glyph .* missing from")
        yield missing


def drawable(text: str) -> str:
    """Return the text as pictures show it.

    Each control character and each character that XML forbids becomes U+FFFD, and a long text is shortened.

    >>> drawable("a\\x07b")
    'a\ufffdb'
    """
    return _UNWRITABLE.sub("\ufffd", shortened(text, _LONGEST))


def svg_of(draw: Callable[[BinaryIO], None]) -> str:
    """Return the SVG that `draw` writes into a file, as an `<svg>` element for HTML."""
    file = io.BytesIO()
    draw(file)
    text = file.getvalue().decode("utf-8")
    return text[text.index("<svg") :]


# colours of pictures → colours that fit a page of dark or light text; white becomes the colour of the page, which has
# a name of its own in JupyterLab, VS Code and Colab
_IN_PAGE = {
    "#ffffff": "var(--jp-layout-color0, var(--vscode-editor-background, var(--colab-primary-surface-color, Canvas)))",
    "#444444": "currentColor",
    "#c4c4c4": "color-mix(in srgb, currentColor 30%, transparent)",
    **{color: f"color-mix(in srgb, {color} 70%, currentColor)" for color in (_STACK, _BUFFER, _ARC)},
}


def in_page(svg: str) -> str:
    """Return the HTML of a picture in the colours of the page; a wide picture is not shrunk, but gets a scroll bar."""
    svg = re.sub("<style.*?</style>", "", svg, flags=re.DOTALL)  # it would hold for the whole page
    svg = svg.replace("#ffffff", "none", 1)  # the background
    svg = re.sub("#[0-9a-f]{6}", lambda color: _IN_PAGE.get(color[0], color[0]), svg)
    svg = svg.replace("<svg", '<svg style="max-width: none" fill="currentColor"', 1)
    return f'<div style="overflow-x: auto">{svg}</div>'


def _text(axes: Axes, x: float, y: float, text: str, **style) -> None:
    axes.text(x, y, drawable(text), parse_math=False, **style)


def text_width(text: str, points: float) -> float:
    """Return the width of a text in inches. A font that lacks characters gives no warning, because `save` warns."""
    with missing_glyphs():
        width = text_to_path.get_text_width_height_descent(drawable(text), FontProperties(size=points), ismath=False)[0]
    return width / 72


def _places(words: Sequence[str]) -> list[float]:
    """Return the centre of each word, and of the root behind them, in inches; labels of most short arcs fit between."""
    widths = [text_width(word, 10) for word in (*words, "ROOT")]
    steps = (max((before + width) / 2 + 0.15, 0.55) for before, width in pairwise(widths))
    return [*accumulate(steps, initial=widths[0] / 2 + 0.15)]


def _heights(tree: DependencyTree) -> list[int]:
    """Return the level of each word's arc, from 1. An arc is one level above the highest arc inside its span."""
    arcs = [(*sorted((word, _position(head, tree))), word) for word, head in enumerate(tree.heads, 1)]
    level: dict[tuple[int, int, int], int] = {}
    for arc in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc[2])):
        inside = [level[other] for other in level if arc[0] <= other[0] and other[1] <= arc[1]]
        level[arc] = max(inside, default=0) + 1
    return [level[arc] for arc in arcs]


def _position(head: int, tree: DependencyTree) -> int:
    return head or len(tree) + 1


def _draw_tree(axes: Axes, tree: DependencyTree, words: Sequence[str], places: Sequence[float]) -> None:
    for place, word in zip(places, [*words, "ROOT"], strict=True):
        _text(axes, place, 0, word, ha="center", va="bottom", fontsize=10)
    for word, (head, relation, level) in enumerate(zip(tree.heads, tree.relations, _heights(tree), strict=True), 1):
        start, end = places[_position(head, tree) - 1], places[word - 1]
        middle, height = (start + end) / 2, 0.35 * level
        axes.add_patch(Arc((middle, 0.25), abs(start - end), 2 * height, theta1=0, theta2=180, color=_ARC))
        axes.annotate("", (end, 0.22), (end, 0.34), arrowprops={"arrowstyle": "-|>", "color": _ARC})
        _text(axes, middle, 0.26 + height, relation, ha="center", va="bottom", fontsize=7)


def _draw_steps(
    axes: Axes, system: TransitionSystem, words: Sequence[str], actions: Sequence[Action], places: Sequence[float]
) -> None:
    names = [*words, "ROOT"]
    y = -_INCH
    _text(axes, 0.1, y, "action", fontsize=8, weight="bold")
    for x, text, color in ((0, "stack", _STACK), (0.5, "buffer", _BUFFER), (1.05, "done", "#888888")):
        _text(axes, places[0] + x, y, text, fontsize=8, weight="bold", color=color)
    state = system.initial(words)
    for step in range(len(actions) + 1):
        y -= _INCH
        if step:
            before, state = state, system.apply(state, actions[step - 1])
            _text(axes, 0.1, y, str(actions[step - 1]), fontsize=8, family="monospace")
            changes = enumerate(zip(before.heads, state.heads, strict=True))
            for word, head in ((word, new) for word, (old, new) in changes if old != new):
                _text(axes, places[-1] + 0.5, y, f"{names[head]} → {names[word]}", fontsize=8, color=_ARC)
        for word, place in enumerate(places):
            in_stack, in_buffer = word in state.stack, word in state.buffer
            color = _STACK if in_stack else _BUFFER if in_buffer else _GONE
            weight = "bold" if word in (state.stack[-1:] or (None,)) else "normal"
            _text(axes, place, y, names[word], ha="center", fontsize=8, color=color, weight=weight)
