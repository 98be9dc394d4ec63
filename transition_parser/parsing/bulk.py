"""Whole files parsed into files: sentences into CoNLL-U, an AMR bank or lines of JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path, PurePath
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output, unpacked_name
from transition_parser.base.process import progress
from transition_parser.graphs.bank import AmrEntry
from transition_parser.parsing.given import Given
from transition_parser.parsing.parser import CHUNK, AnySentence, Parser
from transition_parser.parsing.preparation import in_chunks
from transition_parser.parsing.texts import Reading, may_pause, read_sentences

T = TypeVar("T")

_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def sentences_of(paths: Sequence[str], reading: Reading) -> Iterator[AnySentence]:
    """Yield the sentences of files (`-` for standard input), one file after another.

    Of several files, each is a document with a name of its own, and sentences of text get unique ids.
    """
    if len(paths) == 1:
        yield from read_sentences(paths[0], reading)
        return
    taken: set[str] = set()
    for path in paths:
        stem = "stdin" if path == "-" else "_".join(PurePath(unpacked_name(path)).stem.split())
        names = chain([stem], (f"{stem}-{i}" for i in count(2)))
        name = next(one for one in names if one not in taken)
        taken.add(name)
        for i, sentence in enumerate(read_sentences(path, reading)):
            yield _of_document(sentence, name, opens=i == 0)


def _of_document(sentence: AnySentence, name: str, opens: bool) -> AnySentence:
    id_ = f"{name}-{sentence.id}"
    if isinstance(sentence, AmrEntry):
        return replace(sentence, metadata={**sentence.metadata, "id": id_}) if sentence.spans else sentence
    comments = [*sentence.comments]
    if sentence.spans:  # it comes from text
        comments[comments.index(f"# sent_id = {sentence.id}")] = f"# sent_id = {id_}"
    if opens and not any(map(_NEW_DOCUMENT.match, comments)):
        comments.insert(0, f"# newdoc id = {name}")
    return replace(sentence, comments=tuple(comments))


@dataclass(frozen=True)
class Job:
    """The parser and the options with which files are parsed.

    reading: the way in which inputs are read
    annotations: the arguments of `annotated`, the method of parses
    as_json: True to write each sentence as one line of JSON (`to_json` of its parse) instead of CoNLL-U or PENMAN; the
        line always has scores and alternatives, and for an AMR alignments
    given: id of a sentence → the facts about its AMR, which are removed when its sentence is parsed
    """

    parser: Parser
    reading: Reading
    annotations: Mapping[str, Any]
    as_json: bool = False
    given: dict[str, Given] = field(default_factory=dict)

    def write(self, paths: Sequence[str], path: str | None) -> None:
        """Parse files into one file.

        path: the output; None and `-` stand for standard output

        Raises `InputError` for bad input; the file is written whole or not at all.
        """
        sentences = sentences_of(paths, self.reading)
        chunks = as_they_come(sentences, CHUNK) if any(map(may_pause, paths)) else in_chunks(sentences, CHUNK)
        with output(path) as file:
            for text in progress(self._parsed(chunks), "parsing"):
                file.write(text)
                if file is sys.stdout:
                    file.flush()

    def _parsed(self, chunks: Iterable[Sequence[AnySentence]]) -> Iterator[str]:
        """Yield the text of each parse; all parses of a chunk are yielded before the next chunk is taken."""
        for chunk in chunks:
            given = [self.given.pop(str(sentence.id), None) for sentence in chunk]
            for parse in self.parser.parse_stream(chunk, given=given):
                if self.as_json:
                    yield parse.to_json(self.annotations["actions"]) + "\n"
                else:
                    yield "".join(str(one.annotated(**self.annotations)) for one in parse.ranked)

    def names_in(self, folder: str, paths: Sequence[str]) -> list[str]:
        """Return for each input the path of its output in a folder."""
        suffix, names = ".jsonl" if self.as_json else self.parser.formalism.suffix, dict[str, str]()
        for path in paths:
            if path == "-":
                raise InputError("standard input has no name for an output in a folder: give -o FILE")
            target = str(Path(folder, PurePath(unpacked_name(path)).stem + suffix))
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
