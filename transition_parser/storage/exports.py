"""Exported models: folders without pickle.

`config.json` has the architecture, its options, and the SHA-256 of every file, so that a damaged folder is never taken
for a model.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transition_parser.base.errors import errors_at, input_error
from transition_parser.base.model_files import OBJECT, TEXT, read_versioned, sha256_of, write_json
from transition_parser.data.resources import Resources
from transition_parser.modules.calibration import Calibration
from transition_parser.storage.names import CONFIG, version_of

WEIGHTS = "model.safetensors"
FORMAT_VERSION = 1
_KEYS = {
    "architecture": TEXT,
    "model": OBJECT,
    "calibration": OBJECT._replace(required=False),
    "files": OBJECT,
    "sha256": TEXT,
}


@dataclass(frozen=True)
class Exported:
    """The description of an exported model."""

    architecture: str
    options: Mapping[str, Any]  # as they were exported; they are not checked
    calibration: Calibration | None = None
    version: str = field(default="", compare=False)  # see `version_of`; "" before it is written


def write_config(folder: str | os.PathLike, exported: Exported, beside: str | os.PathLike | None = None) -> None:
    """Write `config.json` with the checksums of the model's files, which are in `folder` or, unchanged, in `beside`."""
    files = {path.name: path for path in model_files(Path(folder if beside is None else beside))}
    if beside is not None:
        files |= {path.name: path for path in model_files(Path(folder)) if path.is_file()}
    calibration = exported.calibration
    values = {
        "format_version": FORMAT_VERSION,
        "architecture": exported.architecture,
        "model": dict(exported.options),
        **({} if calibration is None else {"calibration": calibration.as_json()}),
        "files": {name: sha256_of(path) for name, path in files.items()},
    }
    write_json(Path(folder, CONFIG), {**values, "sha256": sha256_of_json(values)})


def read_config(folder: str | os.PathLike) -> Exported:
    """Return the description of an exported model, whose files are as they were exported."""
    folder = Path(folder)
    path = folder / CONFIG
    values = read_versioned(path, "is this a folder that `transition-parser export` wrote?", FORMAT_VERSION, _KEYS)
    version = version_of(values)
    if values.pop("sha256") != sha256_of_json(values):
        raise input_error("has been changed after the export (its SHA-256 is wrong): export the model again", path)
    sums, paths = values["files"], {path.name: path for path in model_files(folder)}
    for name in sorted(paths.keys() ^ sums.keys()):
        problem = "is not there, but was exported" if name in sums else "was not exported with the model"
        raise input_error(f"{problem}: export the model again", folder / name)
    for name, file in paths.items():
        if not file.is_file():
            raise input_error("is missing, or is not a regular file: export the model again", file)
        if sha256_of(file) != sums[name]:
            problem = f"its SHA-256 is not the one in {CONFIG}: the file is damaged, or from another model"
            raise input_error(f"{problem}; export the model again", file)
    calibration = values.get("calibration")
    with errors_at(path):
        found = None if calibration is None else Calibration.of_json(calibration)
    return Exported(values["architecture"], values["model"], found, version)


def model_files(folder: Path) -> list[Path]:
    """Return the files of an exported model that `load_model` reads, without `config.json`."""
    return [*Resources.files(folder), folder / WEIGHTS]


def sha256_of_json(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a JSON object. White space and the order of keys do not matter."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
