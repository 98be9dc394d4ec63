"""Sentences to parse, from CoNLL-U or from text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from transition_parser.errors import input_error
from transition_parser.graphs.bank import AmrEntry, parse_bank
from transition_parser.graphs.conllu import Sentence, decode_line, parse_conllu
from transition_parser.sentences.streams import standard_input
from transition_parser.sentences.texts import OF_TEXT, on_one_line, rows_of
from transition_parser.text.segmentation import segmented_lines
from transition_parser.text.tokens import tokenise, tokens

T = TypeVar("T", Sentence, AmrEntry)

_BANK_COMMENT = b"# ::"


def read_sentences(path: str | os.PathLike, tokenised: bool = True, raw: bool = False) -> Iterator[Sentence]:
    """Yields the sentences of a file, `-` for standard input, as they are read.

    A file whose first line that is no comment holds a tab, or whose name ends in `.conllu`, is CoNLL-U; in
    any other each line that is not blank is one sentence. tokenised: its words are divided by white
    space; if False they are found by the rules of `text.tokens`. raw: the file is text of any number of sentences,
    whose paragraphs end at blank lines, whatever it looks like.
    """
    if raw:
        return _raw(path, Sentence)
    return _opened(path, lambda rest, head, name: _trees(rest, head, name, tokenised))


def _raw(path: str | os.PathLike, kind: type[T]) -> Iterator[T]:
    with _bytes(path) as (lines, name):
        decoded = (decode_line(raw, name, number) for number, raw in enumerate(lines, 1))
        sentences: Iterator[T] = OF_TEXT[kind](segmented_lines(decoded))
        yield from _some((replace(sentence, path=name) for sentence in sentences), name)


def _opened(path: str | os.PathLike, read: Callable[[Iterator[bytes], list[bytes], str], Iterator[T]]) -> Iterator[T]:
    """What `read` yields from the lines of a file or of standard input, which must be something. read: takes the
    lines, those up to the first that is neither blank nor a comment, and a name for messages."""
    with _bytes(path) as (lines, name):
        head = _head(lines)
        yield from _some(read(chain(head, lines), head, name), name)


@contextmanager
def _bytes(path: str | os.PathLike) -> Iterator[tuple[Iterator[bytes], str]]:
    """The lines of a file, or of standard input, and a name for messages."""
    if str(path) == "-":
        yield iter(standard_input()), "standard input"
        return
    with open(path, "rb") as file:
        yield file, str(path)


def _head(lines: Iterator[bytes]) -> list[bytes]:
    head: list[bytes] = []
    of_bank = False
    for line in lines:
        line = line if head else line.removeprefix(b"\xef\xbb\xbf")
        head.append(line)
        of_bank |= line.startswith(_BANK_COMMENT)
        if not line.strip():
            if of_bank:  # an entry without graph: a pipe may pause behind it
                break
        elif not line.startswith(b"#"):
            break
    return head


def _some(sentences: Iterable[T], name: str) -> Iterator[T]:
    empty = True
    for sentence in sentences:
        empty = False
        yield sentence
    if empty:
        raise input_error("the file holds no sentences", name)


def _is_bank(head: list[bytes], name: str) -> bool:
    return name.endswith(".amr") or any(line.startswith(_BANK_COMMENT) for line in head)


def _is_conllu(head: list[bytes], name: str) -> bool:
    return name.endswith(".conllu") or bool(head and b"\t" in head[-1] and not head[-1].startswith(b"#"))


def _trees(lines: Iterator[bytes], head: list[bytes], name: str, tokenised: bool) -> Iterator[Sentence]:
    if _is_bank(head, name):
        raise input_error("an AMR bank, and the model is one of trees: they are parsed from CoNLL-U or text", name)
    return parse_conllu(lines, name) if _is_conllu(head, name) else _text(lines, name, tokenised)


def _text(lines: Iterable[bytes], path: str, tokenised: bool) -> Iterator[Sentence]:
    for _number, line in _lines(lines, path):
        comments = (f"# text = {on_one_line(line)}",)
        yield Sentence.from_words(line.split(), comments) if tokenised else Sentence(rows_of([*tokens(line)]), comments)


def _lines(lines: Iterable[bytes], path: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    for number, raw in enumerate(lines, 1):
        line = decode_line(raw, path, number)
        if line.strip():
            yield number, line


def read_amr_sentences(path: str | os.PathLike, tokenised: bool = True, raw: bool = False) -> Iterator[AmrEntry]:
    """Yields the sentences of a file, `-` for standard input, each as an entry with `# ::tok` and `# ::id`.

    A file that opens with a comment `# ::…`, or whose name ends in `.amr`, is an AMR bank
    (its graphs are not looked at; `# ::tok` is used where given, else spaCy's rules for English); in any other
    each line that is not blank is one sentence, and its number its id. raw: see `read_sentences`; tokens are those of
    spaCy's rules for English, as in AMR text that is not tokenised.
    """
    if raw:
        return _raw(path, AmrEntry)
    return _opened(path, lambda rest, head, name: _amrs(rest, head, name, tokenised))


def _amrs(lines: Iterator[bytes], head: list[bytes], name: str, tokenised: bool) -> Iterator[AmrEntry]:
    if _is_conllu(head, name):
        raise input_error("CoNLL-U, and the model is one of AMRs: they are parsed from AMR banks or text", name)
    return _bank(lines, name) if _is_bank(head, name) else _amr_text(lines, name, tokenised)


def _amr_text(lines: Iterable[bytes], path: str, tokenised: bool) -> Iterator[AmrEntry]:
    for count, (number, line) in enumerate(_lines(lines, path), 1):
        words = line.split() if tokenised else tokenise(line)
        entry = AmrEntry.from_words(words, {"id": str(count), "snt": on_one_line(line)})
        yield replace(entry, path=path, line=number)


def _bank(lines: Iterable[bytes], path: str) -> Iterator[AmrEntry]:
    for entry in parse_bank(lines, path, graphs=False):
        words = entry.tokens or tokenise(entry.text)
        yield replace(entry, metadata={**entry.metadata, "tok": " ".join(words)})
