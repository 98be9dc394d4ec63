"""The characters of texts as numbers, for networks that read characters.

A character that is not known has its Unicode category all the same, so that a network can read any text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

EDGE = 0  # the number of all positions before and behind a paragraph, as a character and as a category
UNKNOWN = 1
_FIRST = 2  # the number of the first known character
_RARE = 2  # a character that occurs less often in training is not known
# The general categories of Unicode; the numbers of categories are positions in this string, plus one
_CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
CATEGORIES = 1 + len(_CATEGORIES)  # with the number of edges
_NUMBERS = {name: number for number, name in enumerate(_CATEGORIES, 1)}


class Characters:
    """The known characters.

    known: each character once
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
        """Return how many numbers `ids` can give."""
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
