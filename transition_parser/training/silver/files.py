"""Files of silver data, which are made sentence by sentence. A later run continues an interrupted one."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import held, output
from transition_parser.base.progress import progress
from transition_parser.parsing.parser import Parser

FORMAT = 3  # the version of `.partial` files; other versions can't be continued


@dataclass(frozen=True)
class KeptSentence:
    """A sentence that a file of silver data keeps.

    text: the sentence and its graph as the file holds them
    agreement: how far the models agree, from 0 to 1
    """

    text: str
    agreement: float


@dataclass(frozen=True)
class LeftOut:
    """A sentence that is left out of the file, and the reason."""

    reason: str


@dataclass(frozen=True)
class Made:
    """The result of making a file.

    kept: the number of sentences in the file
    left_out: the number of sentences left out, by the reason
    agreement: the mean of `KeptSentence.agreement` over the sentences in the file
    """

    kept: int
    left_out: Counter[str] = field(default_factory=Counter)
    agreement: float = 0.0


def check_options(output: str, inputs: Iterable[str | os.PathLike], nbest: int, beam: int) -> None:
    """Raise `InputError` where the file to make is one of the inputs, and where `nbest` exceeds `beam`."""
    if Path(output).resolve() in {Path(path).resolve() for path in inputs}:
        raise InputError(f"{output} is one of the inputs: write to another file")
    if nbest > beam:
        raise InputError(f"--nbest {nbest} is more than --beam {beam}")


def described(parsers: Iterable[Parser[Any]]) -> list[dict[str, Any]]:
    """Return for each parser its model and all that its parses depend on, for the settings of a file."""
    computed = ((parser, {"device": parser.device.type, "precision": parser.precision}) for parser in parsers)
    return [{**parser.described(), **how} for parser, how in computed]


def make_file(
    path: str,
    settings: dict[str, Any],
    sentences: Iterable[object],
    made_from: Callable[[int], Iterator[KeptSentence | LeftOut]],
) -> Made:
    """Write a file of silver data.

    The file `path`.partial holds the finished sentences until the file is complete. A run with the same settings and
    sentences continues from it.

    settings: everything that the result depends on besides the sentences, as JSON can hold it
    sentences: for each sentence, an object whose `repr` shows everything that its result depends on
    made_from: function from the number of a sentence, from 0, to the results of this and all later sentences

    Raises `InputError` if `path` is a folder or `-`, if `path`.partial is of another run or is being written, and if no
    sentence is kept.
    """
    if path == "-" or Path(path).is_dir():
        raise input_error("is not a file: give one, which is made step by step", path)
    partial = Path(f"{path}.partial")
    representations = [repr(one).encode("utf-8", "surrogatepass") for one in sentences]
    count, digest = len(representations), hashlib.sha256(b"".join(representations)).hexdigest()
    settings = {"format": FORMAT, **settings, "sentences": count, "digest": digest}
    with held(partial):
        done = _resume(partial, settings)
        with open(partial, "a", encoding="utf-8", buffering=1) as file:
            if done is None:
                file.write(json.dumps(settings) + "\n")
            start = done or 0
            for one in progress(made_from(start), "parsing", count - start):
                file.write(json.dumps(vars(one)) + "\n")
        try:
            made = _write_whole(path, partial)
        except InputError:  # no sentence is kept: remove the file, so that a run with other settings can begin
            partial.unlink()
            raise
        partial.unlink()
    return made


def _resume(partial: Path, settings: dict[str, Any]) -> int | None:
    """Return how many sentences an interrupted run finished, None if there was no such run.

    A line that is not whole is removed from the file. Raises `InputError` for a file of another run.
    """
    if not partial.exists():
        return None
    with open(partial, "r+b") as file:
        lines = file.readlines()
        if lines and not lines[-1].endswith(b"\n"):
            file.truncate(sum(map(len, lines[:-1])))
            lines.pop()
    if not lines:
        return None
    try:
        same = json.loads(lines[0]) == settings
    except ValueError:
        same = False
    if not same:
        problem = (
            "an interrupted run with other sentences or options wrote this file: remove the file, or repeat that run"
        )
        raise input_error(problem, partial)
    return len(lines) - 1


def _write_whole(path: str, partial: Path) -> Made:
    """Write the file from a finished `partial`. Raises `InputError` if no sentence is left."""
    left_out: Counter[str] = Counter()
    agreements = []
    with open(partial, encoding="utf-8") as lines, output(path) as file:
        next(lines)
        for record in map(json.loads, lines):
            if "reason" in record:
                left_out[record["reason"]] += 1
                continue
            agreements.append(record["agreement"])
            file.write(record["text"])
        if not agreements:
            raise InputError("no sentence is left whose tree or graph is wanted")
    return Made(len(agreements), left_out, sum(agreements) / len(agreements))
