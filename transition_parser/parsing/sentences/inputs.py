"""Inputs of `parse`: files of sentences and tables of texts, read item by item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import chain, count, islice
from pathlib import PurePath
from typing import Any, NamedTuple

from transition_parser.base.errors import errors_at, input_error, needs_extra, shortened
from transition_parser.base.files import unpacked_name
from transition_parser.base.model_files import json_object
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence, decode_line
from transition_parser.parsing.sentences.files import (
    EmptyLine,
    Kind,
    Reading,
    SentenceReader,
    opened,
    sentences_in_file,
)
from transition_parser.parsing.sentences.texts import TextWarnings, is_missing, too_long
from transition_parser.text.segmentation import is_longer

_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


class Input(NamedTuple):
    """A file to parse, or `-` for standard input."""

    path: str
    document: str | None = None  # a name that no other input has, where several inputs are parsed into one output

    @property
    def name(self) -> str:
        """The name of the document: that of the file, without suffixes and white space, unless several have it."""
        if self.document is not None:
            return self.document
        return "stdin" if self.path == "-" else "_".join(PurePath(unpacked_name(self.path)).stem.split())

    def placed(self, sentence: Sentence | AmrEntry, opens: bool) -> Sentence | AmrEntry:
        """Return a sentence among those of several inputs: one of text with a unique id; `opens`: it is the first."""
        id_ = f"{self.document}-{sentence.id}"
        if isinstance(sentence, AmrEntry):
            return replace(sentence, metadata={**sentence.metadata, "id": id_}) if sentence.spans else sentence
        comments = [*sentence.comments]
        if sentence.spans:
            comments[comments.index(f"# sent_id = {sentence.id}")] = f"# sent_id = {id_}"
        if opens and not any(map(_NEW_DOCUMENT.match, comments)):
            comments.insert(0, f"# newdoc id = {self.document}")
        return replace(sentence, comments=tuple(comments))


def several(paths: Sequence[str]) -> list[Input]:
    """Return files to parse into one output, each with a name of its own."""
    inputs: list[Input] = []
    for path in paths:
        stem, taken = Input(path).name, {one.name for one in inputs}
        names = chain([stem], (f"{stem}-{i}" for i in count(2)))
        inputs.append(Input(path, next(name for name in names if name not in taken)))
    return inputs


class TableFormat(Enum):
    """The formats of tables, each with the suffixes of its file names."""

    JSONL = (".jsonl", ".ndjson", ".jsonlines")
    PARQUET = (".parquet", ".pq")


class TableRow(NamedTuple):
    """One row of a table."""

    value: object  # the value of the column that holds the text
    kept: Any  # the data that the output needs of the row: in JSONL its line, in Parquet a batch of this row
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


def read_jsonl(path: str, reading: Reading) -> Iterator[TableRow]:
    """Yield the rows of a file of JSON objects, a line each, blank lines left out."""
    with opened(path) as (file, name):
        for number, raw in enumerate(file, 1):
            line = decode_line(raw, name, number).strip()
            if not line:
                continue
            row = json_object(line, name, number)
            if unfit := why_unfit([*row], reading):
                raise input_error(unfit, name, number)
            yield TableRow(row[str(reading.column)], line, f"{name}:{number}")


# --- Parquet ------------------------------------------------------------

ROWS_TOGETHER = 4096  # number of rows that are held at a time, and written as one row group


def arrow() -> Any:
    """Return the module `pyarrow.parquet`. Raises `InputError` where it is not installed."""
    with needs_extra("parquet", "Parquet files"):
        import pyarrow.parquet
    return pyarrow.parquet


def read_parquet(path: str, reading: Reading) -> Iterator[TableRow]:
    """Yield the rows of a file."""
    with opened_parquet(path) as file:
        if problem := why_unfit(file.schema_arrow.names, reading):
            raise input_error(problem, path)
        number = 0
        for batch in file.iter_batches(ROWS_TOGETHER):
            values = batch.column(reading.column)
            for i in range(batch.num_rows):
                number += 1
                row = f"{path}: row {number}"
                try:
                    value = values[i].as_py()
                except UnicodeDecodeError:
                    raise input_error("the text is not UTF-8", row) from None
                yield TableRow(value, batch.slice(i, 1), row)


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


def read_items(one: Input, kind: Kind, reading: Reading) -> Iterator[Item]:
    """Yield the items of an input, with sentences of the class `kind`."""
    table = table_of(one.path, reading)
    if table is not None:
        warned = TextWarnings(of_markup=not reading.raw)
        for row in read_parquet(one.path, reading) if table is TableFormat.PARQUET else read_jsonl(one.path, reading):
            yield Item(_sentences(row, kind, reading, warned), row.kept)
        return
    opens = True
    for sentence in sentences_in_file(one.path, kind, reading):
        if isinstance(sentence, EmptyLine):
            yield Item([], sentence)
        else:
            yield Item([sentence if one.document is None else one.placed(sentence, opens)])
            opens = False


def shard_of(items: Callable[[], Iterable[Item]], number: int, of: int) -> Iterator[Item]:
    """Return the items that process `number` of `of` parses; `items`, which returns all of them, is called twice."""
    size = sum(1 for _ in items())
    return islice(items(), size * (number - 1) // of, size * number // of)
