"""Rows of tables (JSONL; Parquet by pyarrow, extra `[parquet]`), one column of which holds text to parse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from transition_parser.base.errors import InputError, input_error, missing_extra, shortened
from transition_parser.base.files import unpacked_name
from transition_parser.graphs.conllu import decode_line
from transition_parser.parsing.sentences.files import BEGIN, EmptyLine, Kind, Reading, sentences_of
from transition_parser.parsing.sentences.texts import TextWarnings, is_missing, too_long
from transition_parser.text.segmentation import is_longer

if TYPE_CHECKING:
    import pyarrow


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


def table_of(path: str, reading: Reading) -> TableFormat | None:
    """Return the table format of a file by the suffix of its name, None for a file of sentences."""
    suffix = PurePath(unpacked_name(path)).suffix.lower()
    table = next((table for table in TableFormat if suffix in table.value), None)
    if table is not None and reading.column is None:
        raise input_error("the file is a table: name the column of its texts with --column NAME", path)
    return TableFormat.JSONL if table is None and reading.column is not None else table


def items_of_rows(rows: Iterable[TableRow], kind: Kind, reading: Reading) -> Iterator[Item]:
    """Yield each row as an item with its sentences, which are of the class `kind`."""
    warned = TextWarnings(of_markup=not reading.raw)
    for row in rows:
        yield Item(_sentences(row, kind, reading, warned), row.kept)


def _sentences(row: TableRow, kind: Kind, reading: Reading, warned: TextWarnings) -> list:
    value = row.value
    if is_missing(value):
        return []
    if isinstance(value, str):
        lines = (line.encode() for line in warned.replaced(value, row.name).split("\n"))
        found = sentences_of(lines, row.name, kind, reading.layout_of_text, reading, BEGIN, warned)
        return [sentence for sentence in found if not isinstance(sentence, EmptyLine)]
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        if is_longer(value, reading.longest):
            raise input_error(f"the list of words {too_long(value, reading.longest)}", row.name)
        try:
            return [kind.from_words([warned.replaced(word, row.name) for word in value])] if value else []
        except InputError as error:
            raise input_error(str(error), row.name) from None
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
        if line:
            row = _object(line, name, number)
            if problem := why_unfit([*row], reading):
                raise input_error(problem, name, number)
            yield TableRow(row[reading.column], line, f"{name}:{number}")


def _object(line: str, name: str, number: int) -> dict:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise input_error(f"the line is not JSON: {error.msg} at character {error.pos + 1}", name, number) from None
    except RecursionError:
        raise input_error("the line is not JSON: too deep", name, number) from None
    except ValueError:  # Python reads no integers of more than 4,300 digits
        raise input_error("the line has a number of too many digits", name, number) from None
    if not isinstance(row, dict):
        raise input_error("the line is not a JSON object: each line of JSONL must be a JSON object", name, number)
    return row


# --- Parquet ------------------------------------------------------------

ROWS_TOGETHER = 4096  # number of rows that are held at a time, and written as one row group


class KeptRow(NamedTuple):
    """The data of a row that its output needs."""

    rows: pyarrow.RecordBatch  # the batch of rows in which the row was read
    last: bool  # True for the last row of the batch


def arrow() -> Any:
    """Return the module `pyarrow.parquet`. Raises `InputError` where it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise missing_extra("parquet", "Parquet files", str(error)) from None
    return pyarrow.parquet


def schema_of(path: str) -> pyarrow.Schema:
    """Return the schema of a file. Raises `InputError` for a file that is not Parquet."""
    return _opened(path).schema_arrow


def rows_in(path: str) -> int:
    """Return the number of rows of a file."""
    return _opened(path).metadata.num_rows


def read_parquet(path: str, reading: Reading, first: int = 0, end: int | None = None) -> Iterator[TableRow]:
    """Yield the rows from `first` up to, but without, `end`; by default all rows."""
    with _opened(path) as file:
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


def _opened(path: str) -> Any:
    parquet = arrow()
    from pyarrow import ArrowException

    with open(path, "rb"):  # so that a missing file is an OSError with its name
        pass
    try:
        return parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise input_error(f"not a Parquet file: {shortened(str(error))}", path) from None
