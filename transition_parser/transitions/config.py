"""`parser.json`: what turns actions back into graphs, stored beside the data and every model."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields
from pathlib import Path

from transition_parser.errors import input_error
from transition_parser.transitions import Action, TransitionSystem, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.lexicon import Lexicon

FILE_NAME = "parser.json"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class ParserConfig:
    """A transition system with its labels.

    relations: the labels of the training trees, or the roles of the training graphs, most frequent first.
    shift_words: the words that decorate their SHIFT. lexicon: of AMR, in a file of its own beside `parser.json`.
    """

    system: str
    root: str = "root"
    relations: tuple[str, ...] = ()
    shift_words: tuple[str, ...] = ()
    format_version: int = field(default=FORMAT_VERSION)
    lexicon: Lexicon | None = None

    @property
    def builds_amr(self) -> bool:
        """True where the graphs are AMRs, False for dependency trees."""
        return self.system == AmrSystem.name

    def transition_system(self) -> TransitionSystem:
        """The state machine itself."""
        spans = None if self.lexicon is None else self.lexicon.spans
        return make_system(self.system, self.root, self.shift_words, spans)

    def actions(self) -> list[Action]:
        """All actions over the relations; of AMR all but those that name nodes."""
        return list(self.transition_system().actions(self.relations))

    def save(self, folder: str | os.PathLike) -> None:
        """Writes `parser.json`, and for AMR `lexicon.json`, into `folder`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "lexicon"}
        text = json.dumps(values, ensure_ascii=False, indent=1)
        if self.lexicon is not None:
            self.lexicon.save(folder)
        Path(folder, FILE_NAME).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike) -> ParserConfig:
        """Reads `parser.json`. Raises `InputError` where it is missing or not of this version."""
        path = Path(folder, FILE_NAME)
        if not path.is_file():
            raise input_error(
                f"not found: is {folder} a folder that `transition-parser preprocess` or "
                "`transition-parser export` wrote?",
                path,
            )
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            version = values["format_version"]
        except (ValueError, KeyError, TypeError) as error:
            raise input_error(f"no parser description: {error}", path) from None
        if version != FORMAT_VERSION:
            raise input_error(f"format version {version}, this program reads {FORMAT_VERSION}: make it again", path)
        known = {f.name for f in fields(cls)} - {"lexicon"}
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k in known}
        if values.get("system") == AmrSystem.name:
            values["lexicon"] = Lexicon.load(folder)
        try:
            return cls(**values)
        except TypeError as error:
            raise input_error(f"no parser description: {error}", path) from None
