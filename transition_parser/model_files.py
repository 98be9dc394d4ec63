"""The small files of a model folder: read whole, within a bound, as text or JSON."""

from __future__ import annotations

import os
from pathlib import Path

from transition_parser.errors import input_error

MOST_BYTES = 1 << 28  # far more than any dictionary or lexicon: a file that is larger is something else


def read_bytes(path: str | os.PathLike, missing: str) -> bytes:
    """What a file holds. Raises `InputError` where it is not there (`missing` says who writes it), not a regular
    file, too large or not readable."""
    path = Path(path)
    try:
        if not path.exists():
            raise input_error(f"not found: {missing}", path)
        if not path.is_file():
            raise input_error("is not a regular file", path)
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise input_error(f"has {size} bytes, more than a file of this kind can need ({MOST_BYTES})", path)
        return path.read_bytes()
    except OSError as error:
        raise input_error(error.strerror or type(error).__name__, path) from None


def read_text(path: str | os.PathLike, missing: str) -> str:
    """`read_bytes` as text. Raises `InputError` also where it is not UTF-8, with the line."""
    content = read_bytes(path, missing)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise input_error(f"not UTF-8: byte 0x{content[error.start]:02x}", path, line) from None
