"""The model of a component of spaCy, which is loaded at its first use and saved with the pipeline."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
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
    """A model and the options of its parser, which can be pickled and sent to other processes.

    A model of this package is saved as its name and the SHA-256 of its weights. A checkpoint is saved as a folder, as
    `transition-parser export` writes it. Any other model is saved as a copy of its folder.

    model: see `Parser.load`
    options: the other parameters of `Parser.load`
    """

    def __init__(self, model: str, options: Mapping[str, Any]) -> None:
        self.model, self.options = model, dict(options)
        self._files: dict[str, bytes] = {}  # name → content, for a model from `from_files`
        self._parser: Parser | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple:
        return _made_again, (self.model, self.options, self._files)

    @property
    def parser(self) -> Parser:
        """The parser, which is loaded at its first use. Raises `InputError` if `Parser.load` does."""
        with self._lock:
            if self._parser is None:
                self._parser = self._loaded()
            return self._parser

    def _loaded(self) -> Parser:
        from transition_parser.parsing.parser import Parser

        if not self._files:
            return Parser.load(self.model, **self.options)
        return _loaded_from(self._files, lambda folder: Parser.load(folder, **self.options))

    def save(self, folder: str | os.PathLike) -> None:
        """Write the model into a folder of its own, whole or not at all."""
        from transition_parser.storage.checkpoints import export_checkpoint, model_path
        from transition_parser.storage.exports import WEIGHTS

        with new_files(folder, stale=_model_files()) as temporary:
            path = model_path(self.model)
            if self._files:
                _write(self._files, temporary)
            elif path.is_dir() and not _of_package(path):
                _write(_files_of(path), temporary)
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
        self.model, self._files, self._parser = model, {}, parser

    def to_files(self) -> dict[str, bytes]:
        """Return the files that `save` writes: name → content."""
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent, "model")
            self.save(folder)
            return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    def from_files(self, files: Mapping[str, bytes]) -> None:
        """Load the model from the files of `to_files`. Raises `InputError` as `load` does."""
        before = self.model
        known = {name: content for name, content in files.items() if name in (SAVED, *_model_files())}

        def loaded(folder: Path) -> Parser:
            self.load(folder)
            return self.parser

        _loaded_from(known, loaded)
        del known[SAVED]
        if known:
            self.model, self._files = before, known


def _loaded_from(files: Mapping[str, bytes], load: Callable[[Path], Parser]) -> Parser:
    """Return the parser that `load` loads from a temporary folder with these files."""
    folder = Path(tempfile.mkdtemp())
    try:
        _write(files, folder)
        parser = load(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(parser, shutil.rmtree, folder, ignore_errors=True)
    return parser


def _made_again(model: str, options: dict[str, Any], files: dict[str, bytes]) -> PipelineModel:
    made = PipelineModel(model, options)
    made._files = files
    return made


def _files_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in _model_files() if (folder / name).is_file()}


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
