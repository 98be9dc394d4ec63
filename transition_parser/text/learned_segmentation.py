"""The sentences of text in any language, found by a network that was trained on a treebank.

The network labels the characters of the shown text (`Clusters`), in which a run of white space is one blank.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple, Protocol

from transition_parser.text.characters import Clusters
from transition_parser.text.languages import SegmenterOfLanguages
from transition_parser.text.lemmas import shared_start
from transition_parser.text.segmentation import LONG_WORD, LONGEST, FindLanguage, Segmenter, TextSentence
from transition_parser.text.tokens import Token


class Boundary(IntEnum):
    """The bits of the label of the last character of a token; no `IntFlag`, whose operators are slow."""

    END = 1
    SEVERAL = 2  # the token has several syntactic words
    SENTENCE = 4  # a sentence ends with the token


class WrittenToken(NamedTuple):
    """A token of a corpus."""

    form: str  # with a single blank where a blank is inside the token
    words: tuple[str, ...]  # syntactic words
    space_after: bool = True  # of any kind


class WrittenSentence(NamedTuple):
    """A sentence of a corpus; `opens_paragraph` is True for the first sentence of a paragraph."""

    tokens: tuple[WrittenToken, ...]
    opens_paragraph: bool = False
    domain: str | None = None  # where there are several


def labeled(sentences: Iterable[WrittenSentence]) -> Iterator[tuple[str, bytes]]:
    """Yield each paragraph with a label for each character that is no white space; those of "Go." are 0, 1, 5."""
    text: list[str] = []
    labels = bytearray()
    for sentence in sentences:
        if sentence.opens_paragraph and text:
            yield "".join(text).rstrip(), bytes(labels)
            text, labels = [], bytearray()
        for token in sentence.tokens:
            text += (token.form, " " * token.space_after)
            last = Boundary.END | (Boundary.SEVERAL if len(token.words) > 1 else 0)
            labels += bytes(len("".join(token.form.split())) - 1) + bytes([last])
        labels[-1] |= Boundary.SENTENCE
    if text:
        yield "".join(text).rstrip(), bytes(labels)


class Unit(NamedTuple):
    """A token that labels delimit: the places of its first character and after its last one, and its `Boundary`."""

    start: int
    end: int
    label: int


_RUN = re.compile(r"\S+")
_LABEL = re.compile(rb"[^\x00]")


def units(
    text: str, labels: bytes, holds_blanks: bool, most: int, is_end: bool = True, start: int = 0
) -> Iterator[Unit]:
    """Yield the complete tokens of a text from `start` on, of up to `most` characters each."""
    used, first, end = 0, None, start  # first: of the unfinished token, whose last character is before `end`
    for match in _RUN.finditer(text, start):
        space = text[end : match.start()]
        if first is not None and not (holds_blanks and len(space) == 1 and unicodedata.category(space) == "Zs"):
            yield Unit(first, end, Boundary.END)
            first = None
        known = labels[used : used + len(match[0])]
        for label in (*_LABEL.finditer(known), None):
            first = match.start() if first is None else first
            end = match.start() + (label.end() if label else len(known))
            while end - first > most:
                yield Unit(first, first + most, Boundary.END)
                first += most
            if label:
                yield Unit(first, end, known[label.start()])
                first = end
        first = None if first == end else first
        used += len(known)
        if len(known) < len(match[0]):
            return
    if is_end and first is not None:
        yield Unit(first, end, Boundary.END)


Words = tuple[str, ...]


class MultiWords(NamedTuple):
    """The expansions of multi-word tokens that training has shown."""

    forms: Mapping[str, Words] = {}
    suffixes: Mapping[str, Words] = {}  # the end of the first word, then the other words
    prefixes: Mapping[str, Words] = {}  # the words before the last one, then the start of that word

    @classmethod
    def of_examples(cls, examples: Iterable[tuple[str, Words]]) -> MultiWords:
        """Learn from pairs of a token and its words. Of several expansions, the most frequent is kept.

        A suffix or prefix is kept if most of the tokens with it are divided there. In Hebrew many tokens begin with the
        article `ה`, and many of their words end with the same letter, which is seldom a pronoun.
        """
        tables: tuple[_Counts, ...] = (defaultdict(Counter), defaultdict(Counter), defaultdict(Counter))
        forms, suffixes, prefixes = tables
        ends, starts = Counter[str](), Counter[str]()
        for form, words in examples:
            forms[form][words] += 1
            form, words = form.lower(), tuple(word.lower() for word in words)
            ends.update(form[-size:] for size in range(1, len(form)))
            starts.update(form[:size] for size in range(1, len(form)))
            same = shared_start(form, words[0])
            if 0 < same < len(form):
                suffixes[form[same:]][words[0][same:], *words[1:]] += 1
            last = words[-1]
            same = shared_start(form[::-1], last[::-1])
            if 0 < same < len(form):
                prefixes[form[: len(form) - same]][*words[:-1], last[: len(last) - same]] += 1
        for table, counts in ((suffixes, ends), (prefixes, starts)):
            for key in [key for key, words in table.items() if words.total() < _MOST * counts[key]]:
                del table[key]
        most_frequent = (
            {key: min(words, key=lambda one: (-words[one], one)) for key, words in sorted(table.items())}
            for table in tables
        )
        return cls(*most_frequent)

    def words(self, form: str) -> Words:
        """Return the words of a token by its form, its lower-cased form, or its longest known suffix or prefix."""
        form = " ".join(form.split())
        if form in self.forms:
            return self.forms[form]
        lowered = form.lower()
        if lowered in self.forms:
            return _with_case(self.forms[lowered], form)
        for size in range(len(form) - 1, 0, -1):
            if (words := self.suffixes.get(lowered[-size:])) is not None:
                return (form[:-size] + words[0], *words[1:])
            if (words := self.prefixes.get(lowered[:size])) is not None:
                return (*_with_case(words[:-1], form), words[-1] + form[size:])
        return (form,)


_Counts = defaultdict[str, Counter[Words]]
_MOST = 0.5  # the least share of the tokens with a suffix or prefix that are divided there


def _with_case(words: Words, form: str) -> Words:
    """Return the words in capitals if the form is in capitals, or with a first capital if the form has one."""
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if form[:1].isupper() and words else words


class Labeler(Protocol):
    """A network that labels characters."""

    def of_domain(self, domain: str | None) -> Labeler:
        """Return the same network for texts of a domain, None for no particular one."""

    @property
    def context(self) -> int:
        """The number of characters on each side that the label of a character may depend on."""

    def __call__(self, text: str, first: int, end: int) -> bytes:
        """Return the labels of the characters `first` ≤ i < `end`; the text's ends, if near, end a paragraph."""


