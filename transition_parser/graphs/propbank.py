"""PropBank's annotation of sentences: predicates with their rolesets, and their arguments.

In a file, each sentence begins with `# sent_id = …`. A line for each predicate follows. Its fields, separated by tabs,
are the number of the word (from 1), the word, the roleset, and `LABEL:first-last` for each argument. Blank lines are
ignored.

Source: Palmer, Gildea and Kingsbury 2005
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from transition_parser.base.errors import input_error, shortened
from transition_parser.base.files import open_input
from transition_parser.graphs.conllu import decode_line, unspaced

Span = tuple[int, int]  # first and last word, from 0

_NUMBER = re.compile(r"0*[1-9]\d{0,5}")
_ARGUMENT = re.compile(r"([^\s:]+):(\d{1,6})-(\d{1,6})")
_LIGHT = ".LV"  # the end of the rolesets of light verbs


class Argument(NamedTuple):
    """An argument: its label (`ARG0`, `ARGM-TMP`, `C-ARG1`) and its words."""

    label: str
    span: Span


@dataclass(frozen=True)
class Predicate:
    """A predicate, its roleset (`come.03`) and its arguments.

    word: the number of its word, from 0
    """

    word: int
    roleset: str
    arguments: tuple[Argument, ...] = ()

    @property
    def is_light(self) -> bool:
        """True for a light verb (`make` in `make a mistake`)."""
        return self.roleset.endswith(_LIGHT)

    @property
    def concept(self) -> str:
        """The AMR concept of the roleset: `come-03` for `come.03`."""
        return self.roleset.replace("_", "-").replace(".", "-")


@dataclass(frozen=True)
class Annotation:
    """The predicates of a sentence.

    forms: number of a predicate's word, from 0 → the word as the file has it
    path, line: the file and the line where the sentence begins, for messages
    """

    id: str
    predicates: tuple[Predicate, ...]
    forms: Mapping[int, str]
    path: str
    line: int

    def check(self, forms: list[str]) -> None:
        """Raise `InputError` if the sentence has another word for a predicate, or ends before an argument does.

        forms: the words of the sentence
        """
        for word, form in self.forms.items():
            if word >= len(forms) or unspaced(forms[word]) != unspaced(form):
                found = repr(forms[word]) if word < len(forms) else f"one of {len(forms)} words"
                self._fail(
                    f"word {word + 1} is {form!r} here, but {found} in the treebank: are the files of one release?"
                )
        for predicate in self.predicates:
            for argument in predicate.arguments:
                if argument.span[1] >= len(forms):
                    self._fail(f"{argument.label} ends at word {argument.span[1] + 1} of {len(forms)}")

    def _fail(self, problem: str) -> NoReturn:
        raise input_error(problem, self.path, self.line, self.id)


def read_annotations(paths: Iterable[str | os.PathLike]) -> dict[str, Annotation]:
    """Return the annotation of each sentence by its id. Raises `InputError` for a broken file or a repeated id."""
    found: dict[str, Annotation] = {}
    for path in paths:
        for one in _read(path):
            if one.id in found:
                before = found[one.id]
                raise input_error(f"the sentence is in {before.path}:{before.line}, too", path, one.line, one.id)
            found[one.id] = one
    return found


def _read(path: str | os.PathLike) -> Iterator[Annotation]:
    name, start = "", 0
    block: list[tuple[int, str]] = []
    with open_input(path) as file:
        for number, raw in enumerate(file, 1):
            line = decode_line(raw, str(path), number)
            if line.startswith("#"):
                key, _, value = line[1:].partition("=")
                if key.strip() == "sent_id":
                    if name:
                        yield _annotation(name, block, str(path), start)
                    name, start, block = value.strip(), number, []
            elif line.strip():
                if not name:
                    raise input_error("a predicate before the first `# sent_id = …`", path, number)
                block.append((number, line))
    if name:
        yield _annotation(name, block, str(path), start)


def _annotation(name: str, block: list[tuple[int, str]], path: str, start: int) -> Annotation:
    predicates, forms = [], {}
    for number, line in block:
        cells = line.split("\t")
        if len(cells) < 3 or not _NUMBER.fullmatch(cells[0]) or not cells[2]:
            problem = f"{shortened(line)!r} is no predicate: write its number, its word, its roleset and its arguments"
            raise input_error(problem, path, number, name)
        word, form, roleset, *rest = cells
        arguments = tuple(_argument(text, path, number, name) for text in rest)
        predicates.append(Predicate(int(word) - 1, roleset, arguments))
        forms[int(word) - 1] = form
    return Annotation(name, tuple(predicates), forms, path, start)


def _argument(text: str, path: str, line: int, name: str) -> Argument:
    match = _ARGUMENT.fullmatch(text)
    if match is None or not 0 < int(match[2]) <= int(match[3]):
        raise input_error(f"{shortened(text)!r} is no argument: write LABEL:first-last, words from 1", path, line, name)
    return Argument(match[1], (int(match[2]) - 1, int(match[3]) - 1))
