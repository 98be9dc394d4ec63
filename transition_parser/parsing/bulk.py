"""Whole files parsed into files. Sentences give CoNLL-U, an AMR bank or lines of JSON; tables keep their format."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, TextIO

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output, replacing, unpacked_name
from transition_parser.base.process import progress
from transition_parser.parsing.given import GivenFacts
from transition_parser.parsing.parser import CHUNK, AnyParse, Parser
from transition_parser.parsing.sentences.files import EmptyLine, Reading
from transition_parser.parsing.sentences.parts import Part, read_part
from transition_parser.parsing.sentences.streams import as_they_come, in_weighed_chunks, may_pause
from transition_parser.parsing.sentences.tables import Item, TableFormat, arrow, schema_of, table_of

JSON_SUFFIX = ".jsonl"
_OF_JSON = ("actions", "wiki")  # the options of `annotated` that `to_json` takes too


@dataclass(frozen=True)
class Job:
    """The parser and the options with which files are parsed. A job can be pickled, as its parser can.

    reading: the options with which inputs are read
    annotations: the arguments of `annotated`, the method of parses
    as_json: True to write each sentence as one line of JSON (`to_json` of its parse) instead of CoNLL-U or PENMAN; the
        line always has scores and alternatives, and for an AMR alignments
    given: the facts about the AMRs of sentences; None without facts
    """

    parser: Parser
    reading: Reading
    annotations: Mapping[str, Any]
    as_json: bool = False
    given: GivenFacts | None = None

    @property
    def suffix(self) -> str:
        """The suffix of the names of outputs, where inputs are files of sentences."""
        return JSON_SUFFIX if self.as_json else self.parser.formalism.suffix

    def write(self, parts: Sequence[Part], path: str | None) -> int:
        """Parse some parts of files into one file, and return the number of sentences that were parsed.

        path: the output; None and `-` stand for standard output

        Raises `InputError` for bad input; the file is written whole or not at all.
        """
        items: Iterable[Item] = chain.from_iterable(map(self._read, parts))
        in_chunks = as_they_come if any(may_pause(part.path) for part in parts) else _chunks
        written = 0
        with _output_to(path, parts[0].path, self.reading, self.as_json) as output:
            for item, texts in progress(self.parsed(in_chunks(items, CHUNK)), "parsing"):
                output.write(item, texts)
                written += len(texts)
        return written

    def _read(self, part: Part) -> Iterator[Item]:
        return read_part(part, self.parser.formalism.sentence, self.reading)

    def parsed(self, chunks: Iterable[Sequence[Item]]) -> Iterator[tuple[Item, list[str]]]:
        """Yield each item with its parses as text; all items of a chunk are yielded before the next chunk is taken."""
        for chunk in chunks:
            sentences = [sentence for item in chunk for sentence in item.sentences]
            parses = iter([*self.parser.parse_chunks([sentences], self.given)])
            for item in chunk:
                if self.as_json and isinstance(item.kept, EmptyLine):
                    yield item, [self.parser.formalism.json_of_nothing(item.kept.line)]
                else:
                    yield item, [self._written(parse) for parse in islice(parses, len(item.sentences))]

    def _written(self, parse: AnyParse) -> str:
        """Return a parse with its alternatives, as text."""
        if self.as_json:
            options = {name: self.annotations[name] for name in _OF_JSON if name in self.annotations}
            return parse.to_json(**options) + "\n"
        return "".join(str(one.annotated(**self.annotations)) for one in parse.ranked)


def _chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of items that have `size` sentences together, or a few more; a list has at most `size` items."""
    return in_weighed_chunks(items, size, lambda item: len(item.sentences))


class Texts:
    """An output of text that holds the parses one after another."""

    def __init__(self, file: TextIO, flush: bool) -> None:
        self._file, self._flush = file, flush

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Add the parses of a sentence or of a row."""
        self._file.write(self._text(item, texts))
        if self._flush:
            self._file.flush()

    def _text(self, item: Item, texts: Sequence[str]) -> str:
        return "".join(texts)


class JsonLines(Texts):
    """An output with each row as it was, and its parses in one more column: a string, or a list of JSON objects."""

    def __init__(self, file: TextIO, flush: bool, added: str, as_json: bool) -> None:
        super().__init__(file, flush)
        self._added, self._as_json = json.dumps(added, ensure_ascii=False), as_json

    def _text(self, item: Item, texts: Sequence[str]) -> str:
        parses = _list_of(texts) if self._as_json else json.dumps("".join(texts), ensure_ascii=False)
        row = item.kept[:-1].rstrip()  # without its last brace; a row has at least one column
        return f"{row}, {self._added}: {parses}}}\n"


def _list_of(lines: Sequence[str]) -> str:
    """Return lines of JSON as one list in JSON."""
    return "[" + ", ".join(line.rstrip("\n") for line in lines) + "]"


class ParquetRows:
    """An output with each row as it was, and its parses as one more column of strings."""

    def __init__(self, writer: Any, added: str, as_json: bool) -> None:
        self._writer, self._added, self._as_json = writer, added, as_json
        self._texts: list[str] = []

    def write(self, item: Item, texts: Sequence[str]) -> None:
        """Add a row with its parses. Raises `InputError` for rows of another schema."""
        import pyarrow

        self._texts.append(_list_of(texts) if self._as_json else "".join(texts))
        if not item.kept.last:
            return
        batch = item.kept.rows.append_column(self._added, pyarrow.array(self._texts, pyarrow.string()))
        if not batch.schema.equals(self._writer.schema):
            problem = "the Parquet inputs have different columns, and can't be written to one file: give -o DIR/"
            raise InputError(problem)
        self._writer.write_batch(batch.cast(self._writer.schema))  # the metadata of schemas may differ
        self._texts = []


@contextmanager
def _output_to(path: str | None, source: str, reading: Reading, as_json: bool) -> Iterator[Texts | ParquetRows]:
    """Open a file (None and `-`: standard output) as the output of a job, in the format of the first input."""
    table = table_of(source, reading)
    if table is not TableFormat.PARQUET:
        with output(path) as file:
            flush, added = file is sys.stdout, reading.added or ""
            yield Texts(file, flush) if table is None else JsonLines(file, flush, added, as_json)
        return
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
    """Return for each input the path of its output in a folder."""
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
