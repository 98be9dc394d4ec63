"""The characters of texts as numbers, for networks that read characters.

An unknown character still has its Unicode category, so that a network can read any text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

EDGE = 0  # the number, as a character and as a category, of positions outside a paragraph
UNKNOWN = 1
_FIRST = 2  # the number of the first known character
_RARE = 2  # a character that occurs less often in training is not known
# The general categories of Unicode; the number of a category is its position in this list, plus one
_CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
CATEGORIES = 1 + len(_CATEGORIES)  # the number of categories, with `EDGE`
_NUMBERS = {name: number for number, name in enumerate(_CATEGORIES, 1)}


class Characters:
    """The characters that a network knows, with their numbers.

    known: each known character once
    """

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
