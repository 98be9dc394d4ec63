"""The annotations of sentences besides words and graphs: columns of values, and `columns.json`, which lists them.

A column has one value for each word (`upos`; `lemma`, a rule of `text.lemma_rules`) or one for each sentence
(`domain`). The values of a split are in `{split}.{column}`: one line for each sentence, values separated by spaces.
`columns.json` also has the lemma rules of known forms.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.model_files import (
    OBJECT,
    TEXTS,
    WHOLE_NUMBER,
    check_keys,
    check_version,
    is_texts,
    read_json,
)

FILE_NAME = "columns.json"
FORMAT_VERSION, FORMER_VERSION = 2, 1  # files of the former version have no rules of known forms
UPOS, LEMMA, DOMAIN = "upos", "lemma", "domain"
OF_WORDS = (UPOS, LEMMA)
UNKNOWN = "_"
Annotations = Mapping[str, Sequence[Sequence[str]]]  # column → sentence → values
Rules = Mapping[tuple[str, str], str]  # form and tag → the rule of its lemma
_MARKED_BY = {UPOS: "--upos", LEMMA: "--lemmas", DOMAIN: "--domains"}
_KEYS = {"format_version": WHOLE_NUMBER, "columns": OBJECT, "rules": OBJECT._replace(required=False)}


class Columns:
    """The values of each column that the training data has. Id 0 stands for all other values.

    values: column → its values, the most frequent first
    rules: (form, tag) → lemma rule, for forms that have one lemma with this tag throughout the training data; the tag
        is `_` where the data has no tags
    """

    def __init__(
        self, values: Mapping[str, Sequence[str]] = MappingProxyType({}), rules: Rules = MappingProxyType({})
    ) -> None:
        self.values = {name: tuple(of_column) for name, of_column in values.items()}
        self.rules = dict(rules)
        self._ids = {name: {value: i for i, value in enumerate(v, 1)} for name, v in self.values.items()}

    def __contains__(self, column: str) -> bool:
        return column in self.values

    def count(self, column: str) -> int:
        """Return how many ids the column has, 0 included. Raises `InputError` where the data has no such column."""
        if column not in self.values:
            raise InputError(
                f"the data has no column {column}: "
                f"preprocess it with `transition-parser preprocess … {_MARKED_BY[column]}`"
            )
        return len(self.values[column]) + 1

    def ids(self, column: str, values: Sequence[str]) -> list[int]:
        """Return the ids of values, 0 for values that training has not seen."""
        ids = self._ids[column]
        return [ids.get(value, 0) for value in values]

    def of_ids(self, column: str, ids: Sequence[int]) -> list[str]:
        """Return the values of ids, `_` for 0."""
        values = (UNKNOWN, *self.values[column])
        return [values[i] for i in ids]

    def check_domain(self, domain: str) -> None:
        """Raise `InputError` for a domain that training has not seen."""
        known = self.values.get(DOMAIN, ())
        if domain not in known:
            raise InputError(f"unknown domain {domain!r:.60}: give one of {', '.join(known)}")

    def save(self, folder: str | os.PathLike) -> None:
        """Write `columns.json` into `folder`."""
        forms: dict[str, dict[str, list[str]]] = {}  # tag → rule → forms, which writes each tag and rule only once
        for (form, tag), rule in self.rules.items():
            forms.setdefault(tag, {}).setdefault(rule, []).append(form)
        values = {"format_version": FORMAT_VERSION, "columns": {name: list(v) for name, v in self.values.items()}}
        text = json.dumps({**values, "rules": forms} if forms else values, ensure_ascii=False, indent=0)
        Path(folder, FILE_NAME).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Columns:
        """Read `columns.json`; no file means no columns. Raises `InputError` for an unfit file."""
        path = Path(folder, FILE_NAME)
        if not os.path.lexists(path):
            return cls()
        values = read_json(path, "`transition-parser preprocess` writes it")
        check_version(values, (FORMER_VERSION, FORMAT_VERSION), path)
        check_keys(values, _KEYS, path)
        for name, listed in values["columns"].items():
            if name not in _MARKED_BY:
                raise input_error(f"unknown column {name!r:.60}: columns are {', '.join(_MARKED_BY)}", path)
            if not is_texts(listed) or not all(value.split() == [value] and value != UNKNOWN for value in listed):
                raise input_error(f"the values of {name} must be {TEXTS.what}, without white space", path)
        return cls(values["columns"], _rules(values.get("rules", {}), path))


def _rules(forms: Mapping[str, Mapping[str, Sequence[str]]], path: Path) -> Rules:
    rules = {}
    for tag, of_tag in forms.items():
        if not OBJECT.fits(of_tag):
            raise input_error(f"the rules of {tag!r:.60} must be {OBJECT.what}", path)
        for rule, listed in of_tag.items():
            if not is_texts(listed):
                raise input_error(f"the forms of the rule {rule!r:.60} must be {TEXTS.what}", path)
            rules.update(dict.fromkeys(((form, tag) for form in listed), rule))
    return rules


def read_annotations(
    folder: str | os.PathLike, split: str, columns: Collection[str], lengths: Sequence[int]
) -> Annotations:
    """Return the given columns of a split.

    lengths: the number of words of each sentence

    Raises `InputError` where a file is missing or does not fit the sentences.
    """
    return {name: _read(Path(folder, f"{split}.{name}"), name, lengths) for name in sorted(columns)}


def _read(path: Path, column: str, lengths: Sequence[int]) -> list[list[str]]:
    try:
        lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise input_error(f"can't be read ({error}): make it with `transition-parser preprocess`", path) from None
    if len(lines) != len(lengths):
        raise input_error(f"{len(lines)} lines, but {len(lengths)} sentences: preprocess again", path)
    for number, (values, length) in enumerate(zip(lines, lengths, strict=True), 1):
        wanted = length if column in OF_WORDS else 1
        if len(values) != wanted:
            raise input_error(f"{len(values)} values, {wanted} expected: preprocess again", path, number)
    return lines
