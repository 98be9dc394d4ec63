"""The search for the strings of a name in a sentence."""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import partial

from transition_parser.preprocess.aligner import DEMONYMS
from transition_parser.preprocess.aligner.words import Span, Words, span
from transition_parser.text.lemmas import shared_start


def unquoted(label: str) -> str:
    """Return the text of a string constant, without its quotation marks."""
    return label[1:-1] if len(label) > 1 and label[0] == label[-1] == '"' else label


def name_spans(strings: Sequence[str], words: Words) -> list[tuple[float, list[Span]]]:
    """Return (score, the span of each string) for each way to express a name, by the first rule that matches."""
    exactly, alike = partial(_in_order, operator.eq, 1.0), partial(_in_order, _alike, 0.8)
    for rule in (exactly, _joined, _demonym, alike, _some_strings, _inside):
        matches = rule([string.lower() for string in strings], words)
        if matches:
            return matches
    return []


def _in_order(
    same: Callable[[str, str], bool], score: float, strings: list[str], words: Words
) -> list[tuple[float, list[Span]]]:
    """Return runs of tokens, one token for each string, in which each token is the `same` as its string."""
    size = len(strings)
    return [
        (score, [(first + i,) for i in range(size)])
        for first in range(len(words) - size + 1)
        if all(map(same, strings, words.forms[first : first + size]))
    ]


def _joined(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    wanted = _letters("".join(strings))
    letters = ["" if form.startswith("<") else _letters(form) for form in words.forms]  # without tags
    matches = []
    for first in range(len(words) if wanted else 0):
        if not _letters(words.forms[first]):
            continue
        read = 0
        for last in range(first, min(first + 2 * len(strings) + 8, len(words))):
            if not wanted.startswith(letters[last], read):
                break
            read += len(letters[last])
            if read == len(wanted):
                matches.append((0.95, _share(strings, letters, first, last)))
                break
    return matches


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _share(strings: list[str], letters: list[str], first: int, last: int) -> list[Span]:
    """Return for each string the tokens among `first` … `last` that hold its letters."""
    ends = [0]  # the number of letters before each token from `first` on, and in all
    for token in range(first, last + 1):
        ends.append(ends[-1] + len(letters[token]))
    shares, start = [], 0
    for string in strings:
        end = start + len(_letters(string))
        # the first token that ends after the string begins, and the last one that begins before the string ends
        one, other = bisect_right(ends, start, 1) - 1, bisect_left(ends, end, 0, len(ends) - 1) - 1
        shares.append(span(first + one, first + other) if one <= other else span(first, last))
        start = end
    return shares


def _demonym(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    forms = DEMONYMS.get(" ".join(strings), "").split()
    return [(0.9, [(token,)] * len(strings)) for token, form in enumerate(words.forms) if form in forms]


def _alike(string: str, form: str) -> bool:
    return string == form or shared_start(string, form) >= max(3, 0.55 * max(len(string), len(form)))


def _some_strings(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    """Return the matches of as many successive strings as possible: equal tokens, or else tokens that begin alike."""
    alike = _runs(strings, words.forms, _alike)
    least: list[int] = []  # for each string the least size of a run that ends with it and has a string of three letters
    for string in strings:
        least.append(1 if len(string) > 2 else (least[-1] if least else len(strings)) + 1)
    size = max((run for row, enough in zip(alike, least, strict=True) for run in row if run >= enough), default=0)
    if not size:
        return []
    exact = _runs(strings, words.forms, operator.eq)
    found: dict[int, tuple[float, int]] = {}  # first token → score, first string
    for last in (last for last, enough in enumerate(least) if last + 1 >= size >= enough):
        for score, row in ((1.0, exact[last]), (0.8, alike[last])):
            places = [token - size + 1 for token, run in enumerate(row) if run >= size]
            for first in places:
                best, start = found.get(first, (0.0, last - size + 1))
                found[first] = max(best, score), start
            if places:
                break
    return [(score * 0.7, _spread(first, start, size, len(strings))) for first, (score, start) in found.items()]


def _runs(strings: list[str], forms: Sequence[str], same: Callable[[str, str], bool]) -> list[list[int]]:
    """Return string → token → the length of the longest run that ends with this string and this token."""
    rows: list[list[int]] = []
    before = [0] * len(forms)
    for string in strings:
        shifted = [0, *before]
        before = [run + 1 if same(string, form) else 0 for run, form in zip(shifted, forms, strict=False)]
        rows.append([min(run, len(strings) - 1) for run in before])
    return rows


def _spread(first: int, start: int, size: int, count: int) -> list[Span]:
    """Return the spans of all strings of a name."""
    whole = span(first, first + size - 1)
    return [whole] * start + [(first + i,) for i in range(size)] + [whole] * (count - start - size)


def _inside(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    """Return the tokens that hold the name, such as `tyrosine` in `phosphotyrosine`."""
    wanted = _letters("".join(strings))
    return [
        (0.6, [(token,)] * len(strings))
        for token, form in enumerate(words.forms)
        if len(wanted) > 3 and wanted in _letters(form)
    ]
