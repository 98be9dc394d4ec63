"""Sentences to parse, from CoNLL-U, AMR banks or text."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple, TypeVar

from transition_parser.base.errors import input_error, warn
from transition_parser.base.files import open_input, unpacked_name
from transition_parser.graphs.bank import AmrEntry, parse_bank
from transition_parser.graphs.conllu import COLUMNS, Sentence, check_line_ends, decoded, parse_conllu
from transition_parser.parsing.sentences.streams import standard_input
from transition_parser.parsing.sentences.texts import MORE, TextWarnings, as_kind, sentences_of_text, without_mark
from transition_parser.text.segmentation import ENGLISH, LONGEST, Segmenter, TextSentence, is_longer, one_sentence
from transition_parser.text.spacy_tokens import tokenize, tokens_of_spacy
from transition_parser.text.tokens import Token

T = TypeVar("T", Sentence, AmrEntry)
Kind = type[Sentence] | type[AmrEntry]

_BANK_COMMENT = re.compile(rb"(?:\xef\xbb\xbf)?# ::(?:id|snt|tok)\s")
_NO_BLANKS = re.compile(r"[^ \t]+")
_TEXT = "text (--raw, in Python raw=True, reads any file as text)"


class FileLayout(Enum):
    """The ways in which a file holds its sentences."""

    BLOCKS = "blocks of lines, with a blank line after each (CoNLL-U, banks)"
    LINES = "each on a line of its own"
    WORDS = "each word on a line of its own, with a blank line after each sentence"
    PARAGRAPHS = "anywhere in paragraphs, which end at blank lines"


class Reading(NamedTuple):
    """The options with which inputs are read.

    tokenized: None (default): text holds any number of sentences, and its paragraphs end at blank lines; True: the file
        is text, and each line that is not blank is one sentence, with blanks or tabs between its tokens; False: the
        same, but the segmenter finds the tokens (for AMRs, spaCy's rules for English)
    raw: True to read the file as text with `tokenized` None, whatever it looks like
    vertical: True to read the file as text with a word a line, up to a tab, and a blank line after each sentence
    longest: maximum length of a sentence in words; a longer sentence of raw text is divided, with a warning
    segmenter: divides text into sentences and tokens, by default by rules for English
    column: the column of tables that holds the text
    added: the column for parses that the output of a table gets; the input must not have a column of this name
    """

    tokenized: bool | None = None
    raw: bool = False
    column: str | None = None
    added: str | None = None
    longest: int = LONGEST
    segmenter: Segmenter = ENGLISH
    vertical: bool = False

    @property
    def layout_of_text(self) -> FileLayout:
        """The layout of text."""
        if self.vertical:
            return FileLayout.WORDS
        return FileLayout.PARAGRAPHS if self.raw or self.tokenized is None else FileLayout.LINES


class EmptyLine(NamedTuple):
    """A line without a sentence, where each line is to be one."""

    line: int  # the number of the line


def read_sentences(path: str | os.PathLike, kind: type[T], reading: Reading | None = None) -> Iterator[T]:
    """Yield the sentences of a file, `-` for standard input, as they are read, each a `kind`.

    A file is CoNLL-U where its first line that is no comment has ten columns, or where its name ends in `.conllu`. It
    is an AMR bank where it opens with comments that have an id, a sentence or tokens and a graph or a blank line after
    them, or where its name ends in `.amr`; the graphs of a bank are not read. Any other file is text. Text without
    sentences gives a `ParserWarning`; CoNLL-U and banks without sentences are an `InputError`.
    """
    found = sentences_in_file(str(path), kind, reading or Reading())
    return (sentence for sentence in found if not isinstance(sentence, EmptyLine))


def sentences_in_file(path: str, kind: Kind, reading: Reading) -> Iterator[Any]:
    """Yield the sentences of a file that is no table. In place of a line without a sentence there is an `EmptyLine`."""
    with opened(path) as (file, name):
        head, layout = head_and_layout(file, name, kind, reading)
        empty = True
        for sentence in SentenceReader(name, kind, reading).read(chain(head, file), layout):
            empty &= isinstance(sentence, EmptyLine)
            yield sentence
        if empty:
            no_sentences(name, layout)


@contextmanager
def opened(path: str | os.PathLike) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, or standard input, and yield the open file with its name for messages."""
    if str(path) == "-":
        yield standard_input(), "standard input"
        return
    with open_input(path) as file:
        yield file, str(path)


def head_and_layout(lines: Iterator[bytes], name: str, kind: Kind, reading: Reading) -> tuple[list[bytes], FileLayout]:
    """Return the first lines of a file, as far as they had to be read to know its layout, and the layout."""
    if reading.raw or reading.vertical or reading.tokenized is not None:
        return [], reading.layout_of_text
    head = _head(lines)
    shown = [line.removeprefix(BOM_UTF8) for line in head]
    is_rows = bool(shown) and shown[-1].count(b"\t") == len(COLUMNS) - 1 and shown[-1][:1] != b"#"
    is_bank, is_conllu = _is_bank(shown, name), is_rows or unpacked_name(name).endswith(".conllu")
    if kind is Sentence and is_bank:
        raise input_error(f"the file is an AMR bank, but the model parses into trees: give CoNLL-U or {_TEXT}", name)
    if kind is AmrEntry and is_conllu:
        raise input_error(f"the file is CoNLL-U, but the model parses into AMRs: give an AMR bank or {_TEXT}", name)
    return head, FileLayout.BLOCKS if is_bank or is_conllu else FileLayout.PARAGRAPHS


def _head(lines: Iterator[bytes]) -> list[bytes]:
    """Return the lines up to the first one that is neither blank nor a comment, or the end of an entry of a bank."""
    head: list[bytes] = []
    of_bank = False
    for line in lines:
        head.append(line)
        of_bank |= _BANK_COMMENT.match(line) is not None
        if not line.strip():
            if of_bank:  # an entry without a graph, after which a pipe may pause
                break
        elif not line.removeprefix(BOM_UTF8).startswith(b"#"):
            break
    return head


def no_sentences(name: str, layout: FileLayout) -> None:
    """Warn that a file of plain text has no sentences; an error would keep other files from being parsed."""
    error = input_error("the file holds no sentences", name)
    if layout is FileLayout.BLOCKS:
        raise error
    warn(str(error))


def _is_bank(head: list[bytes], name: str) -> bool:
    """Return True for comments with an id, a sentence or tokens, and a graph after them; the graph may be missing."""
    if unpacked_name(name).endswith(".amr"):
        return True
    last = head[-1].lstrip() if head else b""
    return any(map(_BANK_COMMENT.match, head)) and (not last or last.startswith((b"#", b"(")))


class SentenceReader:
    """A reader of sentences of the class `kind` from lines; `name` stands for the lines in messages."""

    def __init__(self, name: str, kind: Kind, reading: Reading, warned: TextWarnings | None = None) -> None:
        self.name, self.kind, self.reading = name, kind, reading
        self.warned = warned or TextWarnings(of_markup=not reading.raw)

    def read(self, lines: Iterable[bytes], layout: FileLayout) -> Iterator[Any]:
        """Return an iterator over the sentences of some lines; with the layout LINES, some items are an `EmptyLine`."""
        if layout is not FileLayout.BLOCKS:
            text = (decoded(raw, self.name, number) for number, raw in enumerate(lines, 1))
            return self.of_text(text, layout)
        if self.kind is Sentence:
            return parse_conllu(lines, self.name)
        entries = parse_bank(lines, self.name, graphs=False)
        words = ((one, one.tokens or tokenize(one.text)) for one in entries)
        return (replace(one, metadata={**one.metadata, "tok": " ".join(forms)}) for one, forms in words)

    def of_text(self, lines: Iterable[str], layout: FileLayout) -> Iterator[Any]:
        """Return an iterator as `read` does over the sentences of lines of text, each with its line end."""
        ways = {
            FileLayout.PARAGRAPHS: self._of_paragraphs,
            FileLayout.LINES: self._of_lines,
            FileLayout.WORDS: self._of_words,
        }
        return ways[layout](self._plain(lines))

    def _plain(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines with all their characters, a tab in place of a byte-order mark at the file's start."""
        for number, line in enumerate(lines, 1):
            self.warned.markup(line, self.name)
            yield without_mark(line) if number == 1 else line

    def _of_paragraphs(self, lines: Iterable[str]) -> Iterator[Any]:
        longest = self.reading.longest
        sentences = self.reading.segmenter.sentences((line.removesuffix("\n") for line in lines), longest)
        return sentences_of_text(self.warned.divided(sentences, self.name, longest), self.kind, path=self.name)

    def _of_lines(self, lines: Iterable[str]) -> Iterator[Any]:
        """Yield a sentence for each line, an `EmptyLine` for a line without tokens."""
        count, place, longest = 0, 0, self.reading.longest
        divide = self.reading.segmenter.tokens if self.kind is Sentence else tokens_of_spacy
        if self.reading.tokenized:
            divide = _words_of
        for number, written in enumerate(lines, 1):
            line = written.rstrip("\r\n")
            check_line_ends([line], self.name, number)
            found = islice(divide(line), longest + 1) if line.strip() else ()  # all tokens may fill the memory
            sentence = one_sentence(found, line)
            count += sentence is not None
            yield self._whole(sentence, count, number, place) if sentence else EmptyLine(number)
            place += len(written)

    def _of_words(self, lines: Iterable[str]) -> Iterator[Any]:
        """Yield a sentence for each stretch of lines that are not blank; what follows a tab is no part of a word."""
        count, place, text = 0, 0, ""
        tokens: list[Token] = []
        for number, line in enumerate(chain(lines, [""]), 1):
            check_line_ends([line.rstrip("\r\n")], self.name, number)
            if word := line.strip().partition("\t")[0].rstrip():
                tokens.append(Token(len(text) + line.index(word), (word,)))
                text += line
            if (not word or len(tokens) > self.reading.longest) and (sentence := one_sentence(tokens, text)):
                count, first = count + 1, number - len(tokens) + (word != "")
                yield self._whole(sentence, count, first, place)
                place, text, tokens = place + len(text), "", []
            if not word:
                place += len(line)

    def _whole(self, sentence: TextSentence, number: int, line: int, place: int) -> Any:
        """Return the sentence that a line holds, or several lines from `line` on."""
        longest = self.reading.longest
        if is_longer([word for token in sentence.tokens for word in token.words], longest):
            problem = f"the sentence has more than {longest} words: divide it, or allow it with {MORE}"
            raise input_error(problem, self.name, line)
        return as_kind(sentence, sentence.tokens, self.kind, number, self.name, line, place)


def _words_of(text: str) -> Iterator[Token]:
    return (Token(match.start(), (match[0],)) for match in _NO_BLANKS.finditer(text))
