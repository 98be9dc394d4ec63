"""What a picture in SVG shows, by an XML parser."""

from __future__ import annotations

import re
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
HEIGHTS = {"word": 15, "tag": 11, "lemma": 11, "role": 12, "concept": 14, "constant": 13, "action": 12}


class Shown(NamedTuple):
    """A text with its place: its middle, its baseline, and its width."""

    kind: str
    text: str
    x: float
    y: float
    width: float

    def overlaps(self, other: Shown) -> bool:
        beside = abs(self.x - other.x) >= (self.width + other.width) / 2
        (low, high) = sorted((self, other), key=lambda one: one.y)
        return not beside and high.y - 0.7 * HEIGHTS[high.kind] < low.y


def texts(svg: str) -> list[Shown]:
    """The texts, in the order of the file."""
    found: list[Shown] = []

    def visit(element: ElementTree.Element, x: float, y: float) -> None:
        moved = re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        if element.tag == f"{SVG}text":
            kind, where = element.get("class", "").split()[0], (float(element.get(name, "")) for name in ("x", "y"))
            found.append(
                Shown(kind, element.text or "", *map(sum, zip((x, y), where)), float(element.get("textLength")))
            )
        for child in element:
            visit(child, x, y)

    visit(ElementTree.fromstring(svg), 0.0, 0.0)
    return found


def of_kind(svg: str, *kinds: str) -> list[str]:
    """The texts of some kinds."""
    return [one.text for one in texts(svg) if one.kind in kinds]


def check_texts(svg: str) -> None:
    """No text covers another or leaves the picture."""
    width, height = (float(ElementTree.fromstring(svg).get(name)) for name in ("width", "height"))
    shown = texts(svg)
    for one in shown:
        assert one.x - one.width / 2 >= 0 and one.x + one.width / 2 <= width and 0 < one.y <= height, one
    for pair in combinations(shown, 2):
        assert not pair[0].overlaps(pair[1]), pair
