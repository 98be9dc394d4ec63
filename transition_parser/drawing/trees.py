"""Pictures of trees, with arcs above the words, and their LaTeX."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from transition_parser.drawing.svg import doubt, element, number, picture, text, text_width, tip, title
from transition_parser.graphs.conllu import Sentence
from transition_parser.text.columns import UNKNOWN

_LEVEL, _TURN, _GAP, _FOOT = 26, 7, 14, 6  # height of a level, radius of corners, between words, between feet of arcs
_LONG = 560  # the length from which the relation stands at the dependent: a window seldom shows the middle and an end


class Arc(NamedTuple):
    """An arc."""

    head: int  # from 0; -1 for the root
    word: int
    relation: str
    confidence: float | None

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last of both ends."""
        return min(self.head, self.word), max(self.head, self.word)

    @property
    def width(self) -> float:
        """The width of the relation."""
        return text_width(self.relation, "role")


class WordsWithArcs(NamedTuple):
    """The words of a tree."""

    words: Sequence[str]
    rows: dict[str, Sequence[str]]  # kind of text → the values below the words
    arcs: Sequence[Arc]


def tree_drawing(sentence: Sentence, confidences: Sequence[float] = ()) -> str:
    """Return a tree as a picture in SVG.

    Arcs are groups of the class `arc`, with the numbers of dependent and head in `data-words`, from 0.

    confidences: of each word's arc
    """
    tree = tree_of(sentence, confidences)
    layout = TreeLayout(tree)
    return picture(layout.width, layout.height, f"Tree of: {' '.join(tree.words)}", *layout.parts())


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
        Arc(head - 1, word, relation, confidences[word] if confidences else None)
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


def _feet(arcs: Sequence[Arc]) -> dict[tuple[int, int], float]:
    """Return (arc, word) → where the arc meets the word, from its middle; short arcs are further from it."""
    ends: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, arc in enumerate(arcs):
        if arc.head >= 0:
            side = 1 if arc.head > arc.word else -1
            ends[arc.word, side].append(i)
            ends[arc.head, -side].append(i)
    roots = {arc.word for arc in arcs if arc.head < 0}
    return {
        (i, word): side * _FOOT * (rank + (1.1 if word in roots else 0.6))
        for (word, side), numbers in ends.items()
        for rank, i in enumerate(sorted(numbers, key=lambda i: arcs[i].span[0] - arcs[i].span[1]))
    }


class TreeLayout:
    """The places of words and arcs."""

    def __init__(self, tree: WordsWithArcs) -> None:
        self.tree, self.levels, self.feet = tree, _levels(tree.arcs), _feet(tree.arcs)
        widths = [text_width(word, "word") for word in tree.words]
        for kind, values in tree.rows.items():
            widths = [max(width, text_width(value, kind)) for width, value in zip(widths, values, strict=True)]
        for arc in tree.arcs:
            if arc.head < 0:
                widths[arc.word] = max(widths[arc.word], arc.width)
        self.gaps = [max((before + width) / 2 + _GAP, 22) for before, width in pairwise(widths)]
        self._make_room()
        self.places = [*accumulate(self.gaps, initial=widths[0] / 2 + 10)]
        self.width = self.places[-1] + widths[-1] / 2 + 10
        self.base = _LEVEL * (max(self.levels, default=0) + 1.4) + 8
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

    def parts(self) -> Iterator[str]:
        """Yield the elements: arcs, words, and the rows below them."""
        tree, base = self.tree, self.base
        for i, arc in enumerate(tree.arcs):
            yield _group(arc, self._root(arc) if arc.head < 0 else self._arc(i))
        for i, (word, place) in enumerate(zip(tree.words, self.places, strict=True)):
            yield text(word, place, base + 18, "word")
            for row, (kind, values) in enumerate(tree.rows.items()):
                yield text(values[i], place, base + 34 + 16 * row, kind)

    def _arc(self, i: int) -> Iterator[str]:
        arc, base = self.tree.arcs[i], self.base
        start, end = (self.places[word] + self.feet[i, word] for word in (arc.head, arc.word))
        top, sign = base - _LEVEL * self.levels[i], 1 if end > start else -1
        turn = sign * min(_TURN, abs(end - start) / 2)
        x, y, x1, x2, y1 = map(number, (start, top, start + turn, end - turn, top + abs(turn)))
        last, foot = number(end), number(base - 4)
        path = f"M{x} {number(base)}V{y1}Q{x} {y} {x1} {y}H{x2}Q{last} {y} {last} {y1}V{foot}"
        yield element("path", class_="line", d=path)
        yield tip(end, base + 1, 0, 1)
        middle = (start + end) / 2 if abs(end - start) < _LONG else end - sign * (48 + arc.width / 2)
        yield text(arc.relation, middle, top + 4, "role")

    def _root(self, arc: Arc) -> Iterator[str]:
        x = self.places[arc.word]
        yield element("path", class_="line", d=f"M{number(x)} 20V{number(self.base - 4)}")
        yield tip(x, self.base + 1, 0, 1)
        yield text(arc.relation, x, 14, "role")


def _group(arc: Arc, parts: Iterable[str]) -> str:
    """Return an arc as a group."""
    words = (arc.word,) if arc.head < 0 else (arc.word, arc.head)
    kind = f"arc {doubt(arc.confidence)}".rstrip()
    name = title(arc.relation, arc.confidence)
    return element("g", name, *parts, class_=kind, data_words=" ".join(map(str, words)))


# --- LaTeX ---------------------------------------------------------------------------------------


_LATEX = {  # character → its form in LaTeX
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip


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
