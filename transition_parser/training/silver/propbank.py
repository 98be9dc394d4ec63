"""PropBank's frames: the rolesets that AMR uses, and examples of them.

Source: Palmer, Gildea and Kingsbury 2005; Pradhan et al. 2022 (the unified rolesets)
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.graphs.conllu import decode_line
from transition_parser.graphs.propbank import Argument, Predicate

# tokens of the Penn Treebank → the characters that they stand for
_PLAIN = {"``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_TRACE = re.compile(r"\*.+|.+\*-\d+|%[a-z]+|/[.?]|\S+@\S+@\S+")  # tokens of treebanks that are no words of the text


class Example(NamedTuple):
    """An annotated example of a roleset."""

    id: str
    words: tuple[str, ...]
    predicate: Predicate


@dataclass(frozen=True)
class Rolesets:
    """The rolesets of a file of frames: one JSON object per line, with `id`, `amr` and `examples`.

    inventory: the rolesets that AMR uses
    examples: the examples of the rolesets that AMR uses, in the order of the file. Examples with traces or
        without words are left out, as are examples whose predicate has no position in the text.
    """

    inventory: frozenset[str]
    examples: tuple[Example, ...] = ()

    @classmethod
    def read(cls, path: str | os.PathLike) -> Rolesets:
        """Return the rolesets of a file. Raises `InputError` for a line that is no roleset, and if AMR uses none."""
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
    """Return an example of a roleset, or None if it has traces or no predicate in the text."""
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
    """Return examples that cover many rolesets evenly, in their original order.

    The first round takes the first example of each roleset, the second round takes the second ones, and so on. If a
    round does not fit into `most`, examples at equal distances in this round are taken. Each text is taken once.

    most: the maximum number of examples
    least_words, most_words: the bounds of the number of words in an example
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
