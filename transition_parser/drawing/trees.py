"""Pictures of trees: arcs above words, in one line or in several, or upright, a word a line; derivations; LaTeX."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple

from transition_parser.drawing.svg import doubt, element, figure, number, picture, text, text_width, tip, title
from transition_parser.graphs.conllu import Sentence
from transition_parser.text.columns import UNKNOWN
from transition_parser.transitions import Action, TransitionSystem

_LEVEL, _TURN, _GAP, _FOOT = 26, 7, 14, 6  # height of a level, radius of corners, between words, between feet of arcs
_LONG = 560  # the length from which the relation stands at the dependent: a window seldom shows the middle and an end
_WIDTHS, _LINE_GAP = (1080, 700), 18  # widths of pictures in several lines: of a window, and of a tablet
_PHONE, _ROW, _COLUMNS = 330, 24, (6, 16)  # upright: width of a picture, height of a word, widths of a level


class Arc(NamedTuple):
    """An arc. In a picture of several lines, `head` and `word` count the places of a line, `ends` the words."""

    head: int  # from 0; -1 for the root
    word: int
    relation: str
    confidence: float | None
    ends: tuple[int, ...]  # the dependent, and the head unless it is the root

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last of both ends."""
        return min(self.head, self.word), max(self.head, self.word)

    @property
    def width(self) -> float:
        """The width of the relation and of the figure below it."""
        return max(text_width(self.relation, "role"), text_width(figure(self.confidence), "figure"))


@dataclass(frozen=True)
class WordsWithArcs:
    """The words of a tree, or of one of its lines, whose first and last word are places outside of it, ''."""

    words: Sequence[str]
    rows: dict[str, Sequence[str]]  # kind of text → the values below the words
    arcs: Sequence[Arc]
    is_line: bool = False

    def line(self, start: int, end: int) -> WordsWithArcs:
        """Return the words from `start` to before `end`; arcs that leave the line end at a place outside of it."""

        def place(word: int) -> int:
            return min(max(word - start + 1, 0), end - start + 1)

        arcs = [
            arc._replace(head=place(arc.head) if arc.head >= 0 else -1, word=place(arc.word))
            for arc in self.arcs
            if (start <= arc.word < end if arc.head < 0 else arc.span[0] < end and arc.span[1] >= start)
        ]
        rows = {kind: ["", *values[start:end], ""] for kind, values in self.rows.items()}
        return WordsWithArcs(["", *self.words[start:end], ""], rows, arcs, is_line=True)


def tree_drawings(sentence: Sentence, confidences: Sequence[float] = ()) -> list[str]:
    """Return a tree as pictures in SVG, the widest first: in one line, in several lines, and upright.

    Arcs are groups of the class `arc`, with the numbers of dependent and head in `data-words`, from 0.

    confidences: of each word's arc
    """
    tree = tree_of(sentence, confidences)
    layout = TreeLayout(tree)
    label = f"Tree of: {' '.join(tree.words)}"
    drawings, narrowest = [picture(layout.width, layout.height, label, *layout.parts())], layout.width
    for width in _WIDTHS:
        lines = [TreeLayout(tree.line(*ends)) for ends in _breaks(layout, width)] if narrowest > width else []
        wide = max((line.width for line in lines), default=narrowest)
        if wide < narrowest:
            narrowest, tops = wide, [0.0, *accumulate(line.height + _LINE_GAP for line in lines)]
            parts = (
                element("g", *line.parts(wide), transform=f"translate(0 {number(top)})")
                for line, top in zip(lines, tops)
            )
            drawings.append(picture(wide, tops[-1] - _LINE_GAP, label, *parts))
    if narrowest > _PHONE:
        drawings.append(_upright(tree, label))
    return drawings


def tree_of(sentence: Sentence, confidences: Sequence[float] = ()) -> WordsWithArcs:
    """Return the words and arcs of a tree, with the rows below the words where these are known."""
    tree, rows = sentence.tree(), sentence.words
    known = {"tag": [row.upos for row in rows], "lemma": [row.lemma for row in rows]}
    below = {
        kind: ["" if value == UNKNOWN else value for value in values]
        for kind, values in known.items()
        if any(value not in ("", UNKNOWN) for value in values)
    }
    arcs = [
        Arc(head - 1, word, relation, confidences[word] if confidences else None, (word, head - 1)[: 2 if head else 1])
        for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True))
    ]
    return WordsWithArcs(sentence.forms, below, arcs)


