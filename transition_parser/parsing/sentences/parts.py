"""Inputs and parts of them. Each part can be read on its own, and all parts in order give the same as the input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count, pairwise
from pathlib import PurePath
from typing import BinaryIO, cast

from transition_parser.base.errors import input_error
from transition_parser.base.files import unpacked_name
from transition_parser.graphs.bank import AmrEntry, is_header, metadata_of
from transition_parser.graphs.conllu import Sentence, decode_line
from transition_parser.parsing.sentences.files import (
    BEGIN,
    Document,
    EmptyLine,
    FileLayout,
    FilePlace,
    Kind,
    Part,
    Reading,
    head_and_layout,
    no_sentences,
    opened,
    read_sentences,
    sentences_in_file,
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


def read_part(part: Part, kind: Kind, reading: Reading) -> Iterator[Item]:
    """Yield the items of a part, with sentences of the class `kind`."""
    table = table_of(part.path, reading)
    if table is TableFormat.PARQUET:
        end = None if part.end is None else part.end.position
        yield from items_of_rows(read_parquet(part.path, reading, part.begin.position, end), kind, reading)
    elif table is TableFormat.JSONL:
        with opened(part.path) as (file, name):
            yield from items_of_rows(read_jsonl(part.lines(file), name, reading, part.begin.line), kind, reading)
    else:
        for one in sentences_in_file(part, kind, reading):
            yield Item([], one) if isinstance(one, EmptyLine) else Item([one])


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
        if head_and_layout(file, name, kind, reading)[1] is not FileLayout.BLOCKS:
            return None
    sentences = read_sentences(path, cast("type[Sentence]", kind))  # of either kind
    return {sentence.id for sentence in sentences if sentence.id is not None}


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
        for place in _places_of(file, name, kind, layout, reading):
            yield place
        if table is None and not place.sentences:
            no_sentences(name, layout)


def _places_of(file: BinaryIO, name: str, kind: Kind, layout: FileLayout, reading: Reading) -> Iterator[FilePlace]:
    begin, block = None, []  # of the next place: blocks without sentences (blank lines, headers) join the next block
    here = BEGIN
    for raw in chain(file, [b""]):
        line = decode_line(raw, name, here.line)
        blank = not (line if layout is FileLayout.BLOCKS and kind is not AmrEntry else line.strip())
        if raw and (layout is FileLayout.LINES or not blank):
            begin = begin or here
            block.append(line)
        if begin and block and (not raw or blank or layout is FileLayout.LINES):
            found = _count(block, name, begin.line, kind, layout, reading)
            if found:
                yield begin._replace(sentences=here.sentences)
                here, begin = here._replace(sentences=here.sentences + found), None
            block = []
        if raw:
            after = here.position + len(raw), here.line + 1, here.sentences, here.characters + len(raw.decode())
            here = FilePlace(*after)
    yield here


def _count(block: list[str], name: str, number: int, kind: Kind, layout: FileLayout, reading: Reading) -> int:
    """Return the number of sentences of a block of lines; it is 0 for comments about a whole bank."""
    if layout is FileLayout.PARAGRAPHS:
        return sum(1 for _ in reading.segmenter.sentences(block, reading.longest))
    if layout is FileLayout.BLOCKS and kind is AmrEntry:
        return not is_header(metadata_of([line for line in block if line.lstrip().startswith("#")], name, number))
    return any(map(str.strip, block))


def divided(path: str, kind: Kind, reading: Reading, size: int) -> list[Part]:
    """Return the parts of a file, each of `size` sentences or rows, or more where a paragraph of raw text has more."""
    cuts: list[FilePlace] = []
    for place in places(path, kind, reading):
        if not cuts or place.sentences - cuts[-1].sentences >= size:
            cuts.append(place)
    if place.sentences > cuts[-1].sentences or len(cuts) == 1:
        cuts.append(place)
    return [Part(path, begin, end) for begin, end in pairwise(cuts)]


def shard(paths: Sequence[str], kind: Kind, reading: Reading, number: int, of: int) -> list[Part]:
    """Return the parts of files that process `number` of `of` parses; at least one, which may be empty."""
    sizes = [sum(1 for _ in places(path, kind, reading)) - 1 for path in paths]
    first, end = (sum(sizes) * k // of for k in (number - 1, number))
    parts = []
    for path, size, document in zip(paths, sizes, documents(paths, kind, reading), strict=True):
        low, high = max(first, 0), min(end, size)
        if low < high:
            begin, last = (place for i, place in enumerate(places(path, kind, reading)) if i in (low, high))
            parts.append(Part(path, begin, last, document))
        first, end = first - size, end - size
    nowhere = next(places(paths[0], kind, reading))
    return parts or [Part(paths[0], nowhere, nowhere)]
