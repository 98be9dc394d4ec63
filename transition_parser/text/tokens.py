"""The tokens of English text as UD English has them, on which tree parsers are trained, and as AMRs have them.

Source: https://universaldependencies.org/u/overview/tokenization.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from transition_parser.text import word_list
from transition_parser.text.characters import Clusters

_DEGREES = (
    r"(?:Ph|Ed|Litt|Sc|Th|Psy|Pharm|Mus|LL|W)\.(?:[A-Z]|Va)(?!\w)\.?",
    r"[A-Z]\.(?:Sc|Ed|Phil|Tech|Eng|Com|Arch|Mus|Litt|Mex)(?!\w)\.?",
)


_SHORTENED = word_list("shortened")


def _with_mark(abbreviations: Iterable[str]) -> str:
    return rf"(?:{'|'.join(abbreviations)})\."


def _after(characters: str) -> str:
    return rf"(?:(?<={characters}\s)|(?<={characters}\r\n))"


# A name that ends in a mark is known by the words beside it, some also without these words
_NAMES = (r"(?:Yahoo|Jeopardy)!", rf"{_after('[a-z]')}[A-Z]\w{{1,30}}[!?](?=\r?\s[a-z])")


_NO_VOWELS = r"[^\W\d_AEIOUYaeiouy][b-df-hj-np-tv-xz]{1,4}\."
_WORDS_FOLLOW = r"(?=\r?\s?[a-z\d(,;:])"
_WITH_PERIOD = (
    rf"{_with_mark([*word_list('titles'), *word_list('abbreviations'), *map(str.title, _SHORTENED)])}(?!\w)",
    rf"(?:{_with_mark(_SHORTENED)}|(?i:{_with_mark(word_list('shortened before words'))})|{_NO_VOWELS}){_WORDS_FOLLOW}",
    rf"(?:(?<=[0-9])|{_after('[0-9]')}){_with_mark(word_list('units'))}{_WORDS_FOLLOW}",
    rf"(?i:{_with_mark(word_list('numbered'))})(?=\r?\s?\d)",
    rf"{_after(',')}{_with_mark(word_list('states'))}(?!\w)",
    rf"{_after('[a-z]')}(?:No|So|v)\.(?=\r?\s[A-Z])",
    r"[A-Z]\.(?=\r?\s[A-Z])",
    r"(?m:(?<!^))(?:[A-Z]\.(?=\r?\s[a-z])|[A-Za-z]\.(?=\r?\s?\d))",  # at the start of a line: an item of a list
)
# A regular expression that matches at the start of a word; it reads up to `CONTEXT` characters before the word
CONTEXT = 3
ABBREVIATION = "|".join((*_DEGREES, *_NAMES, rf"(?=\w{{1,8}}\.)(?:{'|'.join(_WITH_PERIOD)})"))


Span = tuple[int, int]  # start and end (exclusive), counted in characters


class Token(NamedTuple):
    """A token of a text."""

    start: int  # the position of its first character
    words: tuple[str, ...]  # syntactic words
    written: str | None = None  # its characters if its words do not spell them (`du`: `de`, `le`)

    @property
    def form(self) -> str:
        """The characters of the token."""
        return "".join(self.words) if self.written is None else self.written

    @property
    def end(self) -> int:
        """The position after the last character."""
        return self.start + len(self.form)

    @property
    def spans(self) -> list[Span]:
        """The span of each word. If the words do not spell the token, each word has the span of the token."""
        if self.written is not None:
            return [(self.start, self.end)] * len(self.words)
        ends = [self.start + sum(map(len, self.words[: i + 1])) for i in range(len(self.words))]
        return list(zip([self.start, *ends], ends))

    def in_text(self, clusters: Clusters) -> Token:
        """Return a token of `clusters.shown` as a token of the text."""
        if clusters.shown is clusters.written:
            return self
        start, end = clusters.starts[self.start], clusters.ends[self.end - 1]
        if self.written is not None:
            return self._replace(start=start, written=clusters.written[start:end])
        places = [*(clusters.starts[first] for first, _ in self.spans), end]
        return Token(start, tuple(clusters.written[a:b] for a, b in pairwise(places)))


EMOTICON = r"[<>]?[:;=][-o']?[)(\]\[DPpOo/\\|*]{1,9}+|<3|[xX]D"
# Two words written as one → the length of the first word
CONTRACTIONS = {one.replace("|", ""): one.index("|") for one in word_list("contractions")}
# Words after which `cant` and `wont` are no contractions: `the cant of thieves`, `as he was wont to do`
_BEFORE_NOUNS = frozenset("a an the his her its our their my your is was were are be been am".split())


def is_noun(form: str, before: str) -> bool:
    """Return True for `cant` and `wont` if the word before shows that they are no contractions."""
    return form in ("cant", "wont") and before.lower() in _BEFORE_NOUNS


def _any(listed: Iterable[str]) -> str:
    return "|".join(map(re.escape, listed))


_LETTER = r"[^\W\d_]"
# The patterns of tokens, in order of priority. The last one matches any character that is not white space. Repetitions
# are bounded or possessive (`++`), so that matching takes linear time.
_PATTERNS = {
    "URL": r"""(?:https?://|ftp://|www\.)(?:\.\.\.|[^\s<>"(),;!?.:'’\]]++|[(),;!?.:'’](?=[^\s<>"(),;!?.:'’\]]))++""",
    "e-mail address": r"[\w.+-]{1,64}+@\w[\w-]{0,63}+(?:\.\w[\w-]{0,63}+){1,8}",
    "@user": rf"(?<![^\s([\"'“‘])[@#]{_LETTER}\w++(?!\.\w)|{_LETTER}\w{{0,63}}+@{_LETTER}\w*+(?!\.\w)",
    "host or file": rf"(?<![\w.])\.(?:{_any(word_list('suffixes'))}|NET)\b|"
    r"\w[\w-]{0,63}+(?:\.\w[\w-]{0,63}+){0,8}?"
    rf"\.(?i:{_any(word_list('suffixes'))})\b(?:/[\w./-]{{0,200}}(?<=[\w/]))?",
    "news group": r"\w{2,64}+(?:\.\w{2,64}+){2,9}",
    "emoticon": rf"(?:{EMOTICON})(?!\w)",
    "arrow": r"<?[-=]{1,64}+>|<[-=]{1,64}+(?!\w)|(?<!\w)>=",
    "F.3d": r"(?:[A-Z][A-Za-z]{0,4}\.){1,3}+[23]d\b",
    "U.S.": rf"(?:{_LETTER}\.){{2,10}}+",
    "Mr.": ABBREVIATION,
    "foo.bar": rf"[a-z]\w{{1,63}}+\.(?!(?:{_any(word_list('after period'))})\b)[a-z]\w{{1,63}}+(?!\.?\w)",
    "w/o": rf"(?i:{_any(word_list('with slash'))})(?!\w)",
    "telephone number": r"(?:(?:\d{1,2}-)?\d{3}-\d{3}|\d{3,5})-\d{4}(?![\w-])",
    "date": r"\d{1,2}/\d{1,2}/\d{2,4}(?!\w)|\d{1,2}/\d\d(?![\w/])|'\d0s\b|'\d\d\b",
    "number": r"\d++(?:[.,:]\d++)*+(?:(?:(?i:st|nd|rd|th|s)|(?<=[23])d)\b)?",
    "e-mail": rf"(?i:{_any(word_list('prefixes'))})-{_LETTER}++",
    "R&D": r"[A-Z]{1,3}&[A-Z]{1,3}\b",
    "word": rf"{_LETTER}(?:[^\W_]|_(?=[^\W_]))*+"
    rf"(?:['’`]{_LETTER}++|(?<=s)['’](?!\w))?(?:['’](?i:ve|re|s|d)\b)?",
    "marks": r"[!?.]++|''|’’|‘’|``|([*=_~#<>$+^-])\1*+",
    "other character": r"\S",
}
_TOKEN = re.compile("|".join(_PATTERNS.values()))
# The patterns before these in AMRs, which divide `e-mail` and `Fig.`, and keep symbols of genes whole
_OF_AMRS = {
    "i.": r"(?<!\S)[A-Za-z]\.(?=\s++\S)",  # but *and neither do I.*
    "'s": r"(?<!\S)['’](?:s|re|ve|ll|d|m)(?!\w)",
    "Fig": r"(?:al|[Ff]igs?)(?=\.)",
    "and/or": r"and/or\b",
    "IL-6": r"[A-Za-z][^\W_]*+(?:[-/]\d++[^\W_]*+)++(?:['’]s\b)?",
    "1/2": r"\d++/\d++(?![\w/])",
    "32P": r"\d++[A-Z][^\W_]*+",
}
_SHARED = (pattern for kind, pattern in _PATTERNS.items() if kind != "e-mail")
_TOKEN_OF_AMRS = re.compile("|".join((*_OF_AMRS.values(), *_SHARED)))
_CLITIC = re.compile(r"(?i:n['’]t|['’`](?:s|re|ve|ll|d|m)|(?<=s)['’])$")


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order. Characters outside the tokens are white space or do not show."""
    clusters = Clusters.of(text)
    return (token.in_text(clusters) for token in tokens_of_shown(clusters.shown))


def tokens_of_amrs(text: str) -> Iterator[Token]:
    """Yield the tokens of a text as AMRs have them. Each token is one word: `did`, `n't`."""
    clusters = Clusters.of(text)
    for token in (token.in_text(clusters) for token in tokens_of_shown(clusters.shown, pattern=_TOKEN_OF_AMRS)):
        yield from (Token(start, (word,)) for (start, _), word in zip(token.spans, token.words, strict=True))


def tokenize(text: str) -> list[str]:
    """Return the words of a text as AMRs have them."""
    return [token.form for token in tokens_of_amrs(text)]


def tokens_of_shown(text: str, start: int = 0, pattern: re.Pattern[str] = _TOKEN) -> Iterator[Token]:
    """Yield the tokens of a text in which each character is a cluster that shows (`Clusters`)."""
    before = ""
    for match in pattern.finditer(text, start):
        form = match[0]
        yield Token(match.start(), (form,) if is_noun(form, before) else tuple(_words(form)))
        before = form


def _words(form: str) -> list[str]:
    """Return the syntactic words of a token."""
    words: list[str] = []
    while len(form) > 1 and (clitic := _CLITIC.search(form)) and clitic.start():
        words.insert(0, clitic[0])
        form = form[: clitic.start()]
    divided = CONTRACTIONS.get(form.lower(), len(form))
    return [*filter(None, (form[:divided], form[divided:])), *words]
