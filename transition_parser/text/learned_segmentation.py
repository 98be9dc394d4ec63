"""The sentences of text in any language, found by a network that was trained on a treebank.

The network labels the characters of the shown text (`Clusters`). It reads a limited number of
characters on each side of each character, so reading a long text in stretches does not change the result. A run of
white space counts as one blank, and a paragraph ends at a blank line, where a sentence always ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import NamedTuple, Protocol

from transition_parser.text.characters import Clusters
from transition_parser.text.segmentation import LONG_WORD, LONGEST, ShownLines, TextSentence, length, stretches
from transition_parser.text.tokens import Token


class Boundary(IntFlag):
    """The label of the last character of a token.

    END: a token ends with the character
    SEVERAL: the token has several syntactic words
    SENTENCE: a sentence ends with the token
    """

    END = 1
    SEVERAL = 2
    SENTENCE = 4


class WrittenToken(NamedTuple):
    """A token of a corpus.

    form: its characters, with a single blank where a blank is inside the token
    words: its syntactic words
    space_after: True where white space follows
    """

    form: str
    words: tuple[str, ...]
    space_after: bool = True


class WrittenSentence(NamedTuple):
    """A sentence of a corpus; `opens_paragraph` is True for the first sentence of a paragraph."""

    tokens: tuple[WrittenToken, ...]
    opens_paragraph: bool = False


class Labelled(NamedTuple):
    """A paragraph, and a label for each of its characters that is not white space."""

    text: str
    labels: bytes


def labelled(sentences: Iterable[WrittenSentence]) -> Iterator[Labelled]:
    """Yield the paragraphs of a corpus with their labels.

    >>> go = WrittenSentence((WrittenToken("Go", ("Go",), False), WrittenToken(".", (".",))))
    >>> next(labelled([go, go]))
    Labelled(text='Go. Go.', labels=b'\\x00\\x01\\x05\\x00\\x01\\x05')
    """
    text: list[str] = []
    labels = bytearray()
    for sentence in sentences:
        if sentence.opens_paragraph and text:
            yield Labelled("".join(text).rstrip(), bytes(labels))
            text, labels = [], bytearray()
        for token in sentence.tokens:
            text += (token.form, " " * token.space_after)
            last = Boundary.END | (Boundary.SEVERAL if len(token.words) > 1 else 0)
            labels += bytes(len("".join(token.form.split())) - 1) + bytes([last])
        labels[-1] |= Boundary.SENTENCE
    if text:
        yield Labelled("".join(text).rstrip(), bytes(labels))


class Unit(NamedTuple):
    """A token, delimited by the labels of characters: its first character's position, its characters, the `Boundary`
    at its last character, and the white space before it.
    """

    start: int
    form: str
    label: int
    space: str


_RUN = re.compile(r"\s+|\S+")
_LABEL = re.compile(rb"[^\x00]")


class Units:
    """A builder of the tokens of a paragraph, which is read in chunks. The chunk sizes do not change the tokens.

    start: the position of the paragraph in the whole text
    holds_blanks: True where a token may hold single blanks; a token never holds other white space
    most: the maximum number of characters of a token; a longer one is divided
    """

    def __init__(self, start: int, holds_blanks: bool, most: int) -> None:
        self._here = self._start = start
        self._holds_blanks, self._most = holds_blanks, most
        self._space = self._form = self._inside = ""  # inside: white space after the unfinished token

    def read(self, text: str, labels: bytes) -> Iterator[Unit]:
        """Read the next characters, with a label for each that is no white space, and yield the complete tokens."""
        used = 0
        for match in _RUN.finditer(text):
            run = match[0]
            if not run.isspace():
                yield from self._add(run, labels[used : used + len(run)])
                used += len(run)
            elif self._form:
                self._inside += run
            else:
                self._space += run
            self._here += len(run)

    def rest(self) -> Iterator[Unit]:
        """Yield the unfinished token, if there is one. White space or the end of the paragraph ends this token."""
        if self._form:
            yield self._unit(len(self._form), Boundary.END)

    def _add(self, run: str, labels: bytes) -> Iterator[Unit]:
        is_blank = len(self._inside) == 1 and unicodedata.category(self._inside) == "Zs"
        if self._inside and not (self._holds_blanks and is_blank):
            yield from self.rest()
        first = 0
        for match in _LABEL.finditer(labels):
            yield from self._grow(run, first, match.end())
            yield self._unit(len(self._form), labels[match.start()])
            first = match.end()
        if first < len(run):
            yield from self._grow(run, first, len(run))

    def _grow(self, run: str, first: int, end: int) -> Iterator[Unit]:
        """Add the characters `first` ≤ i < `end` of `run` to the unfinished token. Yield parts if it is too long."""
        if not self._form:
            self._start = self._here + first
        self._form, self._inside = self._form + self._inside + run[first:end], ""
        while len(self._form) > self._most:
            yield self._unit(self._most, Boundary.END)

    def _unit(self, size: int, label: int) -> Unit:
        unit = Unit(self._start, self._form[:size], label, self._space)
        self._start, self._form = self._start + size, self._form[size:]
        self._space, self._inside = ("", self._inside) if self._form else (self._inside, "")
        return unit


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
        """Learn from pairs of a token and its words. Of several expansions, the most frequent is kept."""
        tables: tuple[_Counts, ...] = (defaultdict(Counter), defaultdict(Counter), defaultdict(Counter))
        forms, suffixes, prefixes = tables
        for form, words in examples:
            forms[form][words] += 1
            form, words = form.lower(), tuple(word.lower() for word in words)
            same = _shared(form, words[0])
            if 0 < same < len(form):
                suffixes[form[same:]][words[0][same:], *words[1:]] += 1
            last = words[-1]
            same = _shared(form[::-1], last[::-1])
            if 0 < same < len(form):
                prefixes[form[: len(form) - same]][*words[:-1], last[: len(last) - same]] += 1
        return cls(
            *(
                {key: min(words, key=lambda one: (-words[one], one)) for key, words in sorted(table.items())}
                for table in tables
            )
        )

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
        for size in range(len(form) - 1, 0, -1):
            if (words := self.suffixes.get(lowered[-size:])) is not None:
                return (form[:-size] + words[0], *words[1:])
            if (words := self.prefixes.get(lowered[:size])) is not None:
                return (*_with_case(words[:-1], form), words[-1] + form[size:])
        return (form,)


_Counts = defaultdict[str, Counter[Words]]


def _shared(a: str, b: str) -> int:
    """Return the number of characters at the beginning that two strings share."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _with_case(words: Words, form: str) -> Words:
    """Return the words in capitals if the form is in capitals, or with a first capital if the form has one."""
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if form[:1].isupper() and words else words


