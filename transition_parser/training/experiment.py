"""The definition of an experiment: flags, data and options. A folder holds one experiment."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transition_parser.base.errors import input_error
from transition_parser.base.files import folder, locked_file
from transition_parser.base.model_files import OBJECT, read_json, read_versioned, sha256_of, short_repr, write_json
from transition_parser.parsing.formalisms import Formalism, formalism_of
from transition_parser.preprocess.splits import check_undivided
from transition_parser.training.flags import Flag

FILE_NAME, LOCK = "experiment.json", ".lock"
FORMAT_VERSION = 1
WRITTEN_BY = "`transition-parser train` writes it"
LENGTH = ("--max-epoch", "--max-update")  # the flags whose values may be raised once training has begun
_KEYS = {"flags": OBJECT, "files": OBJECT, "options": OBJECT}


@dataclass(frozen=True)
class Experiment:
    """An experiment in the folder `dest`."""

    dest: Path
    config: str  # the name of the config, for people
    flags: tuple[Flag, ...]  # the flags of `fairseq-train`, each once
    files: Mapping[str, Sequence[str]]  # split → files, for `train`, and for `dev` and `test` if given
    options: Mapping[str, Any]  # the options of preprocessing; one of them is `system`, the transition system
    settings: Mapping[str, Any] = field(default_factory=dict)  # others that change the model or its figures

    @property
    def data(self) -> Path:
        """The folder of the binarized data."""
        return self.dest / "data"

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.dest / "checkpoints"

    @property
    def model(self) -> Path:
        """The folder of the exported model, the last output of the experiment."""
        return self.dest / "model"

    @property
    def history(self) -> Path:
        """The file with loss and score of each epoch, which is written when training is finished."""
        return self.dest / "history.json"

    @property
    def formalism(self) -> Formalism:
        """The formalism of the transition system."""
        return formalism_of(self.options["system"])

    @property
    def splits(self) -> list[str]:
        """The splits that the data have: `train`, `dev`, and `test` if it is given."""
        return [split for split in ("train", "dev", "test") if split in self.files or split == "dev"]

    @property
    def holds_out(self) -> bool:
        """True where dev data are held out from the training data."""
        return "dev" not in self.files

    @property
    def metric(self) -> str:
        """The score that chooses checkpoints, such as `las`."""
        return self.value("--best-checkpoint-metric", "loss")

    @property
    def maximizes(self) -> bool:
        """True where checkpoints with a higher score are better."""
        return any(flag.name == "--maximize-best-checkpoint-metric" for flag in self.flags)

    @property
    def is_finished(self) -> bool:
        """True where the folder holds the model of this experiment."""
        path = self.dest / FILE_NAME
        return self.model.is_dir() and path.is_file() and read_json(path, WRITTEN_BY) == self._described()

    def value(self, flag: str, default: str | None = None) -> str | None:
        """Return the value of a flag; `default` for a flag that is missing or is a switch."""
        return next((one.value for one in self.flags if one.name == flag and one.value is not None), default)

    def begin(self) -> Path | None:
        """Write the definition into the folder, or extend it; return the moved model of a finished shorter training."""
        path = self.dest / FILE_NAME
        mine, model = self._described(), None
        if not path.exists() and any(file.name != LOCK for file in self.dest.iterdir()):
            raise input_error("the folder holds other files, but no experiment: give a new folder with -o", self.dest)
        if path.exists() and self.data.is_dir():
            theirs = read_versioned(path, WRITTEN_BY, FORMAT_VERSION, _KEYS)
            if theirs == mine:
                return None
            if self._check_same(theirs, mine):
                model = self._reopen()
        write_json(path, mine)
        return model

    def _check_same(self, theirs: dict[str, Any], mine: dict[str, Any]) -> bool:
        """Return True if training has begun and `mine` allows more of it. Raises `InputError` for other differences."""
        started = any(self.checkpoints.glob("*.pt"))
        before, now = ([float(one["flags"].get(name) or 0) or math.inf for name in LENGTH] for one in (theirs, mine))
        longer = started and before != now and all(then <= end for then, end in zip(before, now, strict=True))
        known = theirs
        if longer:
            others = {name: value for name, value in theirs["flags"].items() if name not in LENGTH}
            lengths = {name: mine["flags"][name] for name in LENGTH if name in mine["flags"]}
            known = theirs | {"flags": others | lengths}
        # before the first checkpoint nothing depends on the flags
        parts = ("flags", "files", "options") if started else ("files", "options")
        changed = [text for part in parts for text in _differing(known[part], mine[part])]
        if changed:
            what = "; ".join(changed)
            raise input_error(f"this folder holds another experiment: {what}. Give -o another folder", self.dest)
        return longer

    def _reopen(self) -> Path | None:
        """Mark training as unfinished, move the model to a folder named by its epochs, and return it; None for none."""
        if not self.history.is_file():
            return None
        kept = None
        if self.model.is_dir():
            epochs = len(json.loads(self.history.read_text(encoding="utf-8")))
            kept = self.dest / f"{self.model.name}-{epochs}-epochs"
            shutil.rmtree(kept, ignore_errors=True)  # an earlier model of the same training with the same epochs
            os.replace(self.model, kept)
        self.history.unlink()
        return kept

    def _described(self) -> dict[str, Any]:
        options = {**self.options, **self.settings}
        return {
            "format_version": FORMAT_VERSION,
            "flags": {flag.name: flag.value for flag in sorted(self.flags)},
            "files": {f"--{split}": [sha256_of(path) for path in paths] for split, paths in self.files.items()},
            "options": {f"--{name.replace('_', '-')}": value for name, value in options.items()},
        }


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a folder, which is created if it is missing, against other runs until the block has ended."""
    check_undivided(path)
    busy = input_error("another `transition-parser train` is running in this folder: wait for it, or end it", path)
    with folder(path), locked_file(path / LOCK, busy):
        yield


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
    return (
        "given" if value is None or isinstance(value, list) else value if isinstance(value, str) else short_repr(value)
    )
