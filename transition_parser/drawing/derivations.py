"""Pictures of dependency trees and of the derivations that build them; curves of trainings."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from transition_parser.base.errors import shortened, warn
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.transitions import Action, TransitionSystem

_STACK, _BUFFER, _GONE, _ARC = "#1b6ca8", "#3a7d44", "#c8c8c8", "#a4343a"
_INCH = 0.3  # height of one step, in inches
_LONGEST = 100  # maximum number of characters of a text in a picture
_UNWRITABLE = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # control and non-XML characters
_MISSING_GLYPH = re.compile(r"Glyph (\d+) .*missing from font\(s\) (.*?)\.?$")
_MOST_NAMED = 10  # upper limit of the characters that a warning names


def draw_derivation(
    system: TransitionSystem, words: Sequence[str], actions: Sequence[Action], path: str | os.PathLike
) -> None:
    """Draw the tree, and below it one line for each step of the derivation."""
    left, spacing = 2.3, _spacing(words)
    width = left + spacing * (len(words) + 1) + 3.0
    steps = len(actions) + 1
    tree = system.replay(words, actions)
    arcs_height = 0.35 * (max(_heights(tree)) + 2)
    figure = Figure(figsize=(width, arcs_height + _INCH * (steps + 2)))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(-_INCH * (steps + 1.5), arcs_height)
    axes.axis("off")
    places = [left + spacing * i for i in range(len(words) + 1)]
    _draw_tree(axes, tree, words, places)
    _draw_steps(axes, system, words, actions, places)
    save(figure, path)


def draw_tree(words: Sequence[str], tree: DependencyTree, file: str | os.PathLike | BinaryIO) -> None:
    """Draw a tree without a derivation. `file` is as for `save`."""
    spacing = _spacing(words)
    width, height = spacing * (len(words) + 1) + 0.2, 0.35 * (max(_heights(tree)) + 2)
    figure = Figure(figsize=(width, height + 0.1))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(-0.1, height)
    axes.axis("off")
    _draw_tree(axes, tree, words, [0.1 + spacing * (i + 0.5) for i in range(len(words) + 1)])
    save(figure, file)


def save(figure: Figure, file: str | os.PathLike | BinaryIO) -> None:
    """Write a picture in the format of the suffix of its name (.svg, .png, .pdf), or into an open file as SVG."""
    name = str(file) if isinstance(file, str | os.PathLike) else ".svg"
    settings = {"svg.fonttype": "none", "svg.hashsalt": "transition-parser"}  # text, not outlines
    with rc_context(settings), missing_glyphs() as missing:
        if name.endswith(".svg"):
            figure.savefig(file, format="svg", metadata={"Date": None})
        else:
            figure.savefig(file)
    if missing and not name.endswith(".svg"):  # programs that show SVG choose fonts themselves
        shown = [f"{character} (U+{ord(character):04X})" for character in list(missing)[:_MOST_NAMED]]
        more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        problem = f"the font {', '.join(dict.fromkeys(missing.values()))} lacks {', '.join(shown)}{more}"
        warn(f"{problem}, so boxes are drawn for these characters: write .svg, which can use other fonts")


@contextmanager
def missing_glyphs() -> Iterator[dict[str, str]]:
    """Collect matplotlib's warnings of missing glyphs while the block runs: character → font."""
    missing: dict[str, str] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield missing
        glyphs = [(_MISSING_GLYPH.match(str(warning.message)), warning) for warning in caught]
        missing |= {chr(int(glyph[1])): glyph[2] for glyph, _ in glyphs if glyph}
    for glyph, warning in glyphs:
        if not glyph:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


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


def _text(axes: Axes, x: float, y: float, text: str, **style) -> None:
    axes.text(x, y, drawable(text), parse_math=False, **style)


def _spacing(words: Sequence[str]) -> float:
    """Return the distance from one word to the next in inches."""
    return max(0.45, 0.11 * max(len(drawable(word)) for word in words) + 0.2)


def _heights(tree: DependencyTree) -> list[int]:
    """Return the level of each word's arc, from 1. An arc is one level above the highest arc inside its span."""
    spans = sorted((abs(_position(head, tree) - word), word, head) for word, head in enumerate(tree.heads, 1))
    level: dict[int, int] = {}
    for _length, word, head in spans:
        low, high = sorted((word, _position(head, tree)))
        inside = [
            level[w]
            for w, other in ((w, _position(tree.heads[w - 1], tree)) for w in level)
            if low <= min(w, other) and max(w, other) <= high
        ]
        level[word] = max(inside, default=0) + 1
    return [level[word] for word in range(1, len(tree) + 1)]


def _position(head: int, tree: DependencyTree) -> int:
    """Return the position of a head; the root stands after the last word."""
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
        built = ""
        if step:
            before, state = state, system.apply(state, actions[step - 1])
            built = _built(before.heads, state.heads, names)
            _text(axes, 0.1, y, str(actions[step - 1]), fontsize=8, family="monospace")
        for word, place in enumerate(places):
            in_stack, in_buffer = word in state.stack, word in state.buffer
            color = _STACK if in_stack else _BUFFER if in_buffer else _GONE
            weight = "bold" if word in (state.stack[-1:] or (None,)) else "normal"
            _text(axes, place, y, names[word], ha="center", fontsize=8, color=color, weight=weight)
        _text(axes, places[-1] + 0.5, y, built, fontsize=8, color=_ARC)


def _built(before: tuple[int, ...], after: tuple[int, ...], names: Sequence[str]) -> str:
    for word, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            return f"{names[new]} → {names[word]}"
    return ""
