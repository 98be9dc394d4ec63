"""Numbers, ordinals, dates and times of day in the words of a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from transition_parser.preprocess.aligner.lexicon import MONTHS, NUMBER_WORDS, ORDINALS
from transition_parser.preprocess.aligner.words import Span, Words, span
from transition_parser.text.numbers import HYPHENS, SCALES, UNITS, Part, totals

_DIGITS = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?|[-+]?\.\d+")
_ORDINAL_DIGITS = re.compile(r"(\d{1,9})(st|nd|rd|th)")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::\d{2})?\s*(a\.?m\.?|p\.?m\.?|h)?")
_NUMBERS_IN_DATE = re.compile(r"\d+")
_HALVES = {"a.m.": 0, "am": 0, "a.m": 0, "p.m.": 12, "pm": 12, "p.m": 12, "o'clock": None, "o’clock": None}


def numbers(words: Words) -> list[tuple[float, Span]]:
    """Return (value, span) of each number, longer spans first at each token: `six`, `1 million`, `twenty @-@ five`."""
    values: list[tuple[float, Span]] = []
    for first in range(len(words)):
        runs = list(_runs(words, first))
        values += reversed(runs)
    return values


def _runs(words: Words, first: int) -> Iterator[tuple[float, Span]]:
    """Yield each number that begins at a token, shorter ones first."""
    tokens: list[int] = []
    parts: list[Part] = []
    for token, form in enumerate(words.forms[first : first + 8], first):
        if tokens and form in ("and", *HYPHENS):
            continue
        value, scale = _simple(form)
        parts.append((value, scale if tokens or len(form) > 2 else None))
        tokens.append(token)
    values = [*totals(parts)]
    for token, value in zip(tokens, values, strict=False):
        yield float(value), span(first, token)
    if not values and words.forms[first] in NUMBER_WORDS:
        yield NUMBER_WORDS[words.forms[first]], (first,)


def _simple(form: str) -> Part:
    """Return the value (`six`) and the scale (`million`) of a word; either is None if the word has none."""
    match = _DIGITS.match(form)
    if match and match.end() == len(form):
        return Decimal(form.replace(",", "")), None
    if match and form[match.end() :] in ("%", "m", "bn", "k", "million", "th", "st", "s"):
        return Decimal(match[0].replace(",", "")) * SCALES.get(form[match.end() :], 1), None
    if "-" in form.strip("-"):
        parts = [UNITS.get(part, ORDINALS.get(part)) for part in form.split("-")]
        if all(part is not None for part in parts):
            return sum(parts), None  # type: ignore[arg-type]
    if form.startswith("$") and len(form) > 1:
        return _simple(form[1:])
    return UNITS.get(form), SCALES.get(form) or SCALES.get(form.removesuffix("s"))


def ordinal(form: str) -> int | None:
    """Return the value of `first`, `21st` or `last` (-1), None for a word that is not an ordinal."""
    match = _ORDINAL_DIGITS.fullmatch(form)
    if match:
        return int(match[1])
    if form in ("last", "final", "latter", "latest"):
        return -1
    if "-" in form:
        tens, _, ones = form.partition("-")
        return UNITS[tens] + ORDINALS[ones] if tens in UNITS and ones in ORDINALS else None
    return ORDINALS.get(form)


def month(form: str) -> int | None:
    """Return the number of a month, given its name; None for another word."""
    form = form.rstrip(".")
    for names in MONTHS:
        if form in names:
            return names.index(form) + 1
    return 9 if form == "sept" else None


def date_parts(form: str) -> frozenset[int]:
    """Return the numbers in a token that is a date: 2012-06-07, 7/6/2012, 20120607, '12, 1990s."""
    if form.isdecimal() and len(form) in (6, 8):
        year = int(form[:-4])
        return frozenset({year, year + 2000, year + 1900, int(form[-4:-2]), int(form[-2:])})
    parts = {int(part) for part in _NUMBERS_IN_DATE.findall(form)} if len(form) < 24 else set()
    years = {part + century for part in parts if part < 100 for century in (1900, 2000)} if "'" in form else set()
    return frozenset(parts | years)


def times_of_day(words: Words) -> Iterator[tuple[tuple[int, int], Span]]:
    """Yield ((hour, minute), span) of each time of day: `four o'clock in the afternoon`, `4:30 pm`, `noon`."""
    for token, form in enumerate(words.forms):
        if form in ("noon", "midday"):
            yield (12, 0), (token,)
        elif form == "midnight":
            yield (0, 0), (token,)
        match = _CLOCK.fullmatch(form)
        hour = int(match[1]) if match else UNITS.get(form)
        if hour is None or hour > 24:
            continue
        minute = int(match[2] or 0) if match else 0
        last, half = _half(words, token, match[3] if match else None)
        for shift in (0, 12) if half is None else (half,):
            yield (hour % 12 + shift, minute), span(token, last)
        if half is None:
            yield (hour, minute), span(token, last)


def _half(words: Words, token: int, written: str | None) -> tuple[int, int | None]:
    """Return the last token of the time at `token`, and its half of the day: 0 (am), 12 (pm), None if unknown."""
    last, half = token, _HALVES.get(written or "")
    if token + 1 < len(words) and words.forms[token + 1] in _HALVES:
        last, half = token + 1, _HALVES[words.forms[token + 1]]
    rest = words.forms[last + 1 : last + 4]
    if rest[:2] == ("in", "the") and rest[2:] in (("morning",), ("afternoon",), ("evening",)):
        return last + 3, 0 if rest[2] == "morning" else 12
    if rest[:2] == ("at", "night"):
        return last + 2, 12
    return last, half
