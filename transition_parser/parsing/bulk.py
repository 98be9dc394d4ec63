"""Whole files parsed into files. Sentences give CoNLL-U, an AMR bank or lines of JSON; tables keep their format."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output, replacing, unpacked_name
from transition_parser.base.process import progress
from transition_parser.parsing.formalisms.amr import multi_sentence
from transition_parser.parsing.given import GivenFacts
from transition_parser.parsing.parser import CHUNK, Parser
from transition_parser.parsing.sentences.files import EmptyLine, Reading
from transition_parser.parsing.sentences.inputs import (
    ROWS_TOGETHER,
    Input,
    Item,
    TableFormat,
    arrow,
    opened_parquet,
    read_items,
    shard_of,
    table_of,
)
from transition_parser.parsing.sentences.streams import as_they_come, in_chunks, may_pause

JSON_SUFFIX = ".jsonl"
_OF_JSON = ("actions", "wiki")  # the options of `annotated` that `to_json` takes too


@dataclass(frozen=True)
class Job:
    """The parser and the options with which files are parsed.

    reading: the options with which inputs are read
    annotations: the arguments of `annotated`, the method of parses
    as_json: True to write each sentence as one line of JSON (`to_json` of its parse) instead of CoNLL-U or PENMAN; the
        line always has scores and alternatives, and for an AMR alignments
    given: the facts about the AMRs of sentences; None without facts
    multi_sentence: True to write one AMR for each file or row of a table (`multi_sentence`)
    """

    parser: Parser
    reading: Reading
    annotations: Mapping[str, Any]
    as_json: bool = False
    given: GivenFacts | None = None
    multi_sentence: bool = False

    @property
    def suffix(self) -> str:
        """The suffix of the names of outputs, where inputs are files of sentences."""
        return JSON_SUFFIX if self.as_json else self.parser.formalism.suffix

    def write(self, inputs: Sequence[Input], path: str | None, shard: tuple[int, int] | None = None) -> None:
        """Parse inputs into one file.

        path: the output; None and `-` stand for standard output
        shard: (number, of): the part of all items to parse, see `shard_of`

        Raises `InputError` for bad input; the file is written whole or not at all.
        """
        pipes = [one.path for one in inputs if may_pause(one.path)]
        if shard and pipes:
            raise input_error("standard input and pipes can't be divided into parts: give a file", pipes[0])
        items = shard_of(lambda: self._items(inputs), *shard) if shard else self._items(inputs)
        sized = in_chunks(items, CHUNK, lambda item: len(item.sentences))
        chunks = as_they_come(items, CHUNK) if pipes else sized
        with _output_to(path, inputs[0].path, self.reading, self.as_json) as write:
            for item, texts in progress(self.parsed(chunks), "parsing"):
                write(item, texts)

    def _items(self, inputs: Sequence[Input]) -> Iterator[Item]:
        for one in inputs:
            items = read_items(one, self.parser.formalism.sentence, self.reading)
            if self.multi_sentence and not table_of(one.path, self.reading):
                yield Item([sentence for item in items for sentence in item.sentences], None, one.name)
            else:
                yield from items

    def parsed(self, chunks: Iterable[Sequence[Item]]) -> Iterator[tuple[Item, list[str]]]:
        """Yield each item with its parses as text; all items of a chunk are yielded before the next chunk is taken."""
        options = {name: self.annotations[name] for name in _OF_JSON if name in self.annotations}
        for chunk in chunks:
            sentences = [sentence for item in chunk for sentence in item.sentences]
            parses = iter([*self.parser.parse_chunks([sentences], self.given)])
            for item in chunk:
                of_item: Iterable[Any] = islice(parses, len(item.sentences))
                if self.multi_sentence and item.sentences:
                    of_item = [multi_sentence([*of_item], item.document)]
                if not self.as_json:
                    yield item, ["".join(str(one.annotated(**self.annotations)) for one in p.ranked) for p in of_item]
                elif isinstance(item.kept, EmptyLine):
                    yield item, [self.parser.formalism.json_of_nothing(item.kept.line)]
                else:
                    yield item, [parse.to_json(**options) + "\n" for parse in of_item]


@contextmanager
def _output_to(
    path: str | None, source: str, reading: Reading, as_json: bool
) -> Iterator[Callable[[Item, Sequence[str]], None]]:
    """Open a file (None and `-`: standard output), and yield what writes an item; rows of tables get one column."""
    table, added = table_of(source, reading), reading.added or ""
    in_column = _list_of if as_json else "".join
    if table is not TableFormat.PARQUET:
        with output(path) as file:

            def write(item: Item, texts: Sequence[str]) -> None:
                text = "".join(texts)
                if table is not None:
                    parses = _list_of(texts) if as_json else json.dumps(text, ensure_ascii=False)
                    row = item.kept[:-1].rstrip()  # without its last brace; a row has at least one column
                    text = f"{row}, {json.dumps(added, ensure_ascii=False)}: {parses}}}\n"
                file.write(text)
                if file is sys.stdout:
                    file.flush()

            yield write
        return
    if path is None or path == "-":
        raise input_error("Parquet can't be written to standard output: give -o FILE", source)
    if unpacked_name(path) != path:
        raise input_error("Parquet is packed inside: give -o FILE without this suffix", path)
    parquet = arrow()
    import pyarrow

    schema = opened_parquet(source).schema_arrow
    with_parses = schema.append(pyarrow.field(added, pyarrow.string()))
    with replacing(path) as temporary, parquet.ParquetWriter(temporary, with_parses) as writer:
        rows: list[pyarrow.RecordBatch] = []
        parses: list[str] = []

        def flush() -> None:
            table = pyarrow.Table.from_batches(rows, schema)
            writer.write_table(table.append_column(added, pyarrow.array(parses, pyarrow.string())))
            rows.clear()
            parses.clear()

        def write_row(item: Item, texts: Sequence[str]) -> None:
            if not item.kept.schema.equals(schema):
                raise InputError("the Parquet inputs have different columns: give -o DIR/, for one file each")
            rows.append(item.kept)
            parses.append(in_column(texts))
            if len(rows) == ROWS_TOGETHER:
                flush()

        yield write_row
        flush()


def _list_of(lines: Sequence[str]) -> str:
    return "[" + ", ".join(line.rstrip("\n") for line in lines) + "]"


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
