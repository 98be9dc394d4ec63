"""Rows of tables (JSONL, Parquet), one column of which holds text to parse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import PurePath
from typing import Any, NamedTuple

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.graphs.conllu import decode_line
from transition_parser.parsing.sentences.files import Kind, layout_of_text, sentences_of
from transition_parser.parsing.sentences.objects import NO_TEXT
from transition_parser.parsing.sentences.tokenised import TokenisedCheck
from transition_parser.text.lengths import LONGEST


class Reading(NamedTuple):
    """How inputs are read. tokenised, raw: see `read_sentences`. column: of tables, which one holds the text. added:
    the column of parses that their output has besides, and that they may not have yet. longest: see
    `read_sentences`."""

    tokenised: bool | None = None
    raw: bool = False
    column: str | None = None
    added: str | None = None
    longest: int = LONGEST


class Table(Enum):
    """The formats of tables, with the suffixes of their names."""

    JSONL = (".jsonl", ".ndjson", ".jsonlines")
    PARQUET = (".parquet", ".pq")


class Row(NamedTuple):
    """One row. value: what the column holds. kept: all of the row, as its format keeps it. path, number: where it is;
    the number is that of its line in JSONL."""

    value: object
    kept: Any
    path: str
    number: int
    of_lines: bool

    def error(self, problem: str) -> InputError:
        """An `InputError` that names the row."""
        if self.of_lines:
            return input_error(problem, self.path, self.number)
        return input_error(f"row {self.number}: {problem}", self.path)


class Item(NamedTuple):
    """What is parsed and written together. sentences: the one of a file of sentences, any number of them of a row.
    kept: of a row what its output needs, else None."""

    sentences: list
    kept: Any = None


def table_of(path: str, reading: Reading) -> Table | None:
    """Which kind of table a file is by its name, None for a file of sentences. What has another name is JSONL where a
    column is named: standard input, say. Raises `InputError` for a table where no column is named."""
    suffix = PurePath(path).suffix.lower()
    table = next((table for table in Table if suffix in table.value), None)
    if table is not None and reading.column is None:
        raise input_error("a table: --column NAME says which of its columns holds the text", path)
    return Table.JSONL if table is None and reading.column is not None else table


def items_of_rows(rows: Iterable[Row], kind: Kind, reading: Reading) -> Iterator[Item]:
    """The sentences of each row, each a `kind`: none of a text that is null or blank. A text is read as `reading` says,
    by default as raw text; a list of strings is the words of one sentence. Raises `InputError` for anything else."""
    check = TokenisedCheck() if reading.tokenised is None and not reading.raw else None
    for row in rows:
        if check is not None and isinstance(row.value, str):
            check.see(row.value)
        yield Item(_sentences(row, kind, reading), row.kept)
    if check is not None:
        check.end()


def _sentences(row: Row, kind: Kind, reading: Reading) -> list:
    value = row.value
    if value is None:
        return []
    if isinstance(value, str):
        if bad := NO_TEXT.search(value):
            raise row.error(f"character {bad.start() + 1} of the text is a zero byte or half of a surrogate pair")
        layout = layout_of_text(reading.tokenised, reading.raw)
        lines = (line.encode() for line in value.split("\n"))
        return list(sentences_of(lines, row.path, kind, layout, reading.tokenised, longest=reading.longest))
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        try:
            return [kind.from_words(value)] if value else []
        except InputError as error:
            raise row.error(str(error)) from None
    shown = shortened(repr(value), 40)
    raise row.error(f"column {reading.column!r} holds {shown}: neither a text, nor a list of words, nor null")


def why_unfit(columns: Sequence[str], reading: Reading) -> str | None:
    """What is wrong with the columns of a table, None where one holds the text and none would be added twice."""
    if columns.count(reading.column) != 1:
        shown = shortened(", ".join(map(repr, columns)) or "none", 200)
        number = "no column" if reading.column not in columns else "more than one column"
        return f"there is {number} {reading.column!r} (the columns: {shown})"
    if reading.added in columns:
        return f"there is a column {reading.added!r} already: --parse-column names another one for the parses"
    return None


def read_jsonl(lines: Iterable[bytes], name: str, reading: Reading, first: int = 1) -> Iterator[Row]:
    """Yields the rows of lines of JSON objects, blank lines left out; a row's `kept` is its line. first: the number
    of the first line. Raises `InputError` for anything but an object that has the column."""
    for number, raw in enumerate(lines, first):
        line = decode_line(raw, name, number).strip()
        if line:
            row = _object(line, name, number)
            if problem := why_unfit([*row], reading):
                raise input_error(problem, name, number)
            yield Row(row[reading.column], line, name, number, True)


def _object(line: str, name: str, number: int) -> dict:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else "too deep"
        raise input_error(f"the line is not JSON: {where}", name, number) from None
    if not isinstance(row, dict):
        raise input_error("the line is not a JSON object: each line of JSONL must be one", name, number)
    return row
