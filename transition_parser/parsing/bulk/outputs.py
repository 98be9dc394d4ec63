"""Outputs of a job. Sentences give CoNLL-U, an AMR bank or lines of JSON; tables (JSONL, Parquet) keep their format."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, Protocol, TextIO

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output, replacing, unpacked_name
from transition_parser.parsing.sentences.rows import Item, Reading, TableFormat, table_of

JSON_SUFFIX = ".jsonl"
JSON_COLUMN = "parses"  # the column of parses in tables whose parses are JSON


class Output(Protocol):
    """A destination of parses."""

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Add a sentence, or a row of a table, with the texts of its parses."""


class Texts:
    """An output of text that holds the parses one after another."""

    def __init__(self, file: TextIO, flush: bool) -> None:
        self._file, self._flush = file, flush

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Add the parses of a sentence."""
        self._put("".join(texts))

    def _put(self, text: str) -> None:
        self._file.write(text)
        if self._flush:
            self._file.flush()


class JsonLines(Texts):
    """An output with each row as it was, and its parses in one more column.

    flush: True to flush the file after each row
    added: the name of the column that is added
    as_json: True where the value of the column is a list of JSON objects, False where it is a string
    """

    def __init__(self, file: TextIO, flush: bool, added: str, as_json: bool = False) -> None:
        super().__init__(file, flush)
        self._added = json.dumps(added, ensure_ascii=False)
        self._as_json = as_json

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Add a row with its parses."""
        parses = _list_of(texts) if self._as_json else json.dumps("".join(texts), ensure_ascii=False)
        self._put(f"{opening(item.kept)}, {self._added}: {parses}}}\n")


def _list_of(lines: Sequence[str]) -> str:
    """Return lines of JSON as one list in JSON."""
    return "[" + ", ".join(line.rstrip("\n") for line in lines) + "]"


def opening(row: str) -> str:
    """Return a row of JSONL without the brace that ends it. The row has at least one column."""
    return row[:-1].rstrip()


class ParquetRows:
    """An output with each row as it was, and its parses as one more column of strings.

    The schema is the schema of the first input.

    added: the name of the column that is added
    as_json: True where the string is a list of JSON objects
    """

    def __init__(self, writer: Any, added: str, as_json: bool = False) -> None:
        self._writer, self._added, self._as_json = writer, added, as_json
        self._texts: list[str] = []

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Add a row with its parses. Raises `InputError` for rows of another schema."""
        self._texts.append(_list_of(texts) if self._as_json else "".join(texts))
        if item.kept.last:
            self._writer.write_batch(self._with_texts(item.kept.rows))
            self._texts = []

    def _with_texts(self, rows: Any) -> Any:
        import pyarrow

        batch = rows.append_column(self._added, pyarrow.array(self._texts, pyarrow.string()))
        if not batch.schema.equals(self._writer.schema):
            raise InputError(
                "the Parquet inputs have different columns, and can't be written to one file: give -o DIR/"
            )
        return batch.cast(self._writer.schema)  # the metadata of schemas may differ


@contextmanager
def output_to(path: str | None, source: str, reading: Reading, as_json: bool = False) -> Iterator[Output]:
    """Open a file as the output of a job, and yield the output.

    path: None and `-` stand for standard output
    source: the first input; the output has its format
    as_json: True where parses are lines of JSON
    """
    table = table_of(source, reading)
    if table is TableFormat.PARQUET:
        with _parquet_output(path, source, reading, as_json) as rows:
            yield rows
        return
    with output(path) as file:
        yield text_output(file, file is sys.stdout, table, reading, as_json)


def text_output(file: TextIO, flush: bool, table: TableFormat | None, reading: Reading, as_json: bool) -> Texts:
    """Return the output that writes to an open file of text.

    flush: True to flush the file after each item
    table: the format of the input if it is a table, None for a file of sentences
    as_json: True where parses are lines of JSON
    """
    return Texts(file, flush) if table is None else JsonLines(file, flush, reading.added or "", as_json)


@contextmanager
def _parquet_output(path: str | None, source: str, reading: Reading, as_json: bool) -> Iterator[ParquetRows]:
    from transition_parser.parsing.sentences.parquet import arrow, schema_of

    if path is None or path == "-":
        raise input_error("Parquet can't be written to standard output: give -o FILE", source)
    if unpacked_name(path) != path:
        raise input_error("Parquet is packed inside: give -o FILE without this suffix", path)
    parquet = arrow()
    import pyarrow

    schema = schema_of(source).append(pyarrow.field(reading.added, pyarrow.string()))
    with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        yield ParquetRows(writer, reading.added or "", as_json)


def names_in(folder: str, paths: Sequence[str], suffix: str, reading: Reading) -> list[str]:
    """Return for each input the path of its output in a folder.

    The output has the input's name, with `suffix` in place of its suffix if the input is a file of sentences. Raises
    `InputError` for standard input, for two inputs of one name, and for outputs that would replace inputs.
    """
    names: dict[str, str] = {}
    for path in paths:
        if path == "-":
            raise InputError("standard input has no name for an output in a folder: give -o FILE")
        is_table = table_of(path, reading) is not None
        name = PurePath(path).name if is_table else PurePath(unpacked_name(path)).stem + suffix
        target = str(Path(folder, name))
        if target in names:
            raise input_error(f"its output would be {target}, as for {names[target]}: rename one of these inputs", path)
        if Path(target).exists() and Path(target).samefile(path):
            raise input_error("its output would replace the input itself: give another folder", path)
        names[target] = path
    return list(names)


def check_formats(paths: Sequence[str], reading: Reading) -> None:
    """Raise `InputError` where the inputs have different formats, so that one file can't hold their outputs."""
    first, *others = paths
    for path in others:
        if table_of(path, reading) is not table_of(first, reading):
            raise input_error(
                f"can't be written to one file with {first}, which has another format: give -o DIR/", path
            )
