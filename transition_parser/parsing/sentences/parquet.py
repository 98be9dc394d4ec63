"""Rows of Parquet files, by pyarrow (extra `[parquet]`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from transition_parser.base.errors import input_error, missing_extra, shortened
from transition_parser.parsing.sentences.rows import Reading, TableRow, why_unfit

if TYPE_CHECKING:
    import pyarrow

ROWS_TOGETHER = 4096  # number of rows that are held at a time, and written as one row group


class KeptRow(NamedTuple):
    """The data of a row that its output needs.

    rows: the batch of rows in which the row was read
    last: True for the last row of the batch
    """

    rows: pyarrow.RecordBatch
    last: bool


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
    """Yield the rows from `first` up to, but without, `end`; by default all rows.

    Raises `InputError` where the columns do not fit `reading`, see `why_unfit`.
    """
    with _opened(path) as file:
        if problem := why_unfit(file.schema_arrow.names, reading):
            raise input_error(problem, path)
        end = file.metadata.num_rows if end is None else end
        for start, batch in _batches(file, first, end):
            values = batch.column(reading.column)
            for i in range(batch.num_rows):
                kept = KeptRow(batch, i == batch.num_rows - 1)
                yield TableRow(_value(values[i], path, start + i + 1), kept, path, start + i + 1, False)


def _value(scalar: Any, path: str, row: int) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        raise input_error(f"row {row}: the text is not UTF-8", path) from None


def _batches(file: Any, first: int, end: int) -> Iterator[tuple[int, pyarrow.RecordBatch]]:
    """Yield the rows from `first` to `end` in batches, each with the number of rows before it.

    Only row groups that have some of these rows are read.
    """
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
