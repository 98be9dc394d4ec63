"""Jobs that parse input files into output files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from transition_parser.base.progress import progress
from transition_parser.parsing.bulk.outputs import JSON_SUFFIX, Output, output_to
from transition_parser.parsing.bulk.resume import read_json, resumed
from transition_parser.parsing.given import GivenFacts
from transition_parser.parsing.parser import CHUNK, AnyParse, Parser
from transition_parser.parsing.sentences.files import EmptyLine
from transition_parser.parsing.sentences.parts import Part, read_part
from transition_parser.parsing.sentences.rows import Item, Reading
from transition_parser.parsing.sentences.streams import as_they_come, in_weighed_chunks, may_pause

_SAVED_TOGETHER = 256  # number of sentences that an interrupted run may lose
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

    def described(self) -> dict[str, Any]:
        """Return all options that the output depends on, beside the inputs, as values that JSON can hold."""
        as_json = {"json": True} if self.as_json else {}
        given = {} if self.given is None else {"given": self.given.fingerprint}
        reading = {name: value for name, value in self.reading._asdict().items() if name != "segmenter"}
        return {**self.parser.described(), **reading, **self.annotations, **as_json, **given}

    def write(self, parts: Sequence[Part], path: str | None, resume: bool = False) -> int:
        """Parse some parts of files into one file, and return the number of sentences that were parsed.

        path: the output; None and `-` stand for standard output
        resume: True to collect the output in `path`.partial, and to continue the output of an earlier run in that file

        Raises `InputError` for bad input; the file is written whole or not at all.
        """
        items: Iterable[Item] = chain.from_iterable(map(self._read, parts))
        if resume:
            read = read_json if self.as_json else self.parser.read
            with resumed(parts[0].path, path, items, read, self.reading, self.as_json) as (output, rest):
                return self._write(parts, output, rest, _SAVED_TOGETHER)
        with output_to(path, parts[0].path, self.reading, self.as_json) as output:
            return self._write(parts, output, items, CHUNK)

    def _read(self, part: Part) -> Iterator[Item]:
        return read_part(part, self.parser.formalism.sentence, self.reading)

    def _write(self, parts: Sequence[Part], output: Output, items: Iterable[Item], size: int) -> int:
        written = 0
        in_chunks = as_they_come if any(may_pause(part.path) for part in parts) else _chunks
        for item, texts in progress(self.parsed(in_chunks(items, size)), "parsing"):
            output.write(item, texts)
            written += len(texts)
        return written

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
