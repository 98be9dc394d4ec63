"""Whole files parsed into files: sentences into CoNLL-U, an AMR bank or lines of JSON; JSONL keeps its rows."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from pathlib import Path, PurePath
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.files import output, unpacked_name
from transition_parser.base.model_files import json_object
from transition_parser.base.process import progress
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence, decode_line
from transition_parser.parsing.files import may_pause, opened, read_sentences
from transition_parser.parsing.given import Given
from transition_parser.parsing.parser import CHUNK, Parser
from transition_parser.parsing.preparation import in_chunks
from transition_parser.parsing.texts import Reading, TextReader, is_missing

T = TypeVar("T")

JSON_SUFFIX = ".jsonl"
_TABLES = (JSON_SUFFIX, ".ndjson", ".jsonlines")
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
        """Return a sentence for an output of several inputs: a sentence of text gets a unique id.

        opens: True for the first sentence of the input, which opens a document
        """
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


class Item(NamedTuple):
    """A unit of parsing and writing: a sentence, or a row of JSONL."""

    sentences: list  # one sentence of a file of sentences, or any number of sentences of a row
    kept: str | None = None  # a row as it is written


def is_table(path: str, column: str | None) -> bool:
    """Return True for JSONL, by the suffix of its name or because a column is named."""
    if column is None and PurePath(unpacked_name(path)).suffix.lower() in _TABLES:
        raise input_error("the file is a table: name the column of its texts with --column NAME", path)
    return column is not None


def read_items(one: Input, reading: Reading, column: str | None = None, added: str | None = None) -> Iterator[Item]:
    """Yield the items of an input.

    column: the column of JSONL that holds the texts; None for a file of sentences
    added: the column for parses, a name that no column of the input has
    """
    if is_table(one.path, column):
        yield from _rows(one.path, reading, str(column), added)
        return
    opens = True
    for sentence in read_sentences(one.path, reading):
        yield Item([sentence if one.document is None else one.placed(sentence, opens)])
        opens = False


def _rows(path: str, reading: Reading, column: str, added: str | None) -> Iterator[Item]:
    reader = TextReader(reading)
    with opened(path) as (file, name):
        for number, raw in enumerate(file, 1):
            if not (line := decode_line(raw, name, number).strip()):
                continue
            row = json_object(line, name, number)
            if column not in row:
                columns = shortened(", ".join(map(repr, row)) or "none", 200)
                raise input_error(f"there is no column {column!r} (the columns: {columns})", name, number)
            if added in row:
                problem = f"there is a column {added!r} already: name another column for the parses with --parse-column"
                raise input_error(problem, name, number)
            yield Item(_sentences(row[column], reader, column, f"{name}:{number}"), line)


def _sentences(value: object, reader: TextReader, column: str, name: str) -> list[Any]:
    """Return the sentences of the value of a row."""
    if is_missing(value) or value == []:
        return []
    if isinstance(value, str):
        return list(reader.of_text(value, name))
    if isinstance(value, list) and all(isinstance(word, str) and word.strip() for word in value):
        return [replace(reader.of_words(value, name), path=name)]
    shown = shortened(repr(value), 40)
    raise input_error(f"column {column!r} holds {shown}: it must be a text, a list of words, or null", name)


@dataclass(frozen=True)
class Job:
    """The parser and the options with which files are parsed.

    reading: the way in which inputs are read
    annotations: the arguments of `annotated`, the method of parses
    as_json: True to write each sentence as one line of JSON (`to_json` of its parse) instead of CoNLL-U or PENMAN; the
        line always has scores and alternatives, and for an AMR alignments
    column, added: the columns of JSONL that hold the texts, and that get the parses
    given: id of a sentence → the facts about its AMR, which are removed when its sentence is parsed
    """

    parser: Parser
    reading: Reading
    annotations: Mapping[str, Any]
    as_json: bool = False
    column: str | None = None
    added: str = ""
    given: dict[str, Given] = field(default_factory=dict)

    def write(self, inputs: Sequence[Input], path: str | None) -> None:
        """Parse inputs into one file.

        path: the output; None and `-` stand for standard output

        Raises `InputError` for bad input; the file is written whole or not at all.
        """
        items = self._items(inputs)
        pauses = any(may_pause(one.path) for one in inputs)
        chunks = as_they_come(items, CHUNK) if pauses else in_chunks(items, CHUNK, lambda item: len(item.sentences))
        with output(path) as file:
            for text in progress(self._parsed(chunks), "parsing"):
                file.write(text)
                if file is sys.stdout:
                    file.flush()

    def _items(self, inputs: Sequence[Input]) -> Iterator[Item]:
        for one in inputs:
            yield from read_items(one, self.reading, self.column, self.added)

    def _parsed(self, chunks: Iterable[Sequence[Item]]) -> Iterator[str]:
        """Yield the text of each item; all items of a chunk are yielded before the next chunk is taken."""
        for chunk in chunks:
            sentences = [sentence for item in chunk for sentence in item.sentences]
            given = [self.given.pop(str(sentence.id), None) for sentence in sentences]
            parses = iter([*self.parser.parse_chunks([sentences], given)])
            for item in chunk:
                yield self._written(item.kept, islice(parses, len(item.sentences)))

    def _written(self, kept: str | None, parses: Iterable[Any]) -> str:
        if self.as_json:
            lines = [parse.to_json(self.annotations["actions"]) for parse in parses]
            text = f"[{', '.join(lines)}]" if kept else "".join(f"{line}\n" for line in lines)
        else:
            text = "".join(str(one.annotated(**self.annotations)) for parse in parses for one in parse.ranked)
        if kept is None:
            return text
        value = text if self.as_json else json.dumps(text, ensure_ascii=False)
        # the row without its last brace; it has at least one column
        return f"{kept[:-1].rstrip()}, {json.dumps(self.added, ensure_ascii=False)}: {value}}}\n"

    def names_in(self, folder: str, paths: Sequence[str]) -> list[str]:
        """Return for each input the path of its output in a folder."""
        suffix, names = JSON_SUFFIX if self.as_json else self.parser.formalism.suffix, dict[str, str]()
        for path in paths:
            if path == "-":
                raise InputError("standard input has no name for an output in a folder: give -o FILE")
            in_table = is_table(path, self.column)
            name = PurePath(path).name if in_table else PurePath(unpacked_name(path)).stem + suffix
            target = str(Path(folder, name))
            if target in names:
                problem = f"its output would be {target}, as for {names[target]}: rename one of these inputs"
                raise input_error(problem, path)
            if Path(target).exists() and Path(target).samefile(path):
                raise input_error("its output would replace the input itself: give another folder", path)
            names[target] = path
        return list(names)


# --- pipes -----------------------------------------------------------------------------------


PAUSE = 0.05  # seconds without a new item that count as a pause


class _End(NamedTuple):
    error: BaseException | None  # the exception that the items raised, if any


def as_they_come(items: Iterable[T], size: int, pause: float = PAUSE) -> Iterator[list[T]]:
    """Yield lists of at most `size` items. A list ends early where no further item came for `pause` seconds."""
    queue: Queue = Queue(size)
    closed = Event()

    def fill() -> None:
        error = None
        try:
            for item in items:
                queue.put(item)
                if closed.is_set():
                    return
        except BaseException as raised:  # the thread that takes the items raises it again
            error = raised
        queue.put(_End(error))

    # a daemon thread, so that the program can end while the thread waits for input
    Thread(target=fill, name="reader", daemon=True).start()
    end = None
    try:
        while end is None:
            chunk: list[T] = []
            while end is None and len(chunk) < size:
                try:
                    item = queue.get(timeout=pause if chunk else None)
                except Empty:
                    break
                if isinstance(item, _End):
                    end = item
                else:
                    chunk.append(item)
            if chunk:
                yield chunk
        if end.error is not None:
            raise end.error
    finally:
        closed.set()
        with suppress(Empty):
            queue.get_nowait()  # makes room in the queue, in case the thread waits to put an item
