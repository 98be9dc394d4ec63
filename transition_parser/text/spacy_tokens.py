"""The tokens of English text by spaCy's rules, with which the AMR models were trained, without spaCy itself.

The rules are those of spaCy 3.8 (MIT license, Explosion), with Unicode's letters and symbols instead of lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from string import ascii_lowercase

import regex

from transition_parser.text import word_list
from transition_parser.text.characters import Clusters
from transition_parser.text.tokens import Token, is_noun

_LOWER, _UPPER, _LETTERS = r"\p{Ll}\p{Lo}", r"\p{Lu}\p{Lo}", r"\p{L}"
_PUNCTUATION = r"…,:;!?¿؟¡()\[\]{}<>_#*&。？！，、；：～·।،۔؛٪"
_QUOTES = r"'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉〈〉⟦⟧"
_CURRENCY = r"(?:US|C|A)?\$|[£¥฿﷼\u20a0-\u20bf]"
_SYMBOL = r"\p{So}"
_UNITS = "|".join(word_list("spacy: units"))
_PREFIX = regex.compile(rf"[§%=—–]|\+(?![0-9])|\.\.+|[{_PUNCTUATION}{_QUOTES}]|{_CURRENCY}|{_SYMBOL}")
_SUFFIX = regex.compile(
    rf"(?:……|\.\.+|[{_PUNCTUATION}{_QUOTES}—–]|{_SYMBOL}|['’][sS]|(?<=[0-9])(?:\+|{_CURRENCY}|{_UNITS})"
    rf"|(?<=°[FfCcKk])\.|(?<=[0-9{_LOWER}%²+|{_PUNCTUATION}{_QUOTES}-])\.|(?<=[{_UPPER}][{_UPPER}])\.)$"
)
_INFIX = regex.compile(
    rf"\.\.+|…|{_SYMBOL}|(?<=[0-9])[-+*^](?=[0-9-])|(?<=[{_LOWER}{_QUOTES}])\.(?=[{_UPPER}{_QUOTES}])"
    rf"|(?<={_LETTERS}),(?={_LETTERS})|(?<=[{_LETTERS}0-9])(?:[-–—~]|--|---|——)(?={_LETTERS})"
    rf"|(?<=[{_LETTERS}0-9])[:<>=/](?={_LETTERS})"
)
_HOST = r"A-Za-z0-9\u00a1-\uffff"
# Source: Diego Perini, https://gist.github.com/dperini/729294 (MIT license), as spaCy changed it
_ADDRESS = regex.compile(
    r"(?:[\w+.-]{2,}://)?(?:\S+(?::\S*)?@)?"
    r"(?:(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})"
    r"(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})"
    r"(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))"
    rf"|(?:(?:[{_HOST}][{_HOST}_-]{{0,62}})?[{_HOST}]\.)+[{_LOWER}]{{2,63}})"
    r"(?::\d{2,5})?(?:[/?#]\S*)?$"
)

# Words before contractions, and the contractions that follow them, with "|" between the tokens of a contraction
_CONTRACTIONS = {
    "i": "'m 'm|a",
    "i you he she it we they who what when where why how there that this these those": "'ll 'll|'ve 'd 'd|'ve",
    "i you we they who what when where why how there these those": "'ve",
    "you we they who what when where why how there these those": "'re",
    "he she it who what when where why how there that this": "'s",
    "ca could do does did had may might must need ought sha should wo would": "n't n't|'ve",
    "could might must should would": "'ve",
    "ai are is was were have has dare": "n't",
    "not": "'ve",
}


def tokens_of_spacy(text: str) -> Iterator[Token]:
    """Yield the tokens of a text by spaCy's rules for English. Each token is one word: `did`, `n't`."""
    clusters = Clusters.of(text)
    before = ""
    for part in _PART.finditer(clusters.shown):
        place = part.start()
        for form in (part[0],) if is_noun(part[0], before) else _divided(part[0]):
            yield Token(place, (form,)).in_text(clusters)
            place += len(form)
        before = part[0]


def tokenize(text: str) -> list[str]:
    """Return the words of a text by spaCy's rules for English."""
    return [token.form for token in tokens_of_spacy(text)]


_PART = re.compile(r"\S{1,500}")  # bounded: the time is quadratic in the length of a match


@lru_cache(maxsize=1 << 14)  # because most words occur again
def _divided(part: str) -> tuple[str, ...]:
    """Return the tokens of a text without white space."""
    found = _by_affixes(part, _specials())
    sequences, spans = _sequences(), []
    longest = max(map(len, sequences))
    for start in range(len(found)):
        for end in range(start + 1, min(len(found), start + longest) + 1):
            if tuple(found[start:end]) in sequences:
                spans.append((start, end))
    seen: set[int] = set()
    replaced = {}
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if start not in seen and end - 1 not in seen:
            replaced[start] = end
        seen.update(range(start, end))
    for start, end in sorted(replaced.items(), reverse=True):
        found[start:end] = sequences[tuple(found[start:end])]
    return tuple(found)


def _by_affixes(part: str, specials: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the tokens that prefixes, suffixes and infixes make, and exceptions between them."""
    before, after = [], []
    while part not in specials:
        prefix = _length(_PREFIX.match(part))
        if prefix and part[prefix:] in specials:
            before.append(part[:prefix])
            part = part[prefix:]
            break
        end = len(part) - _length(_SUFFIX.search(part[prefix:]))
        if end < len(part) and part[:end] in specials:
            after.append(part[end:])
            part = part[:end]
            break
        if not prefix and end == len(part):
            break
        before += [part[:prefix]] if prefix else []
        after += [part[end:]] if end < len(part) else []
        part = part[prefix:end]
    inside: list[str] = []
    if part in specials:
        inside += specials[part]
    elif part:
        start = 0
        for match in () if _ADDRESS.match(part) else _INFIX.finditer(part):
            if match.start():
                inside += (part[start : match.start()], match[0])
                start = match.end()
        inside.append(part[start:])
    return [*before, *filter(None, inside), *reversed(after)]


def _length(match: regex.Match | None) -> int:
    return 0 if match is None else match.end() - match.start()


@cache
def _specials() -> dict[str, tuple[str, ...]]:
    """Return the exceptions: text → its tokens."""
    wholes = [*word_list("spacy: whole"), *(f"{letter}." for letter in ascii_lowercase)]
    tokens = [(whole,) for whole in wholes] + [tuple(one.split("|")) for one in word_list("spacy: divided")]
    tokens += [(str(hour), half) for hour in range(1, 13) for half in ("am", "pm", "a.m.", "p.m.")]
    for words, contractions in _CONTRACTIONS.items():
        for word in words.split():
            for endings in (contraction.split("|") for contraction in contractions.split()):
                plain = [ending.replace("'", "") for ending in endings]
                tokens += [(start, *rest) for start in (word, word.title()) for rest in (endings, plain)]
    tokens += [tuple(form.replace("'", "’") for form in forms) for forms in tokens]
    found = {"".join(forms): forms for forms in tokens}
    # what would be a contraction without its apostrophe; `is_noun` tells of `cant` and `wont`
    no_contractions = word_list("spacy: no contractions")
    return {text: forms for text, forms in found.items() if text not in no_contractions}


@cache
def _sequences() -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens by affixes of exceptions → the tokens of the exception, for exceptions that have affixes."""
    found = {}
    for text, forms in _specials().items():
        if _PREFIX.match(text) or _SUFFIX.search(text) or _INFIX.search(text):
            found[tuple(_by_affixes(text, {}))] = forms
    return found
