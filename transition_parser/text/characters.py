"""The characters of texts as numbers; an unknown character still has its Unicode category."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import regex

EDGE = 0  # the number, as a character and as a category, of positions outside a paragraph
UNKNOWN = 1
_FIRST = 2  # the number of the first known character
_RARE = 2  # a character that occurs less often in training is not known
# The general categories of Unicode; the number of a category is its position in this list, plus one
_CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
CATEGORIES = 1 + len(_CATEGORIES)  # the number of categories, with `EDGE`
_NUMBERS = {name: number for number, name in enumerate(_CATEGORIES, 1)}


class Characters:
    """The characters that a network knows, with their numbers."""

    def __init__(self, known: Sequence[str]) -> None:
        self.known = tuple(known)
        self._ids = {character: number for number, character in enumerate(self.known, _FIRST)}

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Characters:
        """Return the characters that come at least twice in training texts, the most frequent first."""
        counts = Counter[str]()
        for text in texts:
            counts.update(text)
        frequent = ((-count, character) for character, count in counts.items() if count >= _RARE)
        return cls([character for _count, character in sorted(frequent)])

    def __len__(self) -> int:
        """Return the size of the vocabulary: the known characters, `EDGE` and `UNKNOWN`."""
        return _FIRST + len(self.known)

    def ids(self, text: str) -> list[int]:
        """Return the number of each character."""
        return [self._ids.get(character, UNKNOWN) for character in text]


def categories(text: str) -> list[int]:
    """Return the number of the Unicode category of each character."""
    return [*map(_category, text)]


@lru_cache(maxsize=1 << 16)
def _category(character: str) -> int:
    return _NUMBERS[unicodedata.category(character)]


_HIDDEN = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]+")
# A text without such characters has only clusters of one character, and all of them show.
_SPECIAL = regex.compile(
    r"[\p{Cf}\p{Default_Ignorable_Code_Point}\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}"
    r"\p{GCB=Regional_Indicator}\p{GCB=L}\p{GCB=V}\p{GCB=T}]"
)
_CLUSTER = regex.compile(r"\r|\X")
_BLANK = re.compile(r"\s")  # of `re`, as everywhere: `regex` has another opinion of U+001C to U+001F
_PICTURE = regex.compile(r"[\p{Extended_Pictographic}\p{Regional_Indicator}\u20e3]")  # U+20E3 encloses a key
_END = regex.compile(r"[\p{Cf}\ufe0e\ufe0f]+$")  # the variation selectors of other characters choose another glyph
_SYMBOL = "\u263a"  # stands for a cluster that is a picture


def without_hidden(text: str) -> str:
    """Return the text without the characters that do not show, such as soft hyphens."""
    return text if text.isascii() else _HIDDEN.sub("", text)


def shows(text: str) -> bool:
    """Return True where a text has more than white space and characters that do not show."""
    return bool(Clusters.of(text).shown.strip())


def space_before(text: str) -> int:
    """Return the number of characters of a text before the first cluster that shows and is no white space."""
    clusters = Clusters.of(text)
    return next((start for start, shown in zip(clusters.starts, clusters.shown) if not shown.isspace()), len(text))


class Clusters(NamedTuple):
    """The clusters of a text that show: a character for each, its position in `written`, and the position after it."""

    written: str
    shown: str  # white space is kept; the same object as `written` where it is equal
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Clusters:
        """Divide a text; `\\u200be\\u0301a` shows as `éa`."""
        if text.isascii() or not _SPECIAL.search(text):
            return cls(text, text, range(len(text)), range(1, len(text) + 1))
        shown, starts, ends = [], [], []
        for match in _CLUSTER.finditer(text):
            character, size = _shown(match[0])
            if character:
                shown.append(character)
                starts.append(match.start())
                ends.append(match.start() + size)
        return cls(text, "".join(shown), starts, ends)


def _shown(cluster: str) -> tuple[str, int]:
    """Return the character that stands for a cluster, empty if it does not show, and the size of the cluster."""
    if len(cluster) == 1:
        return ("" if _HIDDEN.match(cluster) else cluster), 1
    if blank := _BLANK.search(cluster):
        return blank[0], len(cluster)
    if _PICTURE.search(cluster):
        return _SYMBOL, len(cluster)
    visible = unicodedata.normalize("NFC", _HIDDEN.sub("", cluster))
    return visible[:1], len(_END.sub("", cluster))
