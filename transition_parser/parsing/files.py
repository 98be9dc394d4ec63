"""Sentences to parse from files and standard input: CoNLL-U, AMR banks or text."""

from __future__ import annotations

import io
import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO

from transition_parser.base.errors import InputError, input_error, warn
from transition_parser.base.files import open_input, unpacked_name
from transition_parser.graphs.bank import AmrEntry, parse_bank
from transition_parser.graphs.conllu import COLUMNS, Sentence, decoded, parse_conllu
from transition_parser.parsing.texts import Reading, TextReader
from transition_parser.text.spacy_tokens import tokenize

_BANK_COMMENT = re.compile(rb"(?:\xef\xbb\xbf)?# ::(?:id|snt|tok)\s")
_TEXT = 'text (--raw, in Python the layout "raw", reads any file as text)'


def read_sentences(path: str | os.PathLike, reading: Reading) -> Iterator[Any]:
    """Yield the sentences of a file, `-` for standard input, as they are read.

    Without a layout, a file is CoNLL-U where its first line that is no comment has ten columns, or where its name ends
    in `.conllu`. It is an AMR bank where it opens with comments that have an id, a sentence or tokens and a graph or a
    blank line after them, or where its name ends in `.amr`; the graphs of a bank are not read. Any other file is text.
    Text without sentences gives a `ParserWarning`; CoNLL-U and banks without sentences are an `InputError`.
    """
    with opened(path) as (file, name):
        head, is_text = ([], True) if reading.layout else _head_of(file, name, reading.kind)
        lines, empty = chain(head, file), True
        of_text = (decoded(raw, name, number) for number, raw in enumerate(lines, 1))
        for sentence in TextReader(reading).of_lines(of_text, name) if is_text else _of_blocks(lines, name, reading):
            empty = False
            yield sentence
        if empty:
            error = input_error("the file holds no sentences", name)
            if not is_text:
                raise error
            warn(str(error))  # an error would keep other files from being parsed


def _of_blocks(lines: Iterable[bytes], name: str, reading: Reading) -> Iterator[Any]:
    """Yield the sentences of CoNLL-U or an AMR bank. Entries of a bank get tokens."""
    if reading.kind is Sentence:
        yield from parse_conllu(lines, name)
        return
    for entry in parse_bank(lines, name, graphs=False):
        words = entry.tokens or tokenize(entry.text)
        yield replace(entry, metadata={**entry.metadata, "tok": " ".join(words)})


@contextmanager
def opened(path: str | os.PathLike) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, or standard input, and yield the open file with its name for messages."""
    if str(path) == "-":
        yield standard_input(), "standard input"
        return
    with open_input(path) as file:
        yield file, str(path)


def standard_input() -> BinaryIO:
    """Return standard input as bytes; a thread that waits with the lock of `sys.stdin` would abort at exit."""
    if sys.stdin is None:
        raise InputError("standard input is closed")
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except io.UnsupportedOperation:  # `sys.stdin` was replaced by an object in memory
        return sys.stdin.buffer


def may_pause(path: str | os.PathLike) -> bool:
    """Return True for standard input (`-`) and any existing path but a regular file: a named pipe, a terminal."""
    return str(path) == "-" or (os.path.exists(path) and not os.path.isfile(path))


def _head_of(lines: Iterator[bytes], name: str, kind: type) -> tuple[list[bytes], bool]:
    """Return the first lines of a file, which show whether it is CoNLL-U, a bank or text, and True if it is text."""
    head: list[bytes] = []
    of_bank, shown = False, b""
    for line in lines:
        head.append(line)
        shown = line.removeprefix(BOM_UTF8)
        of_bank |= _BANK_COMMENT.match(line) is not None
        # the first line that is no comment, or the end of an entry without a graph, after which a pipe may pause
        if of_bank if not line.strip() else not shown.startswith(b"#"):
            break
    suffix = os.path.splitext(unpacked_name(name))[1]
    is_rows = shown.count(b"\t") == len(COLUMNS) - 1 and not shown.startswith(b"#")
    is_conllu = suffix == ".conllu" or is_rows
    is_bank = suffix == ".amr" or (of_bank and (not shown.strip() or shown.lstrip().startswith((b"#", b"("))))
    if kind is Sentence and is_bank:
        raise input_error(f"the file is an AMR bank, but the model parses into trees: give CoNLL-U or {_TEXT}", name)
    if kind is AmrEntry and is_conllu:
        raise input_error(f"the file is CoNLL-U, but the model parses into AMRs: give an AMR bank or {_TEXT}", name)
    return head, not (is_bank or is_conllu)
