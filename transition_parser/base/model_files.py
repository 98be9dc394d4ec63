"""The small files of a model folder: read whole, within a bound, as text or JSON whose keys are checked."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple, TypeGuard

from transition_parser.base.errors import InputError, input_error

MOST_BYTES = 1 << 28  # far more than any dictionary or lexicon: a file that is larger is something else
_MOST_DIGITS, _MOST_DEPTH = 18, 20
_TOO_DEEP = "nested too deeply"
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


_short = Repr()
_short.maxstring = _short.maxother = 100


def shown(value: object) -> str:
    """Any value for a message: never long, and in one line."""
    return " ".join(_short.repr(value).split())


def read_bytes(path: str | os.PathLike, missing: str) -> bytes:
    """What a file holds. Raises `InputError` where it is not there (`missing` says who writes it), not a regular
    file, too large or not readable."""
    path = Path(path)
    try:
        if not os.path.lexists(path):
            raise input_error(f"not found: {missing}", path)
        if path.exists() and not path.is_file():
            raise input_error("is not a regular file", path)
        if path.stat().st_size > MOST_BYTES:
            raise input_error(f"has more bytes than a file of this kind can need ({MOST_BYTES})", path)
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


def read_json(path: str | os.PathLike, missing: str) -> dict[str, Any]:
    """The JSON object in a file. Raises `InputError` for anything else, and for what other readers take differently:
    keys that are there twice, NaN, infinite and gigantic numbers, halves of characters."""
    text = read_text(path, missing)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_number,
            parse_float=_float,
            parse_int=_int,
        )
        _check_depth(value)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise input_error(f"not JSON: {error.msg}, column {error.colno}", path, error.lineno) from None
    except UnicodeEncodeError:
        raise input_error("a string holds half a character (a single surrogate)", path) from None
    except RecursionError:
        raise input_error(_TOO_DEEP, path) from None
    except ValueError as error:  # of the functions below
        raise input_error(str(error), path) from None
    if not isinstance(value, dict):
        raise input_error(f"must be a JSON object, not {shown(value)}", path)
    return value


class Key(NamedTuple):
    """What the value of a key in a JSON object must be: in words, and as a test."""

    what: str
    fits: Callable[[Any], bool]
    required: bool = True


def is_text(value: object) -> bool:
    """True for a string."""
    return isinstance(value, str)


def is_whole(value: object) -> TypeGuard[int]:
    """True for a whole number; JSON's true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_texts(value: object) -> TypeGuard[list[str]]:
    """True for a list of strings, each there once."""
    return isinstance(value, list) and all(map(is_text, value)) and len(set(value)) == len(value)


TEXT = Key("a string", is_text)
WHOLE_NUMBER = Key("a whole number", is_whole)
TEXTS = Key("a list of strings, each there once", is_texts)
OBJECT = Key("a JSON object", lambda value: isinstance(value, dict))


def check_keys(values: Mapping[str, Any], keys: Mapping[str, Key], path: str | os.PathLike) -> None:
    """Raises `InputError` for a key of `values` that is unknown or missing, or has a value of another type."""
    for name in values:
        if name not in keys:
            raise input_error(f"unknown key {shown(name)}: it can have {', '.join(keys)}", path)
    for name, key in keys.items():
        if name not in values:
            if key.required:
                raise input_error(f"the key {name!r} is missing", path)
        elif not key.fits(values[name]):
            raise input_error(f"{name!r} must be {key.what}, not {shown(values[name])}", path)


def check_version(values: Mapping[str, Any], versions: Iterable[int], path: str | os.PathLike) -> None:
    """Raises `InputError` where `format_version` is missing or not one of those that this program reads: before
    `check_keys`, because another version may have other keys."""
    version = values.get("format_version")
    if version is None:
        raise input_error("does not have its key 'format_version'", path)
    if not is_whole(version) or version not in versions:
        readable = " and ".join(map(str, versions))
        raise input_error(f"format version {shown(version)}, this program reads {readable}: make it again", path)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {shown(next(n for n in names if names.count(n) > 1))} is there twice")
    return values


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(_MOST_DEPTH):
        inside = [list(v.values()) if isinstance(v, dict) else v for v in level if isinstance(v, (dict, list))]
        level = [inner for values in inside for inner in values]
    if level:
        raise ValueError(_TOO_DEEP)


def _refuse_number(text: str) -> None:
    raise ValueError(f"{text} is not a number that JSON has")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {shown(text)} is too large")
    return value


def _int(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"the number {shown(text)} is too large")
    return int(text)


def sha256_of(*paths: str | os.PathLike) -> str:
    """Of the contents of files, one after the other. Raises `InputError` where one can't be read."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            with open(path, "rb") as file:
                hashlib.file_digest(file, lambda: digest)
        except OSError as error:
            raise input_error(error.strerror or type(error).__name__, path) from None
    return digest.hexdigest()


def in_file(path: str | os.PathLike, error: InputError) -> InputError:
    """An error from below that does not know yet which file it is about."""
    return input_error(str(error), path)
