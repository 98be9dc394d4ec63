"""The annotations of sentences besides words and graphs: columns of values, and `columns.json`, which lists them.

The values of a split are in `{split}.{column}`, one line for each sentence. `columns.json` has the labels of each
column, those seen with each UPOS tag, and the forms that have one lemma rule, or one set of features, in training.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import unpacked_name
from transition_parser.base.model_files import OBJECT, TEXTS, is_texts, read_packed_json, read_versioned, write_json
from transition_parser.text.lemmas import Forms, Lemmatizer, rule_of

FILE_NAME = "columns.json"
FORMS_FILE = "forms.json.gz"  # the forms of each domain, where there are several
FORMAT_VERSION = 3
UPOS, LEMMA, XPOS, FEATS, DOMAIN = "upos", "lemma", "xpos", "feats", "domain"
UNKNOWN = "_"
READINGS = "readings"  # what a semantic role labeler knows of the words: `modules.semantic_roles.Readings`
IMPERATIVE, UNSURE, OTHER = "imperative", "unsure", "other"  # the moods; `other`: certainly no imperative
ABSENT = "|"  # the value of a word that is known to have no features, or no XPOS tag
Annotations = Mapping[str, Sequence[Sequence[str]]]  # column → sentence → values
Seen = Mapping[str, Mapping[str, Sequence[str]]]  # column → UPOS tag → labels, or domain → column → labels
RELATION = "deprel"  # the key of relations among the columns of domains
_OPTIONAL = OBJECT._replace(required=False)
PAST = "past"  # the lemma rules of forms in the past tense that are also a base form: *lay* of *lie* and of *lay*
_KEY_OF_FORMS = {LEMMA: "rules", FEATS: "features", PAST: "past"}  # column → key of its `Forms` in `columns.json`
_KEYS = {
    **{"columns": OBJECT, "seen": _OPTIONAL, "of_domains": _OPTIONAL},
    **dict.fromkeys(_KEY_OF_FORMS.values(), _OPTIONAL),
}
_SPLIT = re.compile(r"(?:^|-)(?:train|valid|dev|test)$|.*-ud-.*")  # splits in names of files


@dataclass(frozen=True)
class Column:
    """The description of a column."""

    graphs: Sequence[str]  # the formalisms whose corpora have the column: `trees`, `AMRs`
    values: Callable[[Any], Sequence[str]]  # of a sentence as read from its file; `_` is unknown
    holds: str  # the name of the values in the help, in the plural
    used_by: Sequence[str]  # flags of models
    of_words: bool = True  # False: a value for each sentence
    predicted: bool = False  # by models with `--tag-loss`
    least: int = 1  # occurrences in training; rarer labels count as unknown
    is_set: bool = False  # a value is a set of labels: `Case=Nom|Number=Sing`
    by_tag: bool = False  # models predict only labels that occur with the word's UPOS tag

    def labels(self, value: str) -> list[str]:
        """Return the labels of a value."""
        return [label for label in value.split("|") if label] if self.is_set else [value]

    def value(self, labels: Iterable[str]) -> str:
        """Return the value of a set of labels, `_` for no labels. As in UD, the labels are sorted, ignoring case."""
        return _sorted(labels) or UNKNOWN


# functions with names, which can be pickled with a model's inputs
def _cells(field: str, sentence: Any) -> Sequence[str]:
    return [getattr(row, field) for row in sentence.words]


def _lemma_rules(sentence: Any) -> Sequence[str]:
    return [rule_of(row.form, row.lemma) for row in sentence.words]


def _xpos(sentence: Any) -> Sequence[str]:
    tags = _cells(XPOS, sentence)
    none = ABSENT if any(tag != UNKNOWN for tag in tags) else UNKNOWN  # a sentence without tags may be unannotated
    return [none if tag == UNKNOWN else tag for tag in tags]


def _features(sentence: Any) -> Sequence[str]:
    return [ABSENT if row.feats == UNKNOWN else _sorted(row.feats.split("|")) for row in sentence.words]


def _sorted(labels: Iterable[str]) -> str:
    return "|".join(sorted(labels, key=str.lower))


def domain_of(path: str | os.PathLike) -> str:
    """Return the name of a corpus by the path of one of its files, the same for all splits.

    >>> domain_of("lpp/train.amr"), domain_of("UD_Basque-BDT/eu_bdt-ud-dev.conllu"), domain_of("bio-test.amr.gz")
    ('lpp', 'UD_Basque-BDT', 'bio')
    """
    path = Path(unpacked_name(path)).absolute()
    name = _SPLIT.sub("", path.stem) or path.parent.name
    return "-".join(name.split()) or DOMAIN


def _domain(entry: Any) -> Sequence[str]:
    return [domain_of(entry.path or "")]


_TREES = ("trees",)
# All columns. A new column needs an entry here, and a class in `modules.word_inputs` if models read the column.
KNOWN: dict[str, Column] = {
    UPOS: Column(_TREES, partial(_cells, UPOS), "UPOS tags", ("--tag-loss", "--read-tags"), predicted=True),
    # a lemma rule that occurs once is an exception, or a mistake
    LEMMA: Column(_TREES, _lemma_rules, "lemmas", ("--tag-loss",), predicted=True, least=2),
    XPOS: Column(_TREES, _xpos, "XPOS tags", ("--tag-loss",), predicted=True, by_tag=True),
    FEATS: Column(_TREES, _features, "morphological features", ("--tag-loss",), predicted=True, is_set=True,
                  by_tag=True),
    DOMAIN: Column(
        (*_TREES, "AMRs"), _domain,
        "domains (the name of each sentence's file without its split, or of its folder: `bio` for bio-train.amr and "
        "bio/train.amr)",
        ("--read-domain",), of_words=False,
    ),
}  # fmt: skip


def predicted(graphs: str | None = None) -> list[str]:
    """Return the names of the columns that models with `--tag-loss` predict, by default for any kind of graph."""
    return [name for name, column in KNOWN.items() if column.predicted and graphs in (None, *column.graphs)]


def present(sentences: Iterable[Any], columns: Collection[str]) -> list[str]:
    """Return the given columns that have a label in some sentence. Reading stops when all columns are found."""
    missing = list(columns)
    for sentence in sentences:
        missing = [name for name in missing if not any(_labels(name, KNOWN[name].values(sentence)))]
        if not missing:
            break
    return [name for name in columns if name not in missing]


def _labels(column: str, values: Iterable[str]) -> Iterator[str]:
    return (label for value in values if value != UNKNOWN for label in KNOWN[column].labels(value))


def labels_of(column: str, sentences: Iterable[Any]) -> Iterator[str]:
    """Yield each occurrence of a label of a column in the sentences."""
    return (label for sentence in sentences for label in _labels(column, KNOWN[column].values(sentence)))


def values_of_forms(sentences: Iterable[Any], columns: Collection[str]) -> dict[str, Forms]:
    """Return column → (form, tag) → all its lemma rules or sets of features, the most frequent first."""
    found: dict[str, dict[tuple[str, str], Counter[str]]] = {name: {} for name in _KEY_OF_FORMS if name in columns}
    for sentence in sentences if found else ():
        for name, of_column in found.items():
            for row, value in zip(sentence.words, KNOWN[name].values(sentence), strict=True):
                of_column.setdefault((row.form, row.upos if UPOS in columns else UNKNOWN), Counter())[value] += 1
    return {
        name: {
            form: " ".join(value for value, _ in values.most_common())
            for form, values in of_column.items()
            if UNKNOWN not in values
        }
        for name, of_column in found.items()
    }


def forms_of_domains(sentences: Sequence[Any], columns: Collection[str]) -> dict[str, dict[str, Forms]]:
    """Return the result of `values_of_forms` for each domain; none where there is one domain alone."""
    of_domains: dict[str, list[Any]] = {}
    for sentence in sentences if DOMAIN in columns else ():
        of_domains.setdefault(domain_of(sentence.path), []).append(sentence)
    if len(of_domains) < 2:
        return {}
    return {domain: values_of_forms(some, columns) for domain, some in of_domains.items()}


def seen_with_tags(sentences: Iterable[Any], columns: Mapping[str, Sequence[str]]) -> Seen:
    """Return the labels that occur with each UPOS tag, for columns with `by_tag`."""
    names = [name for name in columns if KNOWN[name].by_tag] if UPOS in columns else []
    found: dict[str, dict[str, set[str]]] = {name: {tag: set() for tag in columns[UPOS]} for name in names}
    for sentence in sentences if names else ():
        tags = KNOWN[UPOS].values(sentence)
        for name in names:
            for tag, value in zip(tags, KNOWN[name].values(sentence), strict=True):
                if tag != UNKNOWN:
                    found[name][tag].update(_labels(name, [value]))
    return {
        name: {tag: [v for v in columns[name] if v in s] for tag, s in tags.items()} for name, tags in found.items()
    }


def relations_of(tag: str) -> str:
    """Return the key of the relations of words with a UPOS tag among the columns of domains."""
    return f"{RELATION}:{tag}"


def labels_of_domains(sentences: Iterable[Any], columns: Collection[str]) -> Seen:
    """Return the labels of each column, and the relations, of the trees of each domain; none without domains.

    The relations of words with each UPOS tag are also there, by `relations_of`.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for sentence in sentences if DOMAIN in columns else ():
        of_domain = found.setdefault(domain_of(sentence.path), {name: set() for name in (*columns, RELATION)})
        of_domain[RELATION].update(row.deprel for row in sentence.words)
        for row in sentence.words if UPOS in columns else ():
            of_domain.setdefault(relations_of(row.upos), set()).add(row.deprel)
        for name in columns:
            of_domain[name].update(_labels(name, KNOWN[name].values(sentence)))
    return {domain: {name: sorted(labels) for name, labels in of.items()} for domain, of in found.items()}