def _levels(arcs: Sequence[Arc]) -> list[int]:
    """Return the level of each arc: above all shorter arcs that overlap with it, and 0 for arcs from the root."""
    levels, done = [0] * len(arcs), []
    for i in sorted(range(len(arcs)), key=lambda i: (arcs[i].span[1] - arcs[i].span[0], arcs[i].span)):
        if arcs[i].head >= 0:
            low, high = arcs[i].span
            levels[i] = 1 + max((level for first, last, level in done if first < high and last > low), default=0)
            done.append((low, high, levels[i]))
    return levels


def _feet(arcs: Sequence[Arc], gap: float) -> dict[tuple[int, int], float]:
    """Return (arc, word) → where the arc meets the word, from its middle; short arcs are further from it."""
    ends: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, arc in enumerate(arcs):
        if arc.head >= 0:
            side = 1 if arc.head > arc.word else -1
            ends[arc.word, side].append(i)
            ends[arc.head, -side].append(i)
    roots = {arc.word for arc in arcs if arc.head < 0}
    return {
        (i, word): side * gap * (rank + (1.1 if word in roots else 0.6))
        for (word, side), numbers in ends.items()
        for rank, i in enumerate(sorted(numbers, key=lambda i: arcs[i].span[0] - arcs[i].span[1]))
    }


class TreeLayout:
    """The places of words and arcs."""

    def __init__(self, tree: WordsWithArcs) -> None:
        self.tree, self.levels, self.feet = tree, _levels(tree.arcs), _feet(tree.arcs, _FOOT)
        widths = [text_width(word, "word") for word in tree.words]
        for kind, values in tree.rows.items():
            widths = [max(width, text_width(value, kind)) for width, value in zip(widths, values, strict=True)]
        for arc in tree.arcs:
            if arc.head < 0:  # its figure is beside the relation
                beside = 2 * text_width(figure(arc.confidence), "figure")
                widths[arc.word] = max(widths[arc.word], text_width(arc.relation, "role") + beside)
        self.gaps = [max((before + width) / 2 + _GAP, 22) for before, width in pairwise(widths)]
        self._make_room()
        self.places = [*accumulate(self.gaps, initial=widths[0] / 2 + 10)]
        self.width = self.places[-1] + widths[-1] / 2 + 10
        has_root = not tree.is_line or any(arc.head < 0 for arc in tree.arcs)
        self.base = _LEVEL * (max(self.levels, default=0) + (1.4 if has_root else 0.6)) + 8
        self.height = self.base + 26 + 16 * len(tree.rows)

    def _make_room(self) -> None:
        """Widen the gaps, so that feet of neighbors do not meet and each arc is as long as its relation."""
        arcs, gaps = self.tree.arcs, self.gaps
        reach: dict[tuple[int, bool], float] = defaultdict(float)
        for (_, word), foot in self.feet.items():
            reach[word, foot > 0] = max(reach[word, foot > 0], abs(foot))
        for i in range(len(gaps)):
            gaps[i] = max(gaps[i], reach[i, True] + reach[i + 1, False] + 8)
        for i in sorted(range(len(arcs)), key=lambda i: arcs[i].span[1] - arcs[i].span[0]):
            if arcs[i].head >= 0:
                low, high = arcs[i].span
                lacking = arcs[i].width + 12 + self.feet[i, low] - self.feet[i, high] - sum(gaps[low:high])
                for gap in range(low, high):
                    gaps[gap] += max(lacking, 0.0) / (high - low)

    def parts(self, width: float | None = None) -> Iterator[str]:
        """Yield the elements: arcs, words, and the rows below them. Arcs that leave a line end at its `width`."""
        tree, last, base = self.tree, len(self.tree.words) - 1, self.base
        for i, arc in enumerate(tree.arcs):
            yield element(
                "g", title(arc.relation, arc.confidence), *(self._root(arc) if arc.head < 0 else self._arc(i, width)),
                class_=f"arc {doubt(arc.confidence)}".rstrip(), data_words=" ".join(map(str, arc.ends)),
            )  # fmt: skip
        for i, (word, place) in enumerate(zip(tree.words, self.places, strict=True)):
            if not (tree.is_line and i in (0, last)):
                yield text(word, place, base + 18, "word")
                for row, (kind, values) in enumerate(tree.rows.items()):
                    yield text(values[i], place, base + 34 + 16 * row, kind)

    def _end(self, i: int, word: int, width: float | None) -> tuple[float, bool]:
        """Return the x of an end of an arc, and True where the arc leaves the line there."""
        is_open = self.tree.is_line and word in (0, len(self.tree.words) - 1)
        return ((width or self.width) if word else 0.0) if is_open else self.places[word] + self.feet[i, word], is_open

    def _arc(self, i: int, width: float | None) -> Iterator[str]:
        arc, base = self.tree.arcs[i], self.base
        (start, from_outside), (end, to_outside) = (self._end(i, word, width) for word in (arc.head, arc.word))
        top, sign = base - _LEVEL * self.levels[i], 1 if end > start else -1
        turn = sign * min(_TURN, abs(end - start) / 2)
        x, y, x1, x2, y1 = map(number, (start, top, start + turn, end - turn, top + abs(turn)))
        path = f"M{x} {y}" if from_outside else f"M{x} {number(base)}V{y1}Q{x} {y} {x1} {y}"
        x = number(end)
        yield element(
            "path", class_="line",
            d=path + (f"H{x}" if to_outside else f"H{x2}Q{x} {y} {x} {y1}V{number(base - 4)}"),
        )  # fmt: skip
        if not to_outside:
            yield tip(end, base + 1, 0, 1)
        is_short = abs(end - start) < _LONG or to_outside
        middle = (start + end) / 2 if is_short else end - sign * (48 + arc.width / 2)
        yield text(arc.relation, middle, top + 4, "role")
        yield text(figure(arc.confidence), middle, top + 15, "figure")

    def _root(self, arc: Arc) -> Iterator[str]:
        x, said = self.places[arc.word], figure(arc.confidence)
        yield element("path", class_="line", d=f"M{number(x)} 20V{number(self.base - 4)}")
        yield tip(x, self.base + 1, 0, 1)
        yield text(arc.relation, x, 14, "role")
        beside = (text_width(arc.relation, "role") + text_width(said, "figure")) / 2 + 5
        yield text(said, x + beside, 14, "figure")


