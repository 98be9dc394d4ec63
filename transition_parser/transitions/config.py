"""The files `parser.json` (the transition system and its labels) and, for AMR, `lexicon.json` beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path

from transition_parser.base.errors import errors_at, input_error
from transition_parser.base.model_files import (
    OBJECT,
    TEXT,
    TEXTS,
    Key,
    check_keys,
    is_texts,
    read_versioned,
    short_repr,
    write_json,
)
from transition_parser.text.frames import frames_of
from transition_parser.transitions import RootRelations, TransitionSystem, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.system import Action

Counts = Mapping[str, Mapping[str, int]]  # span → action → how many nodes of the span it made
LEXICON_FILE = "lexicon.json"
LEXICON_VERSION = 2
_LISTS = Key(
    "an object of lists of strings, each there once",
    lambda value: isinstance(value, dict) and all(map(is_texts, value.values())),
)
_COUNTS = Key(
    "an object of objects of whole numbers",
    lambda value: isinstance(value, dict) and all(map(_are_counts, value.values())),
)
_LEXICON_KEYS = {"spans": _LISTS, "wiki": OBJECT, "limits": OBJECT, "counts": _COUNTS}
_LIMITS = {"once": TEXTS, "targets": _LISTS}
_WIKI = re.compile(r'"(?:[^"\\\n]|\\.)*"|[^\s()"\\]+')  # a value in PENMAN notation: a string or a symbol


@dataclass(frozen=True)
class Lexicon:
    """The actions that name nodes, the values of `:wiki` and the search limits of the AMR training data."""

    spans: Mapping[str, Sequence[str]] = field(default_factory=dict)  # span (`amr_state.key`) → actions made there
    wiki: Mapping[str, str] = field(default_factory=dict)  # name of an entity (`wiki_keys`) → its `:wiki`
    limits: SearchLimits = field(default_factory=SearchLimits)
    counts: Counts = field(default_factory=dict)

    def save(self, folder: str | os.PathLike) -> None:
        """Write `lexicon.json` into `folder`."""
        values = {"format_version": LEXICON_VERSION, **vars(self), "limits": self.limits.to_json()}
        write_json(Path(folder, LEXICON_FILE), values, indent=0, ensure_ascii=False, sort_keys=True)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Lexicon:
        """Read `lexicon.json` from `folder`. Raises `InputError` for a missing or invalid file."""
        path = Path(folder, LEXICON_FILE)
        values = read_versioned(path, "`transition-parser preprocess amr` writes it", LEXICON_VERSION, _LEXICON_KEYS)
        for name, wiki in values["wiki"].items():
            if not (isinstance(wiki, str) and _WIKI.fullmatch(wiki)):
                raise input_error(
                    f"the wiki of {short_repr(name)} is {short_repr(wiki)}, neither a symbol nor in quotes", path
                )
        check_keys(values["limits"], _LIMITS, path)
        try:
            limits = SearchLimits.from_json(values["limits"])
        except ValueError as error:
            raise input_error(f"limits: {short_repr(str(error))}", path) from None
        return cls(values["spans"], values["wiki"], limits, values["counts"])


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and {*map(type, value.values())} <= {int}


def wiki_keys(concept: str, strings: tuple[str, ...]) -> tuple[str, str]:
    """Return the two keys of a name in `Lexicon.wiki`: `city "New" "York"` with its concept, and `"New" "York"`."""
    name = " ".join(strings)
    return f"{concept} {name}", name


def _are_groups(value: object) -> bool:
    return isinstance(value, list) and all(map(is_texts, value)) and is_texts([*chain.from_iterable(value)])


FILE_NAME = "parser.json"
FORMAT_VERSION = 2
_LISTED = dict.fromkeys(("relations", "shift_words", "roots", "shared_roots"), TEXTS)
_GROUPS = Key("a list of lists of strings, each there once", _are_groups, required=False)
_KEYS = {"system": TEXT, **_LISTED, "frames": TEXT._replace(required=False), "once": _GROUPS}


@dataclass(frozen=True)
class ParserConfig:
    """A transition system with its labels."""

    system: str  # a name in `SYSTEMS`
    relations: tuple[str, ...] = ()  # the labels of trees, or the roles of graphs, in training, most frequent first
    shift_words: tuple[str, ...] = ()  # the words that label their SHIFT, see `TransitionSystem`
    roots: tuple[str, ...] = ()  # the labels of arcs from the root in the training trees
    shared_roots: tuple[str, ...] = ()  # the labels in `roots` that other arcs have, too
    format_version: int = field(default=FORMAT_VERSION)
    frames: str = ""  # the version of the table of frames that names AMR concepts (`text.frames`); empty for trees
    once: tuple[tuple[str, ...], ...] = ()  # groups of relations of which a head has at most one, see `once_in`
    lexicon: Lexicon | None = None  # for AMR only; stored beside `parser.json` in a separate file

    def transition_system(self) -> TransitionSystem:
        """Return the transition system that this configuration describes."""
        spans, limits = (None, None) if self.lexicon is None else (self.lexicon.spans, self.lexicon.limits)
        roots = RootRelations(frozenset(self.roots), frozenset(self.shared_roots))
        frames = frames_of(self.frames) if self.frames else None
        return make_system(self.system, self.shift_words, spans, roots, limits, frames, self.once)

    def actions(self) -> list[Action]:
        """Return all actions over the relations; for AMR without PRED, VALUE, ENTITY and DEPENDENT."""
        return list(self.transition_system().actions(self.relations))

    def save(self, folder: str | os.PathLike) -> None:
        """Write `parser.json` into `folder`, and for AMR `lexicon.json`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "lexicon"}
        values = {name: value for name, value in values.items() if value or name not in ("frames", "once")}
        if self.lexicon is not None:
            self.lexicon.save(folder)
        write_json(Path(folder, FILE_NAME), values, ensure_ascii=False)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> ParserConfig:
        """Read `parser.json`, and for AMR `lexicon.json`, from `folder`."""
        path = Path(folder, FILE_NAME)
        writers = "`transition-parser preprocess` and `transition-parser export` write it"
        values = read_versioned(path, writers, FORMAT_VERSION, _KEYS)
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        values["once"] = tuple(map(tuple, values.get("once", ())))
        lexicon = Lexicon.load(folder) if values["system"] == AmrSystem.name else None
        config = cls(**values, lexicon=lexicon)
        with errors_at(path):
            config.transition_system()
        return config
