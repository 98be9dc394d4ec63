"""The model of a component of spaCy, which is loaded at its first use and saved with the pipeline."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.base.model_files import TEXT, Key, check_keys, check_version, is_text, read_json, sha256_of

if TYPE_CHECKING:  # spaCy imports this module when it starts: modules that need torch are imported at their first use
    from transition_parser.parsing.parser import Parser

SAVED = "saved_model.json"
FORMAT_VERSION = 1
_KEYS = {
    "format_version": Key("1", lambda value: value == FORMAT_VERSION),
    "name": Key("a string or null", lambda value: value is None or is_text(value)),
    "sha256": TEXT,
}


def _of_package(path: Path) -> bool:
    from transition_parser.storage.cards import PRETRAINED

    return path.parent == PRETRAINED


def _model_files() -> tuple[str, ...]:
    """Return the names that the files of an exported model may have."""
    from transition_parser.data.resources import FILES, OPTIONAL_FILES
    from transition_parser.storage.exports import CONFIG, WEIGHTS

    return (CONFIG, WEIGHTS, *FILES, *OPTIONAL_FILES)


class PipelineModel:
    """A model and the options of its parser (`Parser.load`), which can be pickled and sent to other processes.

    A model of this package is saved as its name and the SHA-256 of its weights, a checkpoint as `transition-parser
    export` writes it, and any other model as a copy of its folder.
    """

    def __init__(self, model: str, options: Mapping[str, Any]) -> None:
        self.model, self.options = model, dict(options)
        self._folder: str | None = None  # of a model from `from_files`; it is deleted together with the parser
        self._parser: Parser | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple:
        if self._folder is None:
            return PipelineModel, (self.model, self.options)
        return _from_files, (self.model, self.options, self.to_files())

    @property
    def parser(self) -> Parser:
        """The parser, which is loaded at its first use. Raises `InputError` if `Parser.load` does."""
        with self._lock:
            if self._parser is None:
                from transition_parser.parsing.parser import Parser

                self._parser = Parser.load(self.model, **self.options)
            return self._parser

    def save(self, folder: str | os.PathLike) -> None:
        """Write the model into a folder of its own, whole or not at all."""
        from transition_parser.storage.checkpoints import export_checkpoint, model_path
        from transition_parser.storage.exports import WEIGHTS

        with new_files(folder, stale=_model_files()) as temporary:
            path = model_path(self._folder or self.model)
            if path.is_dir() and not _of_package(path):
                for file in path.iterdir():
                    if file.name in _model_files():
                        shutil.copyfile(file, temporary / file.name)
            elif not _of_package(path):
                export_checkpoint([path], temporary)
            copied = (temporary / WEIGHTS).is_file()
            saved = {
                "format_version": FORMAT_VERSION,
                "name": None if copied else path.name,
                "sha256": sha256_of((temporary if copied else path) / WEIGHTS),
            }
            (temporary / SAVED).write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")

    def load(self, folder: str | os.PathLike) -> None:
        """Replace the model by one that `save` wrote, and load it at once."""
        from transition_parser.parsing.parser import Parser
        from transition_parser.storage.checkpoints import model_path
        from transition_parser.storage.exports import WEIGHTS

        folder = Path(folder)
        saved = read_json(folder / SAVED, "the pipeline was not saved whole")
        check_version(saved, [FORMAT_VERSION], folder / SAVED)
        check_keys(saved, _KEYS, folder / SAVED)
        model = saved["name"] or os.path.abspath(folder)
        weights = model_path(model) / WEIGHTS
        if weights.is_file() and sha256_of(weights) != saved["sha256"]:
            mend = "save the pipeline again" if saved["name"] else "copy the pipeline again"
            raise input_error(f"the model {model} is not the one that the pipeline was saved with: {mend}", folder)
        parser = Parser.load(model, **self.options)
        self.model, self._folder, self._parser = model, None, parser

    def to_files(self) -> dict[str, bytes]:
        """Return the files that `save` writes: name → content."""
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent, "model")
            self.save(folder)
            return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    def from_files(self, files: Mapping[str, bytes]) -> None:
        """Load the model from the files of `to_files`. Raises `InputError` as `load` does."""
        before, folder = self.model, tempfile.TemporaryDirectory()
        for name in (SAVED, *_model_files()):
            if name in files:
                Path(folder.name, name).write_bytes(files[name])
        try:
            self.load(folder.name)
        finally:
            if self.model != folder.name:
                folder.cleanup()
        if self.model == folder.name:
            self.model, self._folder = before, folder.name
            weakref.finalize(self.parser, folder.cleanup)


def _from_files(model: str, options: dict[str, Any], files: Mapping[str, bytes]) -> PipelineModel:
    made = PipelineModel(model, options)
    made.from_files(files)
    return made
