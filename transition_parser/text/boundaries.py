"""The boundaries of tokens and sentences as labels of characters, for segmenters that are learned.

Each character that is not white space has a label: 0 inside a token, and a `Boundary` at its last character.
`labelled` makes the labels from known tokens, and `Units` makes tokens from labels.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from enum import IntFlag
from typing import NamedTuple


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
    """A token, delimited by the labels of characters.

    start: the position of its first character
    form: its characters
    label: the `Boundary` at its last character
    space: the white space before it
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
        """Read the next characters of the paragraph, and yield the tokens that are then complete.

        labels: one byte for each character of `text` that is not white space
        """
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
        if self._inside and not (self._holds_blanks and _is_blank(self._inside)):
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


def _is_blank(space: str) -> bool:
    return len(space) == 1 and unicodedata.category(space) == "Zs"
