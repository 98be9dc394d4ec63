"""Sentences to parse, from CoNLL-U or from text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain

from transition_parser.errors import input_error
from transition_parser.graphs.conllu import Sentence, decode_line, parse_conllu


def read_sentences(path: str | os.PathLike, tokenised: bool = True) -> Iterator[Sentence]:
    """Yields the sentences of a file, `-` for standard input, as they are read.

    A file whose first line that is no comment holds a tab, or whose name ends in `.conllu`, is CoNLL-U; in
    any other each line that is not blank is one sentence. tokenised: its words are divided by white
    space; if False they are found by spaCy's rules for English.
    """
    if str(path) == "-":
        yield from _read(sys.stdin.buffer, "standard input", tokenised)
        return
    with open(path, "rb") as file:
        yield from _read(file, str(path), tokenised)


def _read(lines: Iterable[bytes], path: str, tokenised: bool) -> Iterator[Sentence]:
    lines = iter(lines)
    head: list[bytes] = []
    for line in lines:
        line = line if head else line.removeprefix(b"\xef\xbb\xbf")
        head.append(line)
        if line.strip() and not line.startswith(b"#"):
            break
    rest = chain(head, lines)
    is_conllu = path.endswith(".conllu") or bool(head and b"\t" in head[-1])
    sentences = parse_conllu(rest, path) if is_conllu else _text(rest, path, tokenised)
    empty = True
    for sentence in sentences:
        empty = False
        yield sentence
    if empty:
        raise input_error("the file holds no sentences", path)


def _text(lines: Iterable[bytes], path: str, tokenised: bool) -> Iterator[Sentence]:
    for number, raw in enumerate(lines, 1):
        line = decode_line(raw, path, number)
        words = line.split() if tokenised else tokenise(line)
        if words:
            yield Sentence.from_words(words, (f"# text = {' '.join(line.split())}",))


def tokenise(text: str) -> list[str]:
    """The words of an English sentence by spaCy's rules (no model, no download)."""
    return [token.text for token in _english()(text) if not token.is_space]


@lru_cache(maxsize=1)
def _english():
    import spacy  # slow to import, and needed for text that is not tokenised only

    return spacy.blank("en")
