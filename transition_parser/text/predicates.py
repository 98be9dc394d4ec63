"""The column of PropBank's annotation in a data folder: the roleset of each predicate and the heads of its arguments.

`{split}.propbank` has a line for each sentence and a value for each word. The value of a predicate is its roleset and,
for each argument, its label and the number of the word that heads it, from 1: `come.03|ARG2:3|ARG1:6`. Other words have
`-`. The words of a sentence that nobody annotated have `_`.

Source: Palmer, Gildea and Kingsbury 2005
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.text.columns import UNKNOWN, read_values

COLUMN = "propbank"
NO_PREDICATE = "-"
OTHER = "other"  # the class of all senses and labels that are not listed below
SENSE_NUMBERS = (*(f"{number:02}" for number in range(1, 21)), "LV", OTHER)
_MODIFIERS = "ADJ ADV CAU COM CXN DIR DIS EXT GOL LOC LVB MNR MOD NEG PNC PRD PRP PRR REC TMP".split()
ARGUMENT_LABELS = (*(f"ARG{number}" for number in range(6)), "ARGA", *(f"ARGM-{name}" for name in _MODIFIERS), OTHER)
_NO_ARGUMENTS = ("C-", "R-", "V")  # prefixes of continuations, of relative pronouns and of the predicate


class PredicateIds(NamedTuple):
    """The ids of the sense and the arguments of a word. Ids count from 1; a word that is no predicate has the sense 0.

    sense: the id of the sense; None for a word of a sentence without annotation
    arguments: for each argument the number of its head, from 0, and the id of its label
    """

    sense: int | None
    arguments: tuple[tuple[int, int], ...] = ()


def _ids(names: Sequence[str]) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names, 1)}


_SENSE_IDS, _ARGUMENT_IDS = _ids(SENSE_NUMBERS), _ids(ARGUMENT_LABELS)


def value_of(roleset: str, arguments: Iterable[tuple[str, int]]) -> str:
    """Return the value of a predicate.

    Continuations (`C-ARG1`) and relative pronouns (`R-ARG1`) are left out. A head word keeps only its first label.

    arguments: the labels of the arguments and the numbers of their heads, from 1

    >>> value_of("come.03", [("ARG2", 3), ("R-ARG1", 5), ("ARG1", 6)])
    'come.03|ARG2:3|ARG1:6'
    """
    heads: dict[int, str] = {}
    for label, head in arguments:
        if not label.startswith(_NO_ARGUMENTS):
            heads.setdefault(head, label)
    return "|".join([roleset, *(f"{label}:{head}" for head, label in heads.items())])


def ids_of(value: str) -> PredicateIds:
    """Return the ids for the value of a word in `{split}.propbank`. Raises `ValueError` for a malformed value.

    An argument becomes (head, id of its label). Heads count from 1 in the value, but from 0 in the result.

    >>> ids_of("come.03|ARG2:3|ARG1:6")
    PredicateIds(sense=3, arguments=((2, 3), (5, 2)))
    """
    if value in (UNKNOWN, NO_PREDICATE):
        return PredicateIds(None if value == UNKNOWN else 0)
    roleset, *arguments = value.split("|")
    lemma, dot, sense = roleset.rpartition(".")
    if not lemma or not dot:
        raise ValueError(f"{value!r:.60} has no roleset")
    of_arguments = []
    for text in arguments:
        label, _, head = text.rpartition(":")
        if not label or not head.isdecimal() or not int(head):
            raise ValueError(f"{text!r:.60} is no argument")
        of_arguments.append((int(head) - 1, _ARGUMENT_IDS.get(label, _ARGUMENT_IDS[OTHER])))
    return PredicateIds(_SENSE_IDS.get(sense, _SENSE_IDS[OTHER]), tuple(of_arguments))


def has_predicates(folder: str | os.PathLike, split: str) -> bool:
    """Return True where a data folder has the column for a split."""
    return _file(folder, split).is_file()


def read_predicates(folder: str | os.PathLike, split: str, lengths: Sequence[int]) -> list[list[str]]:
    """Return the values of each sentence of a split; `_` for all words if the folder does not have the column.

    lengths: the number of words of each sentence

    Raises `InputError` where the file does not fit the sentences.
    """
    path = _file(folder, split)
    if not path.is_file():
        return [[UNKNOWN] * length for length in lengths]
    values = read_values(path, lengths)
    for number, (of_sentence, length) in enumerate(zip(values, lengths, strict=True), 1):
        try:
            heads = [head for value in of_sentence for head, _label in ids_of(value).arguments]
        except ValueError as error:
            raise input_error(f"{error}: preprocess again", path, number) from None
        if max(heads, default=0) >= length:
            raise input_error(f"word {max(heads) + 1} of {length} heads an argument: preprocess again", path, number)
    return values


def _file(folder: str | os.PathLike, split: str) -> Path:
    return Path(folder, f"{split}.{COLUMN}")
