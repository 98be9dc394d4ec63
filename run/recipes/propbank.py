"""PropBank: predicates of sentences with their rolesets and arguments, and the rolesets' frames with their examples.

In a file of annotation, each sentence begins with `# sent_id = …`. A line for each predicate follows. Its fields,
separated by tabs, are the number of the word (from 1), the word, the roleset, and `LABEL:first-last` for each argument.
Source: Palmer, Gildea and Kingsbury 2005; Pradhan et al. 2022
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shared import unspaced

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.files import open_input
from transition_parser.graphs.conllu import decode_line

Span = tuple[int, int]  # first and last word, from 0

_NUMBER = re.compile(r"0*[1-9]\d{0,5}")
_ARGUMENT = re.compile(r"([^\s:]+):(\d{1,6})-(\d{1,6})")
# tokens of the Penn Treebank → the characters that they stand for
_PLAIN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_TRACE = re.compile(r"\*.+|.+\*-\d+|%[a-z]+|/[.?]|\S+@\S+@\S+")  # tokens of treebanks that are no words of the text


def concept_of(roleset: str) -> str:
    """Return the AMR concept of a roleset: `come-03` for `come.03`."""
    return roleset.replace("_", "-").replace(".", "-")


class Argument(NamedTuple):
    """An argument: its label (`ARG0`, `ARGM-TMP`, `C-ARG1`) and its words."""

    label: str
    span: Span


class Predicate(NamedTuple):
    """A predicate: the number of its word, from 0, its roleset (`come.03`) and its arguments."""

    word: int
    roleset: str
    arguments: tuple[Argument, ...] = ()

    @property
    def is_light(self) -> bool:
        """True for a light verb (`make` in `make a mistake`)."""
        return self.roleset.endswith(".LV")

    @property
    def concept(self) -> str:
        """The AMR concept of the roleset: `come-03` for `come.03`."""
        return concept_of(self.roleset)


class Annotation(NamedTuple):
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
        """Raise `InputError` if the sentence has another word for a predicate, or ends before an argument does."""
        for word, form in self.forms.items():
            if word >= len(forms) or unspaced(forms[word]) != unspaced(form):
                found = repr(forms[word]) if word < len(forms) else f"one of {len(forms)} words"
                problem = (
                    f"word {word + 1} is {form!r} here, but {found} in the treebank: are the files of one release?"
                )
                raise self._error(problem)
        for label, (_, last) in (argument for predicate in self.predicates for argument in predicate.arguments):
            if last >= len(forms):
                raise self._error(f"{label} ends at word {last + 1} of {len(forms)}")

    def _error(self, problem: str) -> InputError:
        return input_error(problem, self.path, self.line, self.id)


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
        arguments = []
        for text in rest:
            match = _ARGUMENT.fullmatch(text)
            if match is None or not 0 < int(match[2]) <= int(match[3]):
                problem = f"{shortened(text)!r} is no argument: write LABEL:first-last, words from 1"
                raise input_error(problem, path, number, name)
            arguments.append(Argument(match[1], (int(match[2]) - 1, int(match[3]) - 1)))
        predicates.append(Predicate(int(word) - 1, roleset, tuple(arguments)))
        forms[int(word) - 1] = form
    return Annotation(name, tuple(predicates), forms, path, start)


class Example(NamedTuple):
    """An annotated example of a roleset."""

    id: str
    words: tuple[str, ...]
    predicate: Predicate


def read_frames(path: str | os.PathLike) -> tuple[frozenset[str], list[Example]]:
    """Return the rolesets that AMR uses, and their examples, without those that have traces or no predicate.

    The file has one JSON object per line, with `id`, `amr` and `examples`. Raises `InputError` for another file.
    """
    inventory: set[str] = set()
    examples: list[Example | None] = []
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        try:
            values = json.loads(line)
            read = [_example(f"{values['id']}.{i}", values["id"], one) for i, one in enumerate(values["examples"], 1)]
            if values["amr"]:
                inventory.add(values["id"])
                examples += read
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            problem = f"the line is no roleset with `id`, `amr` and `examples`: {type(error).__name__} {error}"
            raise input_error(problem, path, number) from None
    if not inventory:
        raise input_error("the file has no roleset that AMR uses", path)
    return frozenset(inventory), [one for one in examples if one is not None]


def _example(name: str, roleset: str, values: dict[str, Any]) -> Example | None:
    words = tuple(_PLAIN.get(word, word) for word in values["text"].split())
    places = [int(place) for place in (values["rel"] or "").split() if place.isdecimal()]
    if not places or max(places) >= len(words) or any(map(_TRACE.fullmatch, words)):
        return None
    arguments = []
    for label, first, last in values["args"]:
        if str(first).isdecimal() and str(last).isdecimal() and int(first) <= int(last) < len(words):
            arguments.append(Argument(label, (int(first), int(last))))
    return Example(name, words, Predicate(places[0], roleset, tuple(arguments)))


def spread(examples: Iterable[Example], most: int, least_words: int, most_words: int, each: int) -> list[Example]:
    """Return at most `most` examples that cover many rolesets evenly, in their order, each text once.

    The first round takes the first example of each roleset, and so on, up to `each`. Of a round that does not fit,
    examples at equal distances are taken.
    """
    rounds: list[list[tuple[int, Example]]] = [[] for _ in range(each)]
    taken: Counter[str] = Counter()
    texts: set[tuple[str, ...]] = set()
    for place, example in enumerate(examples):
        roleset = example.predicate.roleset
        if least_words <= len(example.words) <= most_words and taken[roleset] < each and example.words not in texts:
            rounds[taken[roleset]].append((place, example))
            taken[roleset] += 1
            texts.add(example.words)
    chosen: list[tuple[int, Example]] = []
    for some in rounds:
        room = most - len(chosen)
        chosen += some if len(some) <= room else [some[i * len(some) // room] for i in range(room)]
    return [example for _, example in sorted(chosen)]
