"""The file `parser.json`, which names the transition system and its labels.

It lies beside the data and beside every model, because turning actions back into graphs needs it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from pathlib import Path

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.model_files import TEXT, TEXTS, WHOLE_NUMBER, check_keys, check_version, read_json
from transition_parser.text.frames import frames_of
from transition_parser.transitions import SYSTEMS, Action, RootRelations, TransitionSystem, make_system
from transition_parser.transitions.lexicon import Lexicon

FILE_NAME = "parser.json"
FORMAT_VERSION = 2
_KEYS = {
    **{"system": TEXT, "relations": TEXTS, "shift_words": TEXTS, "format_version": WHOLE_NUMBER},
    **{"roots": TEXTS, "shared_roots": TEXTS, "frames": TEXT._replace(required=False)},
}


@dataclass(frozen=True)
class ParserConfig:
    """A transition system with its labels.

    system: a name in `SYSTEMS`
    relations: the labels of the training trees, or the roles of the training graphs, most frequent first
    shift_words: the words that label their SHIFT, see `TransitionSystem`
    roots: the labels of arcs from the root in the training trees; empty for AMR
    shared_roots: the labels in `roots` that other arcs have, too; empty for AMR
    format_version: the version of the file format
    frames: the version of the table of frames that names AMR concepts, see `text.frames`; empty for none
    lexicon: for AMR only; stored beside `parser.json` in a separate file
    """

    system: str
    relations: tuple[str, ...] = ()
    shift_words: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    shared_roots: tuple[str, ...] = ()
    format_version: int = field(default=FORMAT_VERSION)
    frames: str = ""
    lexicon: Lexicon | None = None

    def transition_system(self) -> TransitionSystem:
        """Return the transition system that this configuration describes."""
        spans, limits = (None, None) if self.lexicon is None else (self.lexicon.spans, self.lexicon.limits)
        roots = RootRelations(frozenset(self.roots), frozenset(self.shared_roots))
        return make_system(self.system, self.shift_words, spans, roots, limits, frames_of(self.frames))

    def actions(self) -> list[Action]:
        """Return all actions over the relations; for AMR without PRED, VALUE, ENTITY and DEPENDENT."""
        return list(self.transition_system().actions(self.relations))

    def save(self, folder: str | os.PathLike) -> None:
        """Write `parser.json` into `folder`, and for AMR `lexicon.json`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "lexicon"}
        if not self.frames:
            del values["frames"]
        text = json.dumps(values, ensure_ascii=False, indent=1)
        if self.lexicon is not None:
            self.lexicon.save(folder)
        Path(folder, FILE_NAME).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike) -> ParserConfig:
        """Read `parser.json`, and for AMR `lexicon.json`, from `folder`."""
        path = Path(folder, FILE_NAME)
        values = read_json(path, "`transition-parser preprocess` and `transition-parser export` write it")
        check_version(values, (FORMAT_VERSION,), path)
        check_keys(values, _KEYS, path)
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        system = SYSTEMS.get(values["system"])
        lexicon = Lexicon.load(folder) if system is not None and system.has_lexicon else None
        config = cls(**values, lexicon=lexicon)
        try:
            config.transition_system()
        except InputError as error:
            raise input_error(str(error), path) from None
        return config
