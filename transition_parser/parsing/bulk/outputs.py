"""What a job writes: CoNLL-U, an AMR bank or lines of JSON from sentences, JSONL from JSONL, Parquet from Parquet."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any, Protocol, TextIO

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output, replacing
from transition_parser.parsing.sentences.rows import Item, Reading, Table, table_of

JSON_SUFFIX = ".jsonl"
JSON_COLUMN = "parses"  # of tables that get their parses as JSON


class Output(Protocol):
    """Where parses go."""

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Adds a sentence or a row. texts: its parses."""


class Texts:
    """The parses one after another."""

    def __init__(self, file: TextIO, flush: bool) -> None:
        self._file, self._flush = file, flush

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """See `Output`."""
        self._put("".join(texts))

    def _put(self, text: str) -> None:
        self._file.write(text)
        if self._flush:
            self._file.flush()


class JsonLines(Texts):
    """Each row as it was, and its parses as one string more. as_json: as a list of objects instead."""

    def __init__(self, file: TextIO, flush: bool, added: str, as_json: bool = False) -> None:
        super().__init__(file, flush)
        self._added = json.dumps(added, ensure_ascii=False)
        self._as_json = as_json

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """See `Output`."""
        parses = _list_of(texts) if self._as_json else json.dumps("".join(texts), ensure_ascii=False)
        self._put(f"{opening(item.kept)}, {self._added}: {parses}}}\n")


def _list_of(lines: Sequence[str]) -> str:
    """Lines of JSON as one list."""
    return "[" + ", ".join(line.rstrip("\n") for line in lines) + "]"


def opening(row: str) -> str:
    """A row of JSONL without the brace that ends it; it has one column at least."""
    return row[:-1].rstrip()


class ParquetRows:
    """Each row as it was, and its parses as one string more. The schema is that of the first input. as_json: the string
    is a list of objects in JSON."""

    def __init__(self, writer: Any, added: str, as_json: bool = False) -> None:
        self._writer, self._added, self._as_json = writer, added, as_json
        self._texts: list[str] = []

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """See `Output`. Raises `InputError` for rows of another schema."""
        self._texts.append(_list_of(texts) if self._as_json else "".join(texts))
        if item.kept.last:
            self._writer.write_batch(self._with_texts(item.kept.rows))
            self._texts = []

    def _with_texts(self, rows: Any) -> Any:
        import pyarrow

        batch = rows.append_column(self._added, pyarrow.array(self._texts, pyarrow.string()))
        if not batch.schema.equals(self._writer.schema):
            raise InputError(
                "the columns of the Parquet inputs differ, and can't be in one file: -o DIR/ writes one for each"
            )
        return batch.cast(self._writer.schema)  # another file's metadata


@contextmanager
def output_to(path: str | None, source: str, reading: Reading, as_json: bool = False) -> Iterator[Output]:
    """What is written to a file, to standard output for None and `-`. source: the first input, whose format the output
    has. as_json: parses are lines of JSON."""
    table = table_of(source, reading)
    if table is Table.PARQUET:
        with _parquet_output(path, source, reading, as_json) as rows:
            yield rows
        return
    with output(path) as file:
        yield text_output(file, file is sys.stdout, table, reading, as_json)


def text_output(file: TextIO, flush: bool, table: Table | None, reading: Reading, as_json: bool) -> Texts:
    """What is written to an open file. flush: after each item. as_json: see `output_to`."""
    return Texts(file, flush) if table is None else JsonLines(file, flush, reading.added or "", as_json)


@contextmanager
def _parquet_output(path: str | None, source: str, reading: Reading, as_json: bool) -> Iterator[ParquetRows]:
    from transition_parser.parsing.sentences.parquet import arrow, schema_of

    if path in (None, "-"):
        raise input_error("Parquet can't be written to standard output: give -o FILE", source)
    parquet = arrow()
    import pyarrow

    schema = schema_of(source).append(pyarrow.field(reading.added, pyarrow.string()))
    with replacing(path) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        yield ParquetRows(writer, reading.added or "", as_json)


def names_in(folder: str, paths: Sequence[str], suffix: str, reading: Reading) -> list[str]:
    """The output of each input in a folder: its name, with the suffix of what is written where it is a file of
    sentences. Raises `InputError` for standard input, for two inputs of one name, and for outputs that would replace
    inputs."""
    names: dict[str, str] = {}
    for path in paths:
        if path == "-":
            raise InputError("standard input has no name for an output in a folder: give -o FILE")
        name = PurePath(path)
        target = str(Path(folder, name.name if table_of(path, reading) else name.stem + suffix))
        if target in names:
            raise input_error(f"its output would be {target}, as that of {names[target]}", path)
        if Path(target).exists() and Path(target).samefile(path):
            raise input_error("its output would replace it: give another folder", path)
        names[target] = path
    return list(names)


def check_formats(paths: Sequence[str], reading: Reading) -> None:
    """Raises `InputError` where inputs can't go into one file."""
    first, *others = paths
    for path in others:
        if table_of(path, reading) is not table_of(first, reading):
            raise input_error(f"can't go into one file with {first}, which has another format: give -o DIR/", path)
