"""Inputs and parts of them. Each part can be read on its own, and all parts in order give the same as the input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise
from pathlib import PurePath
from typing import BinaryIO, NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.base.files import unpacked_name
from transition_parser.graphs.bank import AmrEntry, is_header, metadata_of
from transition_parser.graphs.conllu import Sentence, decode_line
from transition_parser.parsing.sentences.files import (
    WHOLE,
    EmptyLine,
    FileLayout,
    Kind,
    Reading,
    Start,
    head_and_layout,
    no_sentences,
    opened,
    read_amr_sentences,
    read_sentences,
    sentences_of,
)
from transition_parser.parsing.sentences.streams import may_pause
from transition_parser.parsing.sentences.tables import (
    Item,
    TableFormat,
    items_of_rows,
    read_jsonl,
    read_parquet,
    rows_in,
    table_of,
)
from transition_parser.parsing.sentences.texts import TextWarnings


class Document(NamedTuple):
    """An input among several inputs."""

    name: str  # a name that no other input has, made from the name of the file
    in_ids: bool  # True where the ids of the sentences get the name in front

    def placed(self, sentence: Sentence | AmrEntry, opens: bool) -> Sentence | AmrEntry:
        """Return a sentence of the input with a unique id."""
        id_ = f"{self.name}-{sentence.id}"
        if isinstance(sentence, AmrEntry):
            has_new_id = self.in_ids and sentence.id is not None
            return replace(sentence, metadata={**sentence.metadata, "id": id_}) if has_new_id else sentence
        comments = [
            f"# sent_id = {id_}" if self.in_ids and _ID.match(comment) else comment for comment in sentence.comments
        ]
        if opens and not any(map(_NEW_DOCUMENT.match, comments)):
            comments.insert(0, f"# newdoc id = {self.name}")
        return replace(sentence, comments=tuple(comments))


_ID = re.compile(r"#\s*sent_id\s*=")
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def documents(paths: Sequence[str], kind: Kind, reading: Reading) -> list[Document | None]:
    """Return the document of each input; None for a single input and for tables, whose ids stay as they are."""
    if len(paths) == 1 or reading.column is not None:
        return [None] * len(paths)
    own = [_own_ids(path, kind, reading) for path in paths]
    files_with = Counter(chain.from_iterable(ids or () for ids in own))
    taken = {id_[: dash.start()] for id_ in files_with for dash in re.finditer("-", id_)}
    found: list[Document | None] = []
    for path, ids in zip(paths, own, strict=True):
        stem = "stdin" if path == "-" else "_".join(PurePath(unpacked_name(path)).stem.split())
        name = next(name for name in chain([stem], (f"{stem}-{i}" for i in count(2))) if name not in taken)
        taken.add(name)
        found.append(Document(name, ids is None or any(files_with[id_] > 1 for id_ in ids)))
    return found


def _own_ids(path: str, kind: Kind, reading: Reading) -> set[str] | None:
    """Return the ids in a file of CoNLL-U or a bank, None for text and for pipes."""
    if may_pause(path):
        return None
    with opened(path) as (file, name):
        layout = head_and_layout(file, name, kind, reading)[1]
    if layout is not FileLayout.BLOCKS:
        return None
    read = read_sentences if kind is Sentence else read_amr_sentences
    return {sentence.id for sentence in read(path) if sentence.id is not None}


class FilePlace(NamedTuple):
    """A place where a part of a file may begin or end."""

    position: int  # number of bytes before the place; in Parquet, number of rows
    line: int  # number of the first line behind the place
    before: int  # number of sentences before the place; in tables, number of rows
    characters: int = 0  # number of characters before the place; not counted in Parquet


@dataclass(frozen=True)
class Part:
    """The content of a file between two places. Without places, it is the whole file, which may then be a pipe."""

    path: str
    begin: FilePlace | None = None
    end: FilePlace | None = None
    document: Document | None = None  # the name of the file among several files that are parsed into one output

    @property
    def count(self) -> int | None:
        """The number of sentences or rows, None where it was not counted."""
        return None if self.begin is None or self.end is None else self.end.before - self.begin.before


def read_part(part: Part, kind: Kind, reading: Reading) -> Iterator[Item]:
    """Yield the items of a part, with sentences of the class `kind`."""
    table = table_of(part.path, reading)
    if table is TableFormat.PARQUET:
        yield from _parquet(part, kind, reading)
        return
    with opened(part.path) as (file, name):
        if table is TableFormat.JSONL:
            rows = read_jsonl(_lines_of(part, file), name, reading, _start(part).line)
            yield from items_of_rows(rows, kind, reading)
            return
        head, layout = head_and_layout(file, name, kind, reading)
        lines: Iterable[bytes] = chain(head, file) if part.begin is None else _lines_of(part, file)
        empty = part.begin is None
        start, warned = _start(part), TextWarnings(of_markup=not reading.raw)
        opens = not start.sentences
        if start.line > 1 and head and head[0].startswith(b"# global.columns"):  # of CoNLL-U Plus: each part needs it
            lines, start = chain(head[:1], lines), start._replace(line=start.line - 1)
        for sentence in sentences_of(lines, name, kind, layout, reading, start, warned):
            if isinstance(sentence, EmptyLine):
                yield Item([], sentence)
                continue
            if part.document is not None:
                sentence = part.document.placed(sentence, opens)
            opens = empty = False
            yield Item([sentence])
        if empty:
            no_sentences(name, layout)


def _parquet(part: Part, kind: Kind, reading: Reading) -> Iterator[Item]:
    first = 0 if part.begin is None else part.begin.position
    end = None if part.end is None else part.end.position
    return items_of_rows(read_parquet(part.path, reading, first, end), kind, reading)


def _start(part: Part) -> Start:
    return WHOLE if part.begin is None else Start(part.begin.line, part.begin.before, part.begin.characters)


def _lines_of(part: Part, file: BinaryIO) -> Iterator[bytes]:
    if part.begin is None or part.end is None:
        yield from file
        return
    file.seek(part.begin.position)
    while file.tell() < part.end.position and (line := file.readline()):
        yield line


# --- dividing ---------------------------------------------------------------------------


def places(path: str, kind: Kind, reading: Reading) -> Iterator[FilePlace]:
    """Yield the place where each sentence, row, or paragraph of raw text begins, and the end of the last one."""
    if may_pause(path):
        raise input_error("standard input and pipes can't be divided into parts: give a file", path)
    table = table_of(path, reading)
    if table is TableFormat.PARQUET:
        yield from (FilePlace(row, row + 1, row) for row in range(rows_in(path) + 1))
        return
    with opened(path) as (file, name):
        layout = FileLayout.LINES if table else head_and_layout(file, name, kind, reading)[1]
        file.seek(0)
        for place in _places(_blocks(file, name, layout, kind), _weight(kind, layout, reading)):
            yield place
        if table is None and not place.before:
            no_sentences(name, layout)


def divided(path: str, kind: Kind, reading: Reading, size: int) -> list[Part]:
    """Return the parts of a file, each of `size` sentences or rows."""
    cuts: list[FilePlace] = []
    for place in places(path, kind, reading):
        if not cuts or place.before - cuts[-1].before >= size:
            cuts.append(place)
    if place.before > cuts[-1].before or len(cuts) == 1:
        cuts.append(place)
    return [Part(path, begin, end) for begin, end in pairwise(cuts)]


def shard(paths: Sequence[str], kind: Kind, reading: Reading, number: int, of: int) -> list[Part]:
    """Return the parts of some files that one of several processes parses."""
    sizes = [sum(1 for _ in places(path, kind, reading)) - 1 for path in paths]
    first, end = (sum(sizes) * k // of for k in (number - 1, number))
    parts = []
    for path, size, document in zip(paths, sizes, documents(paths, kind, reading), strict=True):
        low, high = max(first, 0), min(end, size)
        if low < high:
            wanted = {low, high}
            begin, last = (place for i, place in enumerate(places(path, kind, reading)) if i in wanted)
            parts.append(Part(path, begin, last, document))
        first, end = first - size, end - size
    nowhere = next(places(paths[0], kind, reading))
    return parts or [Part(paths[0], nowhere, nowhere)]


class _Block(NamedTuple):
    """Lines that belong together. A block without lines marks the end of the file."""

    position: int  # number of bytes before the first line
    line: int  # number of the first line
    lines: list[str]  # the decoded lines
    path: str  # the file's name for messages
    characters: int  # number of characters before the first line


def _blocks(file: BinaryIO, name: str, layout: FileLayout, kind: type) -> Iterator[_Block]:
    is_blank = _is_empty if layout is FileLayout.BLOCKS and kind is Sentence else _is_white
    block = _Block(0, 1, [], name, 0)
    position = number = characters = 0
    for number, raw in enumerate(file, 1):
        line = decode_line(raw, name, number)
        blank = is_blank(line)
        if not blank or layout is FileLayout.LINES:
            block = block if block.lines else _Block(position, number, [], name, characters)
            block.lines.append(line)
        if block.lines and (blank or layout is FileLayout.LINES):
            yield block
            block = _Block(0, 1, [], name, 0)
        position += len(raw)
        characters += len(raw.decode())
    if block.lines:
        yield block
    yield _Block(position, number + 1, [], name, characters)


def _places(blocks: Iterable[_Block], weight: Callable[[_Block], int]) -> Iterator[FilePlace]:
    """Yield the place where each block begins, and the end of the last one."""
    count, begin = 0, None
    for block in blocks:
        begin = begin or block
        if not block.lines:
            yield FilePlace(block.position, block.line, count, block.characters)
        elif sentences := weight(block):
            yield FilePlace(begin.position, begin.line, count, begin.characters)
            count, begin = count + sentences, None


def _is_empty(line: str) -> bool:
    return not line


def _is_white(line: str) -> bool:
    return not line.strip()


def _entries(block: _Block) -> int:
    """Return 0 for a block of comments about the whole file, which is not an entry for `parse_bank`, else 1."""
    comments = [line for line in block.lines if line.lstrip().startswith("#")]
    return int(not is_header(metadata_of(comments, block.path, block.line)))


def _one(block: _Block) -> int:
    """Return 0 for a blank line, else 1."""
    return int(any(map(str.strip, block.lines)))


_WEIGHTS: dict[tuple[type, FileLayout], Callable[[_Block], int]] = {
    (Sentence, FileLayout.BLOCKS): _one,
    (AmrEntry, FileLayout.BLOCKS): _entries,
    **{(kind, FileLayout.LINES): _one for kind in (Sentence, AmrEntry)},
}


def _weight(kind: Kind, layout: FileLayout, reading: Reading) -> Callable[[_Block], int]:
    """Return the function that returns the number of sentences of a block."""
    if layout is FileLayout.PARAGRAPHS:
        return lambda block: sum(1 for _ in reading.segmenter.sentences(block.lines, reading.longest))
    return _WEIGHTS[kind, layout]