class Habits(NamedTuple):
    """The ways of the treebank of a domain that the network does not learn."""

    multiwords: MultiWords = MultiWords()
    holds_blanks: bool = False  # True where tokens of the treebank hold blanks, as `20 000` in French


@dataclass(frozen=True)
class LearnedSegmenter(Segmenter):
    """A segmenter that was trained on a treebank, or on the treebanks of several domains."""

    labeler: Labeler
    of_domains: Mapping[str | None, Habits]  # of a single treebank: for the domain None
    domain: str | None = None  # of the texts; None: no particular one

    def of_domain(self, domain: str | None, find: FindLanguage | None = None) -> Segmenter:
        if None in self.of_domains:
            return self
        if find is not None:
            return SegmenterOfLanguages({one: self.of_domain(one) for one in (None, *self.of_domains)}, find)
        return replace(self, labeler=self.labeler.of_domain(domain), domain=domain)

    @property
    def habits(self) -> Habits:
        """The ways of the treebank of the domain; without one, tokens are single words without blanks."""
        return self.of_domains.get(self.domain, Habits())

    def sentences(self, lines: Iterable[str], longest: int = LONGEST) -> Iterator[TextSentence]:
        """Yield the sentences of a text. A long paragraph is read in stretches."""
        for sentence in super().sentences(lines, longest):
            yield sentence._replace(tokens=tuple(map(self._with_words, sentence.tokens)))

    def tokens(self, text: str) -> Iterator[Token]:
        clusters = Clusters.of(text)
        found, _ends = self.read(clusters.shown, 0, True, LONGEST)
        return (self._with_words(token.in_text(clusters)) for token in found)

    def _with_words(self, token: Token) -> Token:
        """Return a token of the text as written; the words of several come from its form as written."""
        if token.written is None:
            return token
        words = self.habits.multiwords.words(token.form)
        return Token(token.start, words, None if "".join(words) == token.form else token.form)

    def read(self, text: str, first: int, is_end: bool, longest: int) -> tuple[list[Token], list[int]]:
        tokens, ends = [], []
        multiwords, holds_blanks = self.habits
        labels = self._labels(text, first, is_end)
        for unit in units(text, labels, holds_blanks, longest * LONG_WORD, is_end, first):
            form = text[unit.start : unit.end]
            several = unit.label & Boundary.SEVERAL
            words = multiwords.words(form) if several else (form,)
            tokens.append(Token(unit.start, words, form if several else None))
            if unit.label & Boundary.SENTENCE:
                ends.append(len(tokens))
        ends = [end for end in ends if end < len(tokens)]  # it is not known what follows the last token
        return tokens, [*ends, len(tokens)] if is_end and tokens else ends

    def _labels(self, text: str, first: int, is_end: bool) -> bytes:
        """Return the labels of the characters from `first` on that are not white space.

        Labels that the next characters may change are left out.
        """
        before, squeezed = " ".join(text[:first].split()), " ".join(text.split())
        start = len(before) + bool(before and text[first - 1].isspace())
        end = len(squeezed) if is_end else max(len(squeezed) - self.labeler.context, start)
        found = b"".join(self.labeler(squeezed, i, min(i + self.stretch, end)) for i in range(start, end, self.stretch))
        return bytes(label for label, c in zip(found, squeezed[start:end], strict=True) if c != " ")

    def context(self, text: str) -> int:
        size = wanted = self.labeler.context
        while size < len(text) and len(" ".join(text[-size:].split())) <= wanted:
            size *= 2
        return min(size, len(text))
