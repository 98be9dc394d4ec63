"""Dependency trees as text: one line for each word, with the arcs drawn beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transition_parser.graphs.dependency import DependencyTree

_LEFT, _RIGHT, _UP, _DOWN = 1, 2, 4, 8
# the sides of a character cell that its line reaches → the character that draws this line
_LINES = {
    0: " ",
    _LEFT | _RIGHT: "─",
    _UP | _DOWN: "│",
    _LEFT | _DOWN: "┐",
    _LEFT | _UP: "┘",
    _LEFT | _RIGHT | _DOWN: "┬",
    _LEFT | _RIGHT | _UP: "┴",
    _LEFT | _UP | _DOWN: "┤",
    _LEFT | _RIGHT | _UP | _DOWN: "┼",
}
_ARROW = "◄"
MOST_DRAWN = 500  # words; longer sentences get no drawn arcs, only the numbers of heads


def tree_text(words: Sequence[str], tree: DependencyTree, *columns: Sequence[str]) -> str:
    """Return one line for each word: its number, form, `columns`, arcs, relation and head.

    An arrow points to the dependent. Sentences of more than `MOST_DRAWN` words have no arcs.

    columns: any number of further columns, each with one string for each word

    >>> print(tree_text(["She", "sells", "shells"], DependencyTree((2, 0, 2), ("nsubj", "root", "obj"))))
    1  She     ◄┐    nsubj  2
    2  sells   ─┴─┐  root   0
    3  shells  ──◄┘  obj    2
    """
    numbers = [str(number) for number in range(1, len(tree) + 1)]
    width = len(numbers[-1])
    arcs = [_drawn_arcs(tree)] if len(tree) <= MOST_DRAWN else []
    heads = [f"{head:>{width}}" for head in tree.heads]
    numbers = [number.rjust(width) for number in numbers]
    return _aligned([numbers, words, *columns, *arcs, tree.relations, heads])


def _aligned(columns: Iterable[Sequence[str]]) -> str:
    padded = []
    for column in columns:
        width = max(map(len, column))
        padded.append([cell.ljust(width) for cell in column])
    rows = zip(*padded, strict=True)
    return "\n".join("  ".join(row).rstrip() for row in rows)


def _drawn_arcs(tree: DependencyTree) -> list[str]:
    """Return the drawing of the arcs, one string for each word.

    Each arc runs to the right from its first word, then down, and back to the left to its last word.
    """
    places = {word: 2 * level - 1 for word, level in arc_levels(tree).items()}  # odd: an arrow fits in between
    cells = [[0] * (max(places.values(), default=0) + 1) for _ in tree.heads]
    for word, place in places.items():
        first, last = sorted((word, tree.heads[word - 1]))
        for row, turn in ((first, _DOWN), (last, _UP)):
            for column in range(place):
                cells[row - 1][column] |= _LEFT | _RIGHT
            cells[row - 1][place] |= _LEFT | turn
        for row in range(first + 1, last):
            cells[row - 1][place] |= _UP | _DOWN
    rows = [[_LINES[cell] for cell in row] for row in cells]
    for word, place in places.items():
        rows[word - 1][place - 1] = _ARROW
    return ["".join(row) for row in rows]


def arc_levels(tree: DependencyTree) -> dict[int, int]:
    """Return word → level of the arc into it, for all words but the root.

    The level, from 1, is the distance of the arc from the words. An arc has a higher level than the arcs within its
    span. Arcs that touch or cross have different levels.
    """
    levels: dict[int, int] = {}
    spans: dict[int, tuple[int, int]] = {}
    arcs = [(*sorted((word, head)), word) for word, head in enumerate(tree.heads, 1) if head]
    for first, last, word in sorted(arcs, key=lambda arc: (arc[1] - arc[0], arc[0])):
        inside, beside = 0, set()
        for other, (start, end) in spans.items():
            if first <= start and end <= last:
                inside = max(inside, levels[other])
            elif start <= last and first <= end:
                beside.add(levels[other])
        levels[word] = next(level for level in range(inside + 1, len(tree) + 1) if level not in beside)
        spans[word] = (first, last)
    return levels
