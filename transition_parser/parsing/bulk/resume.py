"""The outputs of interrupted jobs, and the items that such outputs lack."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import growing
from transition_parser.parsing.bulk.outputs import Texts, opening, text_output
from transition_parser.parsing.sentences.rows import Item, Reading, TableFormat, table_of

_PLACE = re.compile(rb"# (?:nbest = |::nbest )(\d+)/(\d+)\b")  # rank of a parse among the parses of its sentence
_SENTENCES = re.compile(rb"[#\d(]")  # the first byte of CoNLL-U and AMRs
_MEND = "remove the file, or give the input of the interrupted run"


@contextmanager
def resumed(
    source: str,
    path: str | None,
    items: Iterable[Item],
    read: Callable[[Path], Iterable],
    reading: Reading,
    as_json: bool = False,
) -> Iterator[tuple[Texts, Iterator[Item]]]:
    """Yield the output to `path`.partial, and the items that this file lacks. The file becomes `path` at the end.

    source: the first input
    read: the function that reads the sentences of an unfinished output; `read_json` with `as_json`
    as_json: True where parses are lines of JSON

    Raises `InputError` without a `path`, for Parquet, and where the file holds anything but parses of the first items.
    """
    if path in (None, "-"):
        raise InputError("--resume needs -o FILE")
    table = table_of(source, reading)
    if table is TableFormat.PARQUET:
        raise InputError(
            "--resume can't continue within a Parquet file: give -o DIR/, where it continues "
            "after the last finished file"
        )
    with growing(path) as partial:
        rest = iter(items)
        _pass_by(rest, partial, table, read, as_json)
        with open(partial, "a", encoding="utf-8") as file:
            yield text_output(file, True, table, reading, as_json), rest


class _Finished(NamedTuple):
    """A sentence that has been parsed and written."""

    id: str | None
    forms: list[str]
    is_alternative: bool = False  # always False: alternatives are on the line of their sentence


_NOTHING = _Finished(None, [])  # the row of a line without a sentence


def read_json(path: Path) -> Iterator[_Finished]:
    """Yield the sentences of a file of JSON lines that a job wrote. Raises `InputError` for anything else."""
    for number, line in enumerate(_lines(path), 1):
        try:
            found = json.loads(line)
            yield _Finished(found["id"], [word["form"] for word in found["words"]])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise input_error(f"the line is not a parse in JSON: {_MEND}", path, number) from None


def _pass_by(
    items: Iterator[Item], partial: Path, table: TableFormat | None, read: Callable[[Path], Iterable], as_json: bool
) -> None:
    """Advance the iterator past the items whose parses are in the file.

    An unfinished item at the end of the file is removed from the file. Raises `InputError` where the file holds
    anything but the parses of the first items, or holds parses in another format.
    """
    in_blocks = table is None and not as_json
    if in_blocks:
        items = (item for item in items if item.sentences)
    with open(partial, "r+b") as file:
        if in_blocks:
            _check_format(file, partial)
        whole = _whole(file, b"\n" if in_blocks else None)
        file.truncate(whole)
    check = _check_sentence if table is None else _check_row
    finished: Iterable[Any] = (read if table is None else _lines)(partial) if whole else ()
    first = (done for done in finished if table is not None or not done.is_alternative)
    for number, done in enumerate(first, 1):
        check(number, done, next(items, None), partial)


def _check_format(file: BinaryIO, partial: Path) -> None:
    """Raise `InputError` for a file that does not begin like CoNLL-U or AMRs, before any of it is removed."""
    first = file.read(1)
    if first and not _SENTENCES.match(first):
        mend = "remove the file, or give the options of the interrupted run"
        raise input_error(f"the file holds neither CoNLL-U nor AMRs, the format of this run: {mend}", partial)
    file.seek(0)


def _lines(partial: Path) -> Iterator[str]:
    with open(partial, encoding="utf-8", newline="\n") as file:
        yield from file


def _check_sentence(number: int, done: Any, item: Item | None, partial: Path) -> None:
    sentence = None if item is None else item.sentences[0] if item.sentences else _NOTHING
    if sentence is None or (sentence.id, sentence.forms) != (done.id, done.forms):
        here = "ends before it" if sentence is None else f"has {_name(sentence)} there"
        raise input_error(f"its sentence {number} is {_name(done)}, but the input {here}: {_MEND}", partial)


def _check_row(number: int, done: str, item: Item | None, partial: Path) -> None:
    if item is None or not done.startswith(opening(item.kept)):
        here = "ends before it" if item is None else "has another row there"
        raise input_error(f"its row {number} is not from the input, which {here}: {_MEND}", partial, number)


def _name(sentence: Any) -> str:
    return sentence.id or repr(" ".join(sentence.forms))


def _whole(file: BinaryIO, last_line: bytes | None) -> int:
    """Return the number of bytes that whole sentences, or whole lines, take at the beginning of a file.

    A sentence is whole where none of its alternative parses is missing.

    last_line: the line that ends a parse; None to count whole lines
    """
    end = position = 0
    more_to_come = False
    for line in file:
        position += len(line)
        if last_line is not None and (place := _PLACE.match(line)):
            more_to_come = place[1] != place[2]
        if (line == last_line and not more_to_come) or (last_line is None and line.endswith(b"\n")):
            end = position
    return end
