"""PropBank: the rolesets of frames with their examples, and annotation of predicates and their arguments.

Annotation is a file of sentences: `# sent_id = …`, then for each predicate a line of fields that tabs separate: the
number of its word (from 1), the word, the roleset, and `LABEL:first-last` for each argument. A blank line ends a
sentence.

Source: Palmer, Gildea and Kingsbury 2005; Pradhan et al. 2022 (the unified rolesets)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from transition_parser.base.errors import input_error, shortened
from transition_parser.graphs.conllu import decode_line

Span = tuple[int, int]  # first and last word, from 0

_ARGUMENT = re.compile(r"([^\s:]+):(\d{1,6})-(\d{1,6})")
_LIGHT = ".LV"  # the sense of light verbs
# tokens of the Penn Treebank → the characters that they stand for
_PLAIN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_TRACE = re.compile(r"\*.+|.+\*-\d+|%[a-z]+|/[.?]|\S+@\S+@\S+")  # tokens of treebanks that are no words of the text


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
        """The concept of AMR for the roleset: `come-03`."""
        return self.roleset.replace("_", "-").replace(".", "-")


@dataclass(frozen=True)
class Annotation:
    """The predicates of a sentence.

    forms: number of a predicate's word → the word as the file has it
    path, line: the place in the file, for messages
    """

    id: str
    predicates: tuple[Predicate, ...]
    forms: Mapping[int, str]
    path: str
    line: int

    def check(self, forms: list[str]) -> None:
        """Raise `InputError` if the sentence does not have the words of the annotation.

        forms: the words of the sentence
        """
        for word, form in self.forms.items():
            if word >= len(forms) or "".join(forms[word].split()) != "".join(form.split()):
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
    """Return the annotation of each sentence by its id. Raises `InputError` for broken files and for an id twice."""
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
    with open(path, "rb") as file:
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
        word, form, *rest = line.split("\t")
        if not word.isdecimal() or not int(word) or not rest or not rest[0]:
            problem = f"{shortened(line)!r} is no predicate: write its number, its word, its roleset and its arguments"
            raise input_error(problem, path, number, name)
        arguments = tuple(_argument(text, path, number, name) for text in rest[1:])
        predicates.append(Predicate(int(word) - 1, rest[0], arguments))
        forms[int(word) - 1] = form
    return Annotation(name, tuple(predicates), forms, path, start)


def _argument(text: str, path: str, line: int, name: str) -> Argument:
    match = _ARGUMENT.fullmatch(text)
    if match is None or not 0 < int(match[2]) <= int(match[3]):
        raise input_error(f"{shortened(text)!r} is no argument: write LABEL:first-last, words from 1", path, line, name)
    return Argument(match[1], (int(match[2]) - 1, int(match[3]) - 1))


# --- frames ---------------------------------------------------------------------------------------


class Example(NamedTuple):
    """An annotated example of a roleset."""

    id: str
    words: tuple[str, ...]
    predicate: Predicate


@dataclass(frozen=True)
class Frames:
    """The rolesets of a file of frames: a JSON object a line with `id`, `amr` and `examples`.

    inventory: the rolesets that AMR uses
    examples: the examples of the rolesets that AMR uses, in the order of the file. Examples with traces, without words
        or with a place of the predicate that is not in the text are left out.
    """

    inventory: frozenset[str]
    examples: tuple[Example, ...] = ()

    @classmethod
    def read(cls, path: str | os.PathLike) -> Frames:
        """Return the frames of a file. Raises `InputError` for a line that is no roleset."""
        inventory: set[str] = set()
        examples: list[Example] = []
        with open(path, "rb") as file:
            for number, raw in enumerate(file, 1):
                line = decode_line(raw, str(path), number)
                if not line.strip():
                    continue
                try:
                    values = json.loads(line)
                    name, used = str(values["id"]), bool(values["amr"])
                    read = [_example(name, i, one) for i, one in enumerate(values["examples"], 1)]
                except (ValueError, TypeError, KeyError, AttributeError) as error:
                    problem = f"the line is no roleset with `id`, `amr` and `examples`: {type(error).__name__} {error}"
                    raise input_error(problem, path, number) from None
                if used:
                    inventory.add(name)
                    examples += [one for one in read if one is not None]
        if not inventory:
            raise input_error("the file has no roleset that AMR uses", path)
        return cls(frozenset(inventory), tuple(examples))


def _example(roleset: str, number: int, values: Mapping[str, Any]) -> Example | None:
    """Return an example, None for one that can't be used."""
    words = tuple(_PLAIN.get(word, word) for word in values["text"].split())
    places = [int(place) for place in (values["rel"] or "").split() if place.isdecimal()]
    if not places or max(places) >= len(words) or any(map(_TRACE.fullmatch, words)):
        return None
    arguments = []
    for label, first, last in values["args"]:
        if str(first).isdecimal() and str(last).isdecimal() and int(first) <= int(last) < len(words):
            arguments.append(Argument(label, (int(first), int(last))))
    return Example(f"{roleset}.{number}", words, Predicate(places[0], roleset, tuple(arguments)))


def spread(examples: Iterable[Example], most: int, least_words: int, most_words: int, each: int) -> list[Example]:
    """Return examples that cover as many rolesets as evenly as possible, in their order.

    The first examples of rolesets come before the second ones. Where there are more than `most`, examples at equal
    distances in the order are taken. A text is taken once.

    most: the maximum number of examples
    least_words, most_words: the bounds of the number of words
    each: the maximum number of examples of a roleset
    """
    rounds: list[list[tuple[int, Example]]] = [[] for _ in range(each)]
    taken: dict[str, int] = {}
    texts: set[tuple[str, ...]] = set()
    for place, example in enumerate(examples):
        count = taken.get(example.predicate.roleset, 0)
        if least_words <= len(example.words) <= most_words and count < each and example.words not in texts:
            taken[example.predicate.roleset] = count + 1
            texts.add(example.words)
            rounds[count].append((place, example))
    chosen: list[tuple[int, Example]] = []
    for some in rounds:
        chosen += _evenly(some, most - len(chosen))
    return [example for _, example in sorted(chosen)]


def _evenly(items: list[tuple[int, Example]], most: int) -> list[tuple[int, Example]]:
    """Return at most `most` of the items, at equal distances."""
    if len(items) <= most:
        return items
    return [items[i * len(items) // most] for i in range(most)]