class Columns:
    """The columns of the training data with their labels, the most frequent first. Id 0 stands for all other labels.

    seen: column → UPOS tag → the labels that occur with the tag
    forms: column → (form, tag) → value (`values_of_forms`); the tag is `_` where there are none
    of_domains: domain → column → the labels of the trees of the domain (`labels_of_domains`)
    lists_sets: True if all sets of features of all forms are known
    forms_of_domains: domain → the `forms` of its trees, in place of `forms`, where the data has several domains
    """

    def __init__(
        self,
        values: Mapping[str, Sequence[str]] = MappingProxyType({}),
        forms: Mapping[str, Forms] = MappingProxyType({}),
        seen: Seen = MappingProxyType({}),
        of_domains: Seen = MappingProxyType({}),
        forms_of_domains: Mapping[str, Mapping[str, Forms]] = MappingProxyType({}),
    ) -> None:
        self.values = {name: tuple(of_column) for name, of_column in values.items()}
        self.forms, self.seen, self.of_domains, self.forms_of_domains = forms, seen, of_domains, forms_of_domains
        self._by_domain: dict[str, Self] = {}
        self._ids = {name: {value: i for i, value in enumerate(v, 1)} for name, v in self.values.items()}
        self.lemmatizer = Lemmatizer(forms.get(LEMMA, {}), forms.get(PAST, {}))
        self._tags: dict[str, list[str]] = {}  # form → its UPOS tags, made when first asked for
        # False for models of earlier versions, which left out forms with several sets of features
        self.lists_sets = any(" " in values for known in self._of_all(FEATS) for values in known.values())

    def __deepcopy__(self, memo: object) -> Self:
        """Return the columns themselves: nothing changes them, and copies of a model share them."""
        return self

    def __contains__(self, column: str) -> bool:
        return column in self.values

    def of_domain(self, domain: str | None) -> Self:
        """Return the columns with the forms of a domain; the columns themselves for a domain that has none."""
        if domain is None or domain not in self.forms_of_domains:
            return self
        if domain not in self._by_domain:
            found, forms = copy(self), self.forms_of_domains[domain]
            found.forms, found.forms_of_domains, found._tags = forms, {}, {}
            found.lemmatizer = Lemmatizer(forms.get(LEMMA, {}), forms.get(PAST, {}))
            self._by_domain[domain] = found
        return self._by_domain[domain]

    def count(self, column: str) -> int:
        """Return how many ids the column has, 0 included. Raises `InputError` where the data has no such column."""
        if column not in self.values:
            raise InputError(f"the data has no column {column}: preprocess it with `--columns {column}`")
        return len(self.values[column]) + 1

    def ids(self, column: str, values: Sequence[str]) -> list[int]:
        """Return the ids of values, 0 for values that training has not seen."""
        ids = self._ids[column]
        return [ids.get(value, 0) for value in values]

    def ids_seen(self, column: str) -> list[tuple[int, int]]:
        """Return the ids of all pairs of a UPOS tag and a label that occur together, by `seen`."""
        tags, labels = self._ids[UPOS], self._ids[column]
        return [(tags[tag], labels[label]) for tag, of_tag in self.seen[column].items() for label in of_tag]

    def of_ids(self, column: str, ids: Sequence[int]) -> list[str]:
        """Return the values of ids, `_` for 0."""
        values = (UNKNOWN, *self.values[column])
        return [values[i] for i in ids]

    def features(self, forms: Sequence[str], tags: Sequence[str], ranked: Sequence[str]) -> list[str]:
        """Return for each word the first of its ranked sets of features; known forms have the first that is theirs."""
        known, found = self.forms.get(FEATS, {}), []
        for form, tag, sets in zip(forms, tags, ranked, strict=True):
            first = sets.split()
            of_form = (known.get((form, tag)) or (self.lists_sets and known.get((form.lower(), tag))) or "").split()
            found.append(next((one for one in first if one in of_form), of_form[0] if of_form else first[0]))
        return found

    def sets_of_tags(self) -> dict[str, list[str]]:
        """Return UPOS tag → the sets of features that words with it have in training."""
        found: dict[str, dict[str, None]] = {}
        for known in self._of_all(FEATS):
            for (_, tag), values in known.items():
                found.setdefault(tag, {}).update(dict.fromkeys(values.split()))
        return {tag: [*values] for tag, values in found.items()}

    def _of_all(self, column: str) -> Iterator[Forms]:
        """Yield the forms of the column, or those of each domain."""
        return (forms[column] for forms in (self.forms, *self.forms_of_domains.values()) if column in forms)

    def tags_of(self, forms: Iterable[str]) -> list[Sequence[str]]:
        """Return the UPOS tags that each form, or else the form in lower case, has in training; none for other forms.

        They are none where `lists_sets` is False.
        """
        if self.lists_sets and not self._tags:
            for one, tag in {key: None for of_column in self.forms.values() for key in of_column}:
                for key in {one, one.lower()}:
                    tags = self._tags.setdefault(key, [])
                    if tag not in tags:
                        tags.append(tag)
        return [self._tags.get(form, ()) or self._tags.get(form.lower(), ()) for form in forms]

    def check_domain(self, domain: str) -> None:
        """Raise `InputError` for a domain that training has not seen."""
        known = self.values.get(DOMAIN, ())
        if domain not in known:
            raise InputError(f"unknown domain {domain!r:.60}: give one of {', '.join(known)}")

    def save(self, folder: str | os.PathLike) -> None:
        """Write `columns.json` into `folder`."""
        values = {"format_version": FORMAT_VERSION, "columns": {name: list(v) for name, v in self.values.items()}}
        more = {**_written_forms(self.forms), "seen": self.seen, "of_domains": self.of_domains}
        more = {name: value for name, value in more.items() if value}
        write_json(Path(folder, FILE_NAME), {**values, **more}, indent=0, ensure_ascii=False)
        if self.forms_of_domains:  # packed, because tens of languages have millions of letters
            of_all = {domain: _written_forms(forms) for domain, forms in self.forms_of_domains.items()}
            text = json.dumps(of_all, ensure_ascii=False, separators=(",", ":"))
            Path(folder, FORMS_FILE).write_bytes(gzip.compress(text.encode(), mtime=0))

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Columns:
        """Read `columns.json` of a folder. A missing file gives no columns. Raises `InputError` for an invalid file."""
        path = Path(folder, FILE_NAME)
        if not os.path.lexists(path):
            return cls()
        values = read_versioned(path, "`transition-parser preprocess` writes it", FORMAT_VERSION, _KEYS)
        for name, listed in values["columns"].items():
            if name not in KNOWN:
                raise input_error(f"unknown column {name!r:.60}: columns are {', '.join(KNOWN)}", path)
            if not is_texts(listed) or not all(value.split() == [value] and value != UNKNOWN for value in listed):
                raise input_error(f"the values of {name} must be {TEXTS.what}, without white space", path)
            if KNOWN[name].is_set and any(KNOWN[name].labels(label) != [label] for label in listed):
                raise input_error(f"a label of {name} holds |, which separates labels", path)
        forms = _read_forms(values, path)
        seen, tags = values.get("seen", {}), {*values["columns"].get(UPOS, ())}
        for name, of_column in seen.items():
            known = {*values["columns"].get(name, ())}
            if not _is_lists(of_column) or not {*of_column} <= tags or not known.union(*of_column.values()) <= known:
                raise input_error(f"the labels of {name!r:.60} seen with UPOS tags must be lists of its labels", path)
        of_domains = values.get("of_domains", {})
        wanted = {*values["columns"], RELATION}
        if not all(_is_lists(one) and wanted <= one.keys() and one[RELATION] for one in of_domains.values()):
            raise input_error(f"'of_domains' must be domain → {', '.join(sorted(wanted))} → a list of labels", path)
        return cls(values["columns"], forms, seen, of_domains, _forms_of_domains(Path(folder, FORMS_FILE)))


