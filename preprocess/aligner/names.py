"""Where the strings of a name stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from preprocess.aligner.lexicon import DEMONYMS
from preprocess.aligner.words import Span, Words, span


def unquoted(label: str) -> str:
    """The text of a string constant.

    >>> unquoted('"New"')
    'New'
    """
    return label[1:-1] if len(label) > 1 and label[0] == label[-1] == '"' else label


def name_spans(strings: Sequence[str], words: Words) -> list[tuple[float, list[Span]]]:
    """(score, the span of each string) of each way in which a name may be expressed, best rule first.

    Rules: the same words; the same letters when joined (`B @-@ Raf`); the initials; a demonym; a common beginning;
    some of the strings; a token that holds the name.
    """
    for rule in (_in_order, _joined, _initials, _demonym, _beginnings, _some_strings, _inside):
        matches = rule([string.lower() for string in strings], words)
        if matches:
            return matches
    return []


def _in_order(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    size = len(strings)
    return [
        (1.0, [(first + i,) for i in range(size)])
        for first in range(len(words) - size + 1)
        if list(words.forms[first : first + size]) == strings
    ]


def _joined(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    wanted = _letters("".join(strings))
    matches = []
    for first in range(len(words) if wanted else 0):
        if not _letters(words.forms[first]):
            continue
        text = ""
        for last in range(first, min(first + 2 * len(strings) + 8, len(words))):
            text += "" if words.forms[last].startswith("<") else _letters(words.forms[last])
            if text == wanted:
                matches.append((0.95, _share(strings, words, first, last)))
            if len(text) >= len(wanted):
                break
    return matches


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _share(strings: list[str], words: Words, first: int, last: int) -> list[Span]:
    """The tokens of a stretch whose letters overlap those of each string."""
    ends: list[tuple[int, int, int]] = []
    letter = 0
    for token in range(first, last + 1):
        size = 0 if words.forms[token].startswith("<") else len(_letters(words.forms[token]))
        ends.append((token, letter, letter + size))
        letter += size
    shares, start = [], 0
    for string in strings:
        end = start + len(_letters(string))
        own = [token for token, begin, stop in ends if begin < end and stop > start]
        shares.append(span(own[0], own[-1]) if own else span(first, last))
        start = end
    return shares


def _initials(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    initials = {
        "".join(s[0] for s in strings if s),
        "".join(s[0] for s in strings if s and s not in ("of", "the", "and")),
    }
    return [
        (0.85, [(token,)] * len(strings))
        for token, form in enumerate(words.forms)
        if len(strings) > 1 and len(form) > 1 and _letters(form) in initials and not words.tokens[token].islower()
    ]


def _demonym(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    forms = DEMONYMS.get(" ".join(strings), "").split()
    return [(0.9, [(token,)] * len(strings)) for token, form in enumerate(words.forms) if form in forms]


def _beginnings(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    """Germany – German, Olympics – Olympic: each string shares most of its letters with one of a run of tokens."""
    size, matches = len(strings), []
    for first in range(len(words) - size + 1):
        forms = words.forms[first : first + size]
        if all(_alike(string, form) for string, form in zip(strings, forms, strict=True)):
            matches.append((0.8, [(first + i,) for i in range(size)]))
    return matches


def _alike(string: str, form: str) -> bool:
    common = 0
    for one, other in zip(string, form):
        if one != other:
            break
        common += 1
    return string == form or common >= max(3, 0.55 * max(len(string), len(form)))


def _some_strings(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    """Spans of the longest run of the strings; the others share its tokens."""
    for size in range(len(strings) - 1, 0, -1):
        matches = []
        for start in range(len(strings) - size + 1):
            part = strings[start : start + size]
            if all(len(string) < 3 for string in part):
                continue
            for score, spans in _in_order(part, words) or _beginnings(part, words):
                whole = span(spans[0][0], spans[-1][-1])
                matches.append((score * 0.7, [whole] * start + spans + [whole] * (len(strings) - start - size)))
        if matches:
            return matches
    return []


def _inside(strings: list[str], words: Words) -> list[tuple[float, list[Span]]]:
    """tyrosine in phosphotyrosine."""
    wanted = _letters("".join(strings))
    return [
        (0.6, [(token,)] * len(strings))
        for token, form in enumerate(words.forms)
        if len(wanted) > 3 and wanted in _letters(form)
    ]
