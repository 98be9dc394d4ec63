"""Inputs, also tables of texts, and their parts: a part can be read on its own, and all parts give the whole input."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, count, pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from transition_parser.base.errors import errors_at, input_error, needs_extra, shortened
from transition_parser.base.files import unpacked_name
from transition_parser.graphs.bank import AmrEntry, is_header, metadata_of
from transition_parser.graphs.conllu import Sentence, decode_line
from transition_parser.parsing.sentences.files import (
    BEGIN,
    EmptyLine,
    FileLayout,
    FilePlace,
    Kind,
    Reading,
    SentenceReader,
    head_and_layout,
    lines_between,
    no_sentences,
    opened,
    read_sentences,
    sentences_in_file,
)
from transition_parser.parsing.sentences.streams import may_pause
from transition_parser.parsing.sentences.texts import TextWarnings, is_missing, too_long
from transition_parser.text.segmentation import is_longer

if TYPE_CHECKING:
    import pyarrow


_ID = re.compile(r"#\s*sent_id\s*=")
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


class Document(NamedTuple):
    """An input among several inputs."""

    name: str  # a name that no other input has, made from the name of the file
    in_ids: bool  # True where the ids of the sentences get the name in front

    def placed(self, sentence: Sentence | AmrEntry, opens: bool) -> Sentence | AmrEntry:
        """Return a sentence of the input with a unique id; `opens`: it is the first sentence."""
        id_ = f"{self.name}-{sentence.id}"
        if isinstance(sentence, AmrEntry):
            has_new_id = self.in_ids and sentence.id is not None
            return replace(sentence, metadata={**sentence.metadata, "id": id_}) if has_new_id else sentence
        comments = [f"# sent_id = {id_}" if self.in_ids and _ID.match(one) else one for one in sentence.comments]
        if opens and not any(map(_NEW_DOCUMENT.match, comments)):
            comments.insert(0, f"# newdoc id = {self.name}")
        return replace(sentence, comments=tuple(comments))


@dataclass(frozen=True)
class Part:
    """The content of a file between two places. Without places, it is the whole file, which may then be a pipe."""

    path: str
    begin: FilePlace = BEGIN
    end: FilePlace | None = None
    document: Document | None = None  # the name of the file among several files that are parsed into one output

    @property
    def name(self) -> str:
        """The name of the document: that of the file, without suffixes and white space, unless several have it."""
        stem = "stdin" if self.path == "-" else "_".join(PurePath(unpacked_name(self.path)).stem.split())
        return stem if self.document is None else self.document.name


class TableFormat(Enum):
    """The formats of tables, each with the suffixes of its file names."""

    JSONL = (".jsonl", ".ndjson", ".jsonlines")
    PARQUET = (".parquet", ".pq")


class TableRow(NamedTuple):
    """One row of a table."""

    value: object  # the value of the column that holds the text
    kept: Any  # the data that the output needs of the row: in JSONL its line, in Parquet a `KeptRow`
    name: str  # the file with the number of the row, as messages name it


class Item(NamedTuple):
    """A unit of parsing and writing: a sentence, an empty line in place of a sentence, or a row of a table."""

    sentences: list  # one sentence of a file of sentences, or any number of sentences of a row
    kept: Any = None  # `TableRow.kept` of a row
    document: str | None = None  # the name of the file whose sentences are all in this item


def table_of(path: str, reading: Reading) -> TableFormat | None:
    """Return the table format of a file by the suffix of its name, None for a file of sentences."""
    suffix = PurePath(unpacked_name(path)).suffix.lower()
    table = next((table for table in TableFormat if suffix in table.value), None)
    if table is not None and reading.column is None:
        raise input_error("the file is a table: name the column of its texts with --column NAME", path)
    return TableFormat.JSONL if table is None and reading.column is not None else table


def _sentences(row: TableRow, kind: Kind, reading: Reading, warned: TextWarnings) -> list:
    """Return the sentences of a row, each a `kind`."""
    value = row.value
    if is_missing(value):
        return []
    if isinstance(value, str):
        lines = (f"{line}\n" for line in warned.replaced(value, row.name).split("\n"))
        found = SentenceReader(row.name, kind, reading, warned).of_text(lines, reading.layout_of_text)
        return [sentence for sentence in found if not isinstance(sentence, EmptyLine)]
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        if is_longer(value, reading.longest):
            raise input_error(f"the list of words {too_long(value, reading.longest)}", row.name)
        with errors_at(row.name):
            return [kind.from_words([warned.replaced(word, row.name) for word in value])] if value else []
    shown = shortened(repr(value), 40)
    raise input_error(f"column {reading.column!r} holds {shown}: it must be a text, a list of words, or null", row.name)


def why_unfit(columns: Sequence[str], reading: Reading) -> str | None:
    """Return the problem with the columns of a table."""
    if columns.count(reading.column) != 1:
        shown = shortened(", ".join(map(repr, columns)) or "none", 200)
        number = "no column" if reading.column not in columns else "more than one column"
        return f"there is {number} {reading.column!r} (the columns: {shown})"
    if reading.added in columns:
        return f"there is a column {reading.added!r} already: name another column for the parses with --parse-column"
    return None


def read_jsonl(lines: Iterable[bytes], name: str, reading: Reading, first: int = 1) -> Iterator[TableRow]:
    """Yield the rows of lines of JSON objects, blank lines left out. The `kept` of a row is its line."""
    for number, raw in enumerate(lines, first):
        line = decode_line(raw, name, number).strip()
        if not line:
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise input_error(f"the line is not JSON: {error.msg} at character {error.pos + 1}", name, number) from None
        except RecursionError:
            raise input_error("the line is not JSON: too deep", name, number) from None
        except ValueError:  # Python reads no integers of more than 4,300 digits
            raise input_error("the line has a number of too many digits", name, number) from None
        if not isinstance(row, dict):
            unfit: str | None = "the line is not a JSON object: each line of JSONL must be a JSON object"
        else:
            unfit = why_unfit([*row], reading)
        if unfit:
            raise input_error(unfit, name, number)
        yield TableRow(row[reading.column], line, f"{name}:{number}")


# --- Parquet ------------------------------------------------------------

ROWS_TOGETHER = 4096  # number of rows that are held at a time, and written as one row group


class KeptRow(NamedTuple):
    """The data of a row that its output needs."""

    rows: pyarrow.RecordBatch  # the batch of rows in which the row was read
    last: bool  # True for the last row of the batch


def arrow() -> Any:
    """Return the module `pyarrow.parquet`. Raises `InputError` where it is not installed."""
    with needs_extra("parquet", "Parquet files"):
        import pyarrow.parquet
    return pyarrow.parquet


def read_parquet(path: str, reading: Reading, first: int = 0, end: int | None = None) -> Iterator[TableRow]:
    """Yield the rows from `first` up to, but without, `end`; by default all rows."""
    with opened_parquet(path) as file:
        if problem := why_unfit(file.schema_arrow.names, reading):
            raise input_error(problem, path)
        end = file.metadata.num_rows if end is None else end
        for start, batch in _batches(file, first, end):
            values = batch.column(reading.column)
            for i in range(batch.num_rows):
                row = f"{path}: row {start + i + 1}"
                try:
                    value = values[i].as_py()
                except UnicodeDecodeError:
                    raise input_error("the text is not UTF-8", row) from None
                yield TableRow(value, KeptRow(batch, i == batch.num_rows - 1), row)


def _batches(file: Any, first: int, end: int) -> Iterator[tuple[int, pyarrow.RecordBatch]]:
    """Yield the rows from `first` to `end` in batches, each with the number of rows before it."""
    groups: list[int] = []
    begin = before = 0
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if before < end and before + rows > first:
            begin = begin if groups else before
            groups.append(group)
        before += rows
    if not groups:
        return
    for batch in file.iter_batches(ROWS_TOGETHER, groups):
        low, high = max(first - begin, 0), min(end - begin, batch.num_rows)
        if low < high:
            yield begin + low, batch.slice(low, high - low)
        begin += batch.num_rows


def opened_parquet(path: str) -> Any:
    """Return a file as pyarrow opens it. Raises `InputError` for a file that is not Parquet."""
    parquet = arrow()
    from pyarrow import ArrowException

    with open(path, "rb"):  # so that a missing file is an OSError with its name
        pass
    try:
        return parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise input_error(f"not a Parquet file: {shortened(str(error))}", path) from None


def read_part(part: Part, kind: Kind, reading: Reading) -> Iterator[Item]:
    """Yield the items of a part, with sentences of the class `kind`."""
    table = table_of(part.path, reading)
    if table is not None:
        warned = TextWarnings(of_markup=not reading.raw)
        for row in _rows(part, table, reading):
            yield Item(_sentences(row, kind, reading, warned), row.kept)
        return
    opens = not part.begin.sentences
    for one in sentences_in_file(part.path, kind, reading, part.begin, part.end):
        if isinstance(one, EmptyLine):
            yield Item([], one)
        else:
            yield Item([one if part.document is None else part.document.placed(one, opens)])
            opens = False


def _rows(part: Part, table: TableFormat, reading: Reading) -> Iterator[TableRow]:
    if table is TableFormat.PARQUET:
        end = None if part.end is None else part.end.position
        yield from read_parquet(part.path, reading, part.begin.position, end)
        return
    with opened(part.path) as (file, name):
        yield from read_jsonl(lines_between(file, part.begin, part.end), name, reading, part.begin.line)


def documents(paths: Sequence[str], kind: Kind, reading: Reading) -> list[Document | None]:
    """Return the document of each input; None for a single input and for tables, whose ids stay as they are."""
    if len(paths) == 1 or reading.column is not None:
        return [None] * len(paths)
    own = [_own_ids(path, kind, reading) for path in paths]
    files_with = Counter(chain.from_iterable(ids or () for ids in own))
    taken = {id_[: dash.start()] for id_ in files_with for dash in re.finditer("-", id_)}
    found: list[Document | None] = []
    for path, ids in zip(paths, own, strict=True):
        stem = Part(path).name
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
        yield from (FilePlace(row, row + 1, row) for row in range(opened_parquet(path).metadata.num_rows + 1))
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
