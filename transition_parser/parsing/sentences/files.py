"""Sentences to parse, from CoNLL-U, AMR banks or text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, TypeVar

from transition_parser.base.errors import input_error, warn
from transition_parser.graphs.bank import AmrEntry, check_line_ends, parse_bank
from transition_parser.graphs.conllu import Sentence, decode_line, decoded, parse_conllu
from transition_parser.parsing.sentences.streams import standard_input
from transition_parser.parsing.sentences.texts import MORE, OF_TEXT, TextWarnings, on_one_line, rows_of, without_mark
from transition_parser.parsing.sentences.tokenised import TokenisedCheck
from transition_parser.text.lengths import LONGEST
from transition_parser.text.segmentation import ENGLISH, EnglishRules, Segmenter
from transition_parser.text.tokens import tokenise

T = TypeVar("T", Sentence, AmrEntry)
Kind = type[Sentence] | type[AmrEntry]

_BANK_COMMENT = b"# ::"


class FileLayout(Enum):
    """The ways in which a file holds its sentences.

    BLOCKS: each sentence is a block of lines with a blank line behind it (CoNLL-U, banks)
    LINES: each sentence is on a line of its own
    PARAGRAPHS: sentences stand anywhere in paragraphs, which end at blank lines
    """

    BLOCKS = "blocks"
    LINES = "lines"
    PARAGRAPHS = "paragraphs"


class Start(NamedTuple):
    """The place in a file where some lines begin.

    line: number of the first of the lines
    sentences, characters: number of sentences, and of characters, before the lines
    """

    line: int
    sentences: int
    characters: int


WHOLE = Start(1, 0, 0)


def read_sentences(
    path: str | os.PathLike,
    tokenised: bool | None = None,
    raw: bool = False,
    longest: int = LONGEST,
    segmenter: Segmenter = ENGLISH,
) -> Iterator[Sentence]:
    """Yield the sentences of a file, `-` for standard input, as they are read.

    A file is CoNLL-U where its first line that is no comment holds a tab, or where its name ends in `.conllu`. Any
    other file is text. Text without sentences gives a `ParserWarning`; CoNLL-U without sentences is an `InputError`.

    tokenised: None (default): text holds any number of sentences, and its paragraphs end at blank lines; True:
        each line that is not blank is one sentence, with white space between its tokens; False: each line that is not
        blank is one sentence, whose tokens the segmenter finds
    raw: True to read the file as text with `tokenised` None, whatever it looks like
    longest: maximum length of a sentence; a longer sentence of raw text is divided, with a warning; see `text.lengths`
    segmenter: divides text into sentences and tokens, by default by rules for English
    """
    return _read(path, Sentence, tokenised, raw, longest, segmenter)


def read_amr_sentences(
    path: str | os.PathLike,
    tokenised: bool | None = None,
    raw: bool = False,
    longest: int = LONGEST,
    segmenter: Segmenter = ENGLISH,
) -> Iterator[AmrEntry]:
    """Yield the sentences of a file, `-` for standard input, each as an entry with `# ::tok` and `# ::id`.

    A file is an AMR bank where it opens with a comment `# ::…`, or where its name ends in `.amr`. The graphs of a bank
    are not read; the tokens are `# ::tok` where given, else they are found by spaCy's rules for English. Any other file
    is text, and the number of a sentence is its id.

    tokenised: as in `read_sentences`, but tokens that are not given are found by spaCy's rules for English
    raw, longest: as in `read_sentences`
    segmenter: divides text into sentences, by default by rules for English
    """
    return _read(path, AmrEntry, tokenised, raw, longest, segmenter)


def _read(
    path: str | os.PathLike, kind: type[T], tokenised: bool | None, raw: bool, longest: int, segmenter: Segmenter
) -> Iterator[T]:
    with opened(path) as (file, name):
        head, layout = head_and_layout(file, name, kind, tokenised, raw)
        lines: Iterable[bytes] = chain(head, file)
        if layout is FileLayout.PARAGRAPHS and not raw and isinstance(segmenter, EnglishRules):
            lines = TokenisedCheck().passing(lines)
        empty = True
        for sentence in sentences_of(lines, name, kind, layout, tokenised, longest=longest, segmenter=segmenter):
            empty = False
            yield sentence
        if empty:
            no_sentences(name, layout)


@contextmanager
def opened(path: str | os.PathLike) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, or standard input, and yield the open file with its name for messages."""
    if str(path) == "-":
        yield standard_input(), "standard input"
        return
    with open(path, "rb") as file:
        yield file, str(path)


def head_and_layout(
    lines: Iterator[bytes], name: str, kind: Kind, tokenised: bool | None, raw: bool
) -> tuple[list[bytes], FileLayout]:
    """Return the first lines of a file, as far as they had to be read to know its layout, and the layout.

    kind: the class of sentences that the model takes
    tokenised, raw: see `read_sentences`

    Raises `InputError` for a file of graphs of another kind than the model's.
    """
    if raw:
        return [], FileLayout.PARAGRAPHS
    head = _head(lines)
    if kind is Sentence and _is_bank(head, name):
        raise input_error("the file is an AMR bank, but the model parses into trees: give CoNLL-U or text", name)
    if kind is AmrEntry and _is_conllu(head, name):
        raise input_error("the file is CoNLL-U, but the model parses into AMRs: give an AMR bank or text", name)
    in_blocks = _is_conllu(head, name) if kind is Sentence else _is_bank(head, name)
    return head, FileLayout.BLOCKS if in_blocks else layout_of_text(tokenised, raw)


def layout_of_text(tokenised: bool | None, raw: bool) -> FileLayout:
    """Return the layout of text. `read_sentences` explains `tokenised` and `raw`."""
    return FileLayout.PARAGRAPHS if raw or tokenised is None else FileLayout.LINES


