"""What an experiment is: its flags, data and options, kept in its folder, so that a folder holds one experiment."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transition_parser.errors import input_error
from transition_parser.files import replacing
from transition_parser.formalisms import Formalism, formalism_of
from transition_parser.model_files import OBJECT, WHOLE_NUMBER, check_keys, check_version, read_json, sha256_of, shown
from transition_parser.training.flags import Flag

FILE_NAME = "experiment.json"
FORMAT_VERSION = 1
_KEYS = {"format_version": WHOLE_NUMBER, "flags": OBJECT, "files": OBJECT, "options": OBJECT}


@dataclass(frozen=True)
class Experiment:
    """An experiment in the folder `dest`.

    config: its name, for people. flags: of `fairseq-train`, each once. files: `train`, `dev`, and `test` where there is
    one → their files. options: of the preparation of the data, by name; `system` is among them. settings: of what else
    changes the model or its figures.
    """

    dest: Path
    config: str
    flags: tuple[Flag, ...]
    files: Mapping[str, Sequence[str]]
    options: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def formalism(self) -> Formalism:
        """What the transition system builds."""
        return formalism_of(self.options["system"])

    @property
    def data(self) -> Path:
        """The folder of the binarised data."""
        return self.dest / "data"

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.dest / "checkpoints"

    @property
    def model(self) -> Path:
        """The folder of the exported model: the last that is made."""
        return self.dest / "model"

    def value(self, flag: str, default: str | None = None) -> str | None:
        """The value of a flag; `default` where it is not given, or is a switch."""
        return next((one.value for one in self.flags if one.name == flag and one.value is not None), default)

    def begin(self) -> None:
        """Keeps in the folder, which is there, what the experiment is. Raises `InputError` where it holds
        another one, and says what differs."""
        path = self.dest / FILE_NAME
        mine = self._described()
        if not path.exists() and any(file.name != LOCK for file in self.dest.iterdir()):
            raise input_error("holds other files, and no experiment: give -o a new folder", self.dest)
        if path.exists() and self.data.is_dir():
            theirs = read_json(path, "`transition-parser train` writes it")
            if theirs == mine:
                return
            check_version(theirs, (FORMAT_VERSION,), path)
            check_keys(theirs, _KEYS, path)
            # before the first checkpoint nothing depends on the flags
            parts = ("flags", "files", "options") if any(self.checkpoints.glob("*.pt")) else ("files", "options")
            changed = [text for part in parts for text in _differing(theirs[part], mine[part])]
            if changed:
                what = "; ".join(changed)
                raise input_error(f"this folder holds another experiment: {what}. Give -o another folder", self.dest)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(mine, indent=1) + "\n", encoding="utf-8")

    def _described(self) -> dict[str, Any]:
        options = {**self.options, **self.settings}
        return {
            "format_version": FORMAT_VERSION,
            "flags": {flag.name: flag.value for flag in sorted(self.flags)},
            "files": {f"--{split}": [sha256_of(path) for path in paths] for split, paths in self.files.items()},
            "options": {f"--{name.replace('_', '-')}": value for name, value in options.items()},
        }


LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Keeps other runs from the folder, which is made where it is not there, while the block and the programs that
    inherit the yielded file descriptor run. Raises `InputError` where another run has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise input_error("is a file, not a folder to write into", folder) from None
    descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise input_error(
                "another `transition-parser train` is at work here: wait for it, or end it", folder
            ) from None
        yield descriptor
    finally:
        os.close(descriptor)


def _differing(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(theirs.keys() | mine.keys()):
        then, now = (_shown(values, name) for values in (theirs, mine))
        if theirs.get(name) != mine.get(name) or (name in theirs) != (name in mine):
            content = name in ("--train", "--dev", "--test") and name in theirs and name in mine
            yield f"{name} has another content" if content else f"{name} was {then}, is {now}"


def _shown(values: Mapping[str, Any], name: str) -> str:
    if name not in values:
        return "not given"
    value = values[name]
    return "given" if value is None or isinstance(value, list) else value if isinstance(value, str) else shown(value)