def _breaks(layout: TreeLayout, width: float) -> Iterator[tuple[int, int]]:
    """Yield the first word of each line, and the word after its last. Lines are about equally wide, at most `width`."""
    lines = math.ceil(layout.width / (width - 100))  # with room for arcs that leave a line
    ends = [bisect_right(layout.places, layout.width * line / lines) for line in range(lines)]
    yield from pairwise(sorted({*ends, len(layout.places)}))


def _upright(tree: WordsWithArcs, label: str) -> str:
    """Draw a word a line, to its right the arcs, and then its relation."""
    arcs, levels, feet = tree.arcs, _levels(tree.arcs), _feet(tree.arcs, 2.4)
    tags = tree.rows.get("tag", [""] * len(tree.words))
    tagged = 10 + max(text_width(word, "word") for word in tree.words)
    start = tagged + max((10 + text_width(tag, "tag") for tag in tags if tag), default=0.0) + 8
    named = [text_width(arc.relation, "role") for arc in arcs]
    said = [figure(arc.confidence) for arc in arcs]
    after = [text_width(one, "figure") + 10 if one else 0.0 for one in said]
    names, most = max(map(sum, zip(named, after, strict=True))) + 6, max(1, *levels) + 0.5
    column = min(max((_PHONE - start - names - 12) / most, _COLUMNS[0]), _COLUMNS[1])
    end = start + column * most + 6
    places = [_ROW * (i + 0.5) + 4 for i in range(len(tree.words))]
    parts = []
    for i, arc in enumerate(arcs):
        y, lines = places[arc.word], []
        if arc.head >= 0:
            x, tops = (
                start + column * (levels[i] + 0.5),
                [places[word] + feet[i, word] for word in (arc.head, arc.word)],
            )
            turn = min(_TURN, column / 2)
            side = turn if tops[1] > tops[0] else -turn
            x0, x1, x2, x3 = map(number, (start, x - turn, x, start + 4))
            y0, y1, y2, y3 = map(number, (tops[0], tops[0] + side, tops[1] - side, tops[1]))
            path = f"M{x0} {y0}H{x1}Q{x2} {y0} {x2} {y1}V{y2}Q{x2} {y3} {x1} {y3}H{x3}"
            lines = [tip(start - 1, tops[1], -1, 0), element("path", class_="line", d=path)]
        lines += [text(arc.relation, end + named[i] / 2, y + 4, "role")]
        lines += [text(said[i], end + named[i] + 4 + after[i] / 2, y + 4, "figure")]
        kind = f"arc {doubt(arc.confidence)}".rstrip()
        parts.append(
            element(
                "g", title(arc.relation, arc.confidence), *lines, class_=kind, data_words=" ".join(map(str, arc.ends))
            )
        )
    for word, tag, y in zip(tree.words, tags, places, strict=True):
        parts.append(text(word, 2 + text_width(word, "word") / 2, y + 5, "word"))
        parts.append(text(tag, tagged + text_width(tag, "tag") / 2, y + 4, "tag"))
    return picture(end + names + 4, _ROW * len(tree.words) + 8, label, *parts)


