"""The syntactic words of multi-word tokens, such as French `du` (`de le`) or Italian `dirgli` (`dir gli`)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

Words = tuple[str, ...]


class MultiWords(NamedTuple):
    """The expansions of multi-word tokens that training has shown.

    forms: form of a token → its words
    suffixes: end of a token → what it becomes: the end of the first word, then the other words
    prefixes: beginning of a token → what it becomes: the words before the last one, then the start of that word
    """

    forms: Mapping[str, Words] = {}
    suffixes: Mapping[str, Words] = {}
    prefixes: Mapping[str, Words] = {}

    @classmethod
    def of_examples(cls, examples: Iterable[tuple[str, Words]]) -> MultiWords:
        """Learn the expansions from pairs of a token and its words. Of several expansions, the most frequent is kept.

        >>> MultiWords.of_examples([("dirgli", ("dir", "gli"))]).suffixes
        {'gli': ('', 'gli')}
        """
        counts: tuple[_Counts, ...] = (defaultdict(Counter), defaultdict(Counter), defaultdict(Counter))
        for form, words in examples:
            counts[0][form][words] += 1
            for table, rules in zip(counts[1:], (_suffix(form, words), _prefix(form, words)), strict=True):
                for part, becomes in rules:
                    table[part][becomes] += 1
        return cls(*map(_most_frequent, counts))

    def words(self, form: str) -> Words:
        """Return the words of a multi-word token, or the token itself where no expansion is known.

        The expansion is looked up by the form, then by the lower-cased form (capitals are put back), then by the
        longest known suffix or prefix.
        """
        form = " ".join(form.split())
        if form in self.forms:
            return self.forms[form]
        lowered = form.lower()
        if lowered in self.forms:
            return _with_case(self.forms[lowered], form)
        return self._by_affix(form, lowered) or (form,)

    def _by_affix(self, form: str, lowered: str) -> Words | None:
        for size in range(len(form) - 1, 0, -1):
            if (words := self.suffixes.get(lowered[-size:])) is not None:
                return (form[:-size] + words[0], *words[1:])
            if (words := self.prefixes.get(lowered[:size])) is not None:
                return (*_with_case(words[:-1], form), words[-1] + form[size:])
        return None


_Counts = defaultdict[str, Counter[Words]]


def _most_frequent(counts: _Counts) -> dict[str, Words]:
    return {key: min(words, key=lambda one: (-words[one], one)) for key, words in sorted(counts.items())}


def _suffix(form: str, words: Words) -> Iterator[tuple[str, Words]]:
    """Yield (suffix, expansion). The suffix follows the beginning that the form shares with the first word."""
    form, words = form.lower(), tuple(word.lower() for word in words)
    same = _shared(form, words[0])
    if 0 < same < len(form):
        yield form[same:], (words[0][same:], *words[1:])


def _prefix(form: str, words: Words) -> Iterator[tuple[str, Words]]:
    """Yield (prefix, expansion). The prefix precedes the ending that the form shares with the last word."""
    form, words = form.lower(), tuple(word.lower() for word in words)
    last = words[-1]
    same = _shared(form[::-1], last[::-1])
    if 0 < same < len(form):
        yield form[: len(form) - same], (*words[:-1], last[: len(last) - same])


def _shared(a: str, b: str) -> int:
    """Return the number of characters at the beginning that two strings share."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _with_case(words: Words, form: str) -> Words:
    """Return the words in capitals if the form is in capitals, or with a first capital if the form has one."""
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if form[:1].isupper() and words else words