STRETCH = 1 << 14  # the approximate number of characters that are labelled at once


class Labeller(Protocol):
    """A network that labels characters."""

    @property
    def context(self) -> int:
        """The number of characters on each side that the label of a character may depend on."""

    def __call__(self, text: str, first: int, end: int) -> bytes:
        """Return the labels of the characters `first` ≤ i < `end` of a text.

        If fewer than `context` characters precede `first`, the start of the text is the start of a paragraph. If fewer
        than `context` characters follow the range, the end of the text is the end of the paragraph.
        """


@dataclass(frozen=True)
class LearnedSegmenter:
    """A segmenter that was trained on a treebank.

    labeller: the network
    multiwords: the syntactic words of multi-word tokens
    holds_blanks: True where tokens of the treebank hold blanks, as `20 000` in French
    """

    labeller: Labeller
    multiwords: MultiWords
    holds_blanks: bool

    def sentences(self, lines: Iterable[str], longest: int = LONGEST) -> Iterator[TextSentence]:
        """Yield the sentences of a text. A long paragraph is read in stretches."""
        shown = ShownLines(lines)
        paragraph = None
        for start, stretch, is_end in stretches(shown, STRETCH):
            paragraph = paragraph or _Paragraph(self, start, longest)
            for sentence in map(shown.written, paragraph.read(stretch, is_end)):
                yield sentence._replace(tokens=tuple(map(self._with_words, sentence.tokens)))
            paragraph = None if is_end else paragraph

    def tokens(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a text that is one sentence."""
        clusters, paragraph = Clusters.of(text), _Paragraph(self, 0, LONGEST)
        for first in range(0, len(clusters.shown), STRETCH):
            end = first + STRETCH
            for sentence in paragraph.read(clusters.shown[first:end], end >= len(clusters.shown)):
                yield from (self._with_words(token.in_text(clusters)) for token in sentence.tokens)

    def _with_words(self, token: Token) -> Token:
        """Return a token with its syntactic words, if `_Paragraph` left them out."""
        if token.words:
            return token
        words = self.multiwords.words(token.form)
        return Token(token.start, words, None if "".join(words) == token.form else token.form)


class _Paragraph:
    """A builder of the sentences of one paragraph, whose text comes in stretches."""

    def __init__(self, segmenter: LearnedSegmenter, start: int, longest: int) -> None:
        self._segmenter, self._longest = segmenter, longest
        self._labels = _Labels(segmenter.labeller)
        self._units = Units(start, segmenter.holds_blanks, longest * LONG_WORD)
        self._opens, self._ended = True, False
        self._tokens: list[Token] = []
        self._text: list[str] = []
        self._length = 0

    def read(self, stretch: str, is_end: bool) -> Iterator[TextSentence]:
        """Yield the sentences that are complete after the next stretch of the paragraph."""
        for unit in self._units.read(*self._labels.read(stretch, is_end)):
            yield from self._add(unit)
        if is_end:
            for unit in self._units.rest():
                yield from self._add(unit)
            if self._tokens:
                yield self._sentence(True)

    def _add(self, unit: Unit) -> Iterator[TextSentence]:
        # a token of several words has none yet, because the shown form may not tell them
        words = () if unit.label & Boundary.SEVERAL else (unit.form,)
        token = Token(unit.start, words, None if words else unit.form)
        more = length(token.words or self._segmenter.multiwords.words(unit.form))
        if self._tokens and (self._ended or self._length + more > self._longest):
            yield self._sentence(bool(unit.space), not self._ended)
        self._text += (unit.space, unit.form) if self._tokens else (unit.form,)
        self._tokens.append(token)
        self._length += more
        self._ended = bool(unit.label & Boundary.SENTENCE)

    def _sentence(self, space_after: bool, goes_on: bool = False) -> TextSentence:
        sentence = TextSentence("".join(self._text), tuple(self._tokens), self._opens, space_after, goes_on)
        self._opens, self._ended = False, False
        self._tokens, self._text, self._length = [], [], 0
        return sentence


class _Labels:
    """A labeller of the characters of one paragraph, whose text comes in stretches."""

    def __init__(self, labeller: Labeller) -> None:
        self._labeller = labeller
        self._raw = ""  # the characters that have no label yet, as written
        self._waiting = ""  # these characters, with one blank for each run of white space
        self._before = ""  # the characters before `_waiting` that are its context
        self._blank = False  # True where white space follows `_waiting`

    def read(self, stretch: str, is_end: bool) -> tuple[str, bytes]:
        """Return the next characters of the paragraph, and labels for those that are not white space."""
        self._raw += stretch
        self._squeeze(stretch)
        size = len(self._waiting) if is_end else max(len(self._waiting) - self._labeller.context, 0)
        now, self._waiting, text = self._waiting[:size], self._waiting[size:], self._before + self._waiting
        found = self._labeller(text, len(self._before), len(self._before) + size) if size else b""
        self._before = (self._before + now)[-self._labeller.context :]
        held, end = len(self._waiting) - self._waiting.count(" "), len(self._raw)
        while held:  # these characters and the white space between them stay
            end -= 1
            held -= not self._raw[end].isspace()
        raw, self._raw = self._raw[:end], self._raw[end:]
        return raw, bytes(label for label, character in zip(found, now, strict=True) if character != " ")

    def _squeeze(self, stretch: str) -> None:
        """Add a stretch to `_waiting` with single blanks, none of them first in the paragraph or last in `_waiting`."""
        words = " ".join(stretch.split())
        opens = not self._before and not self._waiting
        blank = self._blank or stretch[:1].isspace()
        if words:
            self._waiting += (" " if blank and not opens else "") + words
            self._blank = stretch[-1].isspace()
        else:
            self._blank = blank