# --- derivations, and LaTeX ---------------------------------------------------------------------


_STEP = 21  # height of a state in pixels
_LATEX = {  # character → its form in LaTeX
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip


def derivation_drawing(sentence: Sentence, system: TransitionSystem, actions: Sequence[Action]) -> str:
    """Return the tree in SVG, and below it a line for each state: the action before it, its words, and its new arc."""
    layout, names = TreeLayout(tree_of(sentence)), [*sentence.forms, "ROOT"]
    left = 20 + max(text_width(str(action), "action") for action in actions)
    places = [left + place for place in (*layout.places, layout.width + text_width("ROOT", "word") / 2)]
    parts = [element("g", *layout.parts(), transform=f"translate({number(left)} 0)")]
    for place, (said, kind) in enumerate({"stack": "stack", "buffer": "buffer", "done": "gone"}.items()):
        parts.append(text(said, places[0] + 48 * place, layout.height + 18, "action", kind))
    state, y, wide = system.initial(sentence.forms), layout.height + 42, 0.0
    for step, action in enumerate((None, *actions)):
        arcs: list[str] = []
        if action is not None:
            before, state = state.heads, system.apply(state, action)
            parts.append(text(str(action), 10 + text_width(str(action), "action") / 2, y + step * _STEP, "action"))
            changes = enumerate(zip(before, state.heads, strict=True))
            arcs = [f"{names[new]} → {names[word]}" for word, (old, new) in changes if old != new]
        for word, (name, place) in enumerate(zip(names, places, strict=True)):
            kind = "stack" if word in state.stack else "buffer" if word in state.buffer else "gone"
            kind += " top" if word in state.stack[-1:] else ""
            parts.append(text(name, place, y + step * _STEP, "word", kind))
        for arc in arcs:
            x = places[-1] + text_width("ROOT", "word") / 2 + 20
            parts.append(text(arc, x + text_width(arc, "action") / 2, y + step * _STEP, "action", "change"))
            wide = max(wide, x + text_width(arc, "action"))
    height = y + len(actions) * _STEP + 12
    return picture(wide + 10, height, f"Derivation of: {' '.join(sentence.forms)}", *parts)


def latex(sentence: Sentence) -> str:
    r"""Return a tree as an environment `dependency` for LaTeX, which draws it by the package `tikz-dependency`."""
    tree = sentence.tree()
    words = r" \& ".join(map(_in_latex, sentence.forms))
    lines = [
        r"% \usepackage{tikz-dependency}",
        r"\begin{dependency}",
        r"\begin{deptext}",
        rf"{words} \\",
        r"\end{deptext}",
    ]
    for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True), 1):
        ends = f"{{{head}}}{{{word}}}" if head else f"{{{word}}}"
        lines.append(rf"\{'depedge' if head else 'deproot'}{ends}{{{_in_latex(relation)}}}")
    return "\n".join([*lines, r"\end{dependency}", ""])


def _in_latex(word: str) -> str:
    return re.sub(r"[\\~^<>&%$#_{}]", lambda match: _LATEX[match[0]], word)
