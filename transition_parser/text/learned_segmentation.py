"""The sentences of text in any language, found by a network that was trained on a treebank.

The network labels the characters of the shown text (`text.clusters`, `text.boundaries`). It reads a limited number of
characters on each side of each character, so reading a long text in stretches does not change the result. A run of
white space counts as one blank, and a paragraph ends at a blank line, where a sentence always ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from transition_parser.text.boundaries import Boundary, Unit, Units
from transition_parser.text.clusters import Clusters
from transition_parser.text.lengths import LONG_WORD, LONGEST, length
from transition_parser.text.multiwords import MultiWords
from transition_parser.text.paragraphs import stretches
from transition_parser.text.segmentation import ShownLines, TextSentence
from transition_parser.text.tokens import Token

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
        """Yield the sentences of a text. A long paragraph is read in stretches.

        lines: the lines of the text, without line ends
        longest: the maximum length of a sentence in words (`text.lengths`); a longer sentence is divided
        """
        shown = ShownLines(lines)
        paragraph = None
        for start, stretch, is_end in stretches(shown, STRETCH):
            paragraph = paragraph or _Paragraph(self, start, longest)
            for sentence in map(shown.written, paragraph.read(stretch, is_end)):
                yield sentence._replace(tokens=tuple(map(self._with_words, sentence.tokens)))
            paragraph = None if is_end else paragraph

    def tokens(self, text: str) -> Iterator[Token]:
        """Yield the tokens of a text that is one sentence."""
        clusters = Clusters.of(text)
        for unit in self._units(clusters.shown):
            yield self._with_words(token_of(unit).in_text(clusters))

    def _units(self, shown: str) -> Iterator[Unit]:
        labels, units = _Labels(self.labeller), Units(0, self.holds_blanks, LONGEST * LONG_WORD)
        for first in range(0, len(shown), STRETCH):
            stretch = shown[first : first + STRETCH]
            yield from units.read(*labels.read(stretch, first + STRETCH >= len(shown)))
        yield from units.rest()

    def _with_words(self, token: Token) -> Token:
        """Return a token with its syntactic words, if `token_of` left them out."""
        if token.words:
            return token
        words = self.multiwords.words(token.form)
        return Token(token.start, words, None if "".join(words) == token.form else token.form)


def token_of(unit: Unit) -> Token:
    """Return the token of a unit. It has no words if it has several, because the shown form may not tell them."""
    return Token(unit.start, (), unit.form) if unit.label & Boundary.SEVERAL else Token(unit.start, (unit.form,))


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
        token = token_of(unit)
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
        """Return the next characters of the paragraph, and labels for those that are not white space.

        Characters whose labels depend on the next stretch are held back.
        """
        self._raw += stretch
        self._squeeze(stretch)
        size = len(self._waiting) if is_end else max(len(self._waiting) - self._labeller.context, 0)
        now, self._waiting, text = self._waiting[:size], self._waiting[size:], self._before + self._waiting
        found = self._labeller(text, len(self._before), len(self._before) + size) if size else b""
        self._before = (self._before + now)[-self._labeller.context :]
        raw, self._raw = _cut(self._raw, len(self._waiting) - self._waiting.count(" "))
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


def _cut(text: str, held: int) -> tuple[str, str]:
    """Return the text in two parts. The second holds exactly the last `held` characters that are not white space."""
    end = len(text)
    while held:
        end -= 1
        held -= not text[end].isspace()
    return text[:end], text[end:]
