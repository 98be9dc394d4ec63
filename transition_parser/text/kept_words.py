"""A cache of values that are computed from words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

_MOST, _LONGEST = 50_000, 50  # the maximum number of cached words, and of letters of a cached word


class KeptWords(Generic[Value]):
    """A cache of the values of words, because most words occur again.

    The first 50,000 words of up to 50 letters are cached. Callers share the values and must not change them. Several
    threads may ask at the same time. Copies start empty.
    """

    def __init__(self) -> None:
        self._known: dict[str, Value] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of an empty object: other threads may be adding words while a copy is made."""
        return {"_known": {}}

    def values(self, words: Collection[str], compute: Callable[[list[str]], Iterable[Value]]) -> dict[str, Value]:
        """Return the value of each word.

        compute: returns the values of several words, in order; always the same value for the same word

        >>> kept = KeptWords()
        >>> kept.values(["a", "bc"], lambda words: map(len, words)), kept.values(["bc"], lambda words: words[:0])
        ({'a': 1, 'bc': 2}, {'bc': 2})
        """
        known = self._known
        new = [word for word in words if word not in known]
        found = dict(zip(new, compute(new), strict=True)) if new else {}
        if len(known) + len(found) <= _MOST:
            known.update((word, value) for word, value in found.items() if len(word) <= _LONGEST)
        return {word: found[word] if word in found else known[word] for word in words}