def sentences_of(
    lines: Iterable[bytes],
    name: str,
    kind: Kind,
    layout: FileLayout,
    tokenised: bool | None,
    start: Start = WHOLE,
    longest: int = LONGEST,
    warned: TextWarnings | None = None,
    segmenter: Segmenter = ENGLISH,
) -> Iterator[Any]:
    """Return an iterator over the sentences of some lines.

    tokenised: True where white space divides the tokens of a line, for the layout LINES
    start: the place in their file where the lines begin
    longest: see `read_sentences`
    warned: the warnings about the whole file, if the file has several texts and the lines are one of them
    segmenter: see `read_sentences`
    """
    if layout is FileLayout.PARAGRAPHS:
        return _of_paragraphs(lines, name, kind, start, longest, warned or TextWarnings(), segmenter)
    if layout is FileLayout.LINES and kind is Sentence:
        return _trees_of_lines(lines, name, None if tokenised else segmenter, start, longest)
    return _READERS[kind, layout](lines, name, bool(tokenised), start, longest)


def _head(lines: Iterator[bytes]) -> list[bytes]:
    head: list[bytes] = []
    of_bank = False
    for line in lines:
        line = line if head else line.removeprefix(b"\xef\xbb\xbf")
        head.append(line)
        of_bank |= line.startswith(_BANK_COMMENT)
        if not line.strip():
            if of_bank:  # an entry without a graph, behind which a pipe may pause
                break
        elif not line.startswith(b"#"):
            break
    return head


def no_sentences(name: str, layout: FileLayout) -> None:
    """Warn that a file of plain text has no sentences; an error would keep other files from being parsed.

    Raises `InputError` instead if the file is a treebank or an AMR bank.
    """
    error = input_error("the file holds no sentences", name)
    if layout is FileLayout.BLOCKS:
        raise error
    warn(str(error))


def _is_bank(head: list[bytes], name: str) -> bool:
    return name.endswith(".amr") or any(line.startswith(_BANK_COMMENT) for line in head)


def _is_conllu(head: list[bytes], name: str) -> bool:
    return name.endswith(".conllu") or bool(head and b"\t" in head[-1] and not head[-1].startswith(b"#"))


def _conllu(lines: Iterable[bytes], name: str, _tokenised: bool, start: Start, _longest: int) -> Iterator[Sentence]:
    return parse_conllu(lines, name, start.line)


def _trees_of_lines(
    lines: Iterable[bytes], name: str, segmenter: Segmenter | None, start: Start, longest: int
) -> Iterator[Sentence]:
    """Yield a sentence for each line. Without a segmenter white space divides the tokens."""
    for _number, line in _lines(lines, name, start, longest):
        comments = (f"# text = {on_one_line(line)}",)
        if segmenter is None:
            yield Sentence.from_words(line.split(), comments)
        else:
            yield Sentence(rows_of([*segmenter.tokens(line)]), comments)


def _lines(lines: Iterable[bytes], name: str, start: Start, longest: int) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers.

    Raises `InputError` for a line of more words than `longest`, and for a carriage return inside a line.
    """
    for number, raw in enumerate(lines, start.line):
        line = decode_line(raw, name, number)
        check_line_ends([line], name, number)
        if len(line) > longest and len(line.split(None, longest)) > longest:  # a full split may fill the memory
            problem = f"the sentence of this line has more than {longest} words: divide it, or allow it with {MORE}"
            raise input_error(problem, name, number)
        if line.strip():
            yield number, line


def _bank(lines: Iterable[bytes], name: str, _tokenised: bool, start: Start, _longest: int) -> Iterator[AmrEntry]:
    for entry in parse_bank(lines, name, graphs=False, first=start.line):
        words = entry.tokens or tokenise(entry.text)
        yield replace(entry, metadata={**entry.metadata, "tok": " ".join(words)})


def _amrs_of_lines(
    lines: Iterable[bytes], name: str, tokenised: bool, start: Start, longest: int
) -> Iterator[AmrEntry]:
    for count, (number, line) in enumerate(_lines(lines, name, start, longest), start.sentences + 1):
        words = line.split() if tokenised else tokenise(line)
        entry = AmrEntry.from_words(words, {"id": str(count), "snt": on_one_line(line)})
        yield replace(entry, path=name, line=number)


def _text_line(raw: bytes, name: str, number: int) -> str:
    """Return a line of text with all its characters, a blank in place of a byte-order mark at the start of the file.

    Raises `InputError` for bytes that are not UTF-8, and for zero bytes.
    """
    line = decoded(raw, name, number)
    return without_mark(line) if number == 1 else line


def _of_paragraphs(
    lines: Iterable[bytes],
    name: str,
    kind: Kind,
    start: Start,
    longest: int,
    warned: TextWarnings,
    segmenter: Segmenter,
) -> Iterator[Any]:
    text = (_text_line(raw, name, number).removesuffix("\n") for number, raw in enumerate(lines, start.line))
    first = start.sentences + 1
    divided = warned.divided(segmenter.sentences(text, longest), name, longest, first)
    for sentence in OF_TEXT[kind](divided, first):
        spans = tuple((begin + start.characters, end + start.characters) for begin, end in sentence.spans)
        yield replace(sentence, path=name, spans=spans)


_READERS: dict[tuple[type, FileLayout], Callable[..., Iterator[Any]]] = {
    (Sentence, FileLayout.BLOCKS): _conllu,
    (AmrEntry, FileLayout.BLOCKS): _bank,
    (AmrEntry, FileLayout.LINES): _amrs_of_lines,
}