def values_of_words(sentence: Any, columns: Iterable[str], graphs: str) -> dict[str, Sequence[str]]:
    """Return column → its values for the words of a sentence (`_` for no value), for columns of this kind of graphs."""
    read = {name: KNOWN[name] for name in columns if KNOWN[name].of_words and graphs in KNOWN[name].graphs}
    return {name: column.values(sentence) for name, column in read.items()}


def filled(given: Sequence[str], predicted: Sequence[str]) -> list[str]:
    """Return the given values of words, and the predicted value where none is given."""
    return [value if own == UNKNOWN else own for own, value in zip(given, predicted, strict=True)]


def _written_forms(forms: Mapping[str, Forms]) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return key of `_KEY_OF_FORMS` → UPOS tag → value → forms."""
    written: dict[str, dict[str, dict[str, list[str]]]] = {}
    for name, of_column in forms.items():
        by_tag = written.setdefault(_KEY_OF_FORMS[name], {})
        for (form, tag), value in of_column.items():
            by_tag.setdefault(tag, {}).setdefault(value, []).append(form)
    return written


def _read_forms(values: Mapping[str, Any], path: Path) -> dict[str, Forms]:
    """Return column → `Forms` from the result of `_written_forms`; other keys are not read."""
    forms: dict[str, Forms] = {}
    for name, key in _KEY_OF_FORMS.items():
        if key in values:
            if not isinstance(values[key], dict) or not all(map(_is_lists, values[key].values())):
                raise input_error(f"{key!r} must be UPOS tag → value → a list of strings", path)
            by_tag = ((tag, *item) for tag, of_tag in values[key].items() for item in of_tag.items())
            forms[name] = {(form, tag): value for tag, value, listed in by_tag for form in listed}
    return forms


def _forms_of_domains(path: Path) -> dict[str, Mapping[str, Forms]]:
    """Return domain → column → `Forms` from a file; none where it is missing."""
    if not os.path.lexists(path):
        return {}
    of_all = read_packed_json(path, "`transition-parser preprocess` writes it")
    if not all(isinstance(of_domain, dict) for of_domain in of_all.values()):
        raise input_error("must be domain → rules, features → UPOS tag → value → a list of strings", path)
    return {domain: _read_forms(of_domain, path) for domain, of_domain in of_all.items()}


def _is_lists(value: object) -> bool:
    """Return True for an object of lists of strings."""
    if not isinstance(value, dict) or not {*map(type, value.values())} <= {list}:
        return False
    return {*map(type, chain.from_iterable(value.values()))} <= {str}


def read_annotations(
    folder: str | os.PathLike, split: str, columns: Collection[str], lengths: Sequence[int]
) -> Annotations:
    """Return the given columns of a split, one list of values for each sentence."""
    found = {}
    for name in sorted(columns):
        path, counts = Path(folder, f"{split}.{name}"), lengths if KNOWN[name].of_words else [1] * len(lengths)
        try:
            found[name] = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        except (OSError, UnicodeDecodeError) as error:
            raise input_error(f"can't be read ({error}): make it with `transition-parser preprocess`", path) from None
        if len(found[name]) != len(counts):
            raise input_error(f"{len(found[name])} lines, but {len(counts)} sentences: preprocess again", path)
        for number, (values, wanted) in enumerate(zip(found[name], counts, strict=True), 1):
            if len(values) != wanted:
                raise input_error(f"{len(values)} values, {wanted} expected: preprocess again", path, number)
    return found
