"""Files that are read and written packed by their suffix, and written whole or not at all."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import secrets
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from transition_parser.base.errors import InputError, input_error

# errors that only writing raises; they do not name the file. EBADF: standard output is closed
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF})
# suffix → the function that packs or unpacks an open file
_PACKED: dict[str, Callable[[BinaryIO, Any], Any]] = {
    ".gz": lambda file, mode: gzip.GzipFile("", mode, fileobj=file, mtime=0),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}


def unpacked_name(path: str | os.PathLike) -> str:
    """Return the name of a file without the suffix `.gz`, `.bz2` or `.xz`."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in _PACKED else str(path)


@contextmanager
def open_input(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a file to read; the suffixes `.gz`, `.bz2` and `.xz` have it unpacked."""
    unpack = _PACKED.get(os.path.splitext(path)[1].lower())
    with open(path, "rb") as file:
        if unpack is None:
            yield file
            return
        try:
            yield unpack(file, "rb")
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise input_error(f"the packed file is damaged: {error}", path) from None


@contextmanager
def opened(path: str | os.PathLike) -> Iterator[tuple[BinaryIO, str]]:
    """Open a file, or standard input, and yield the open file with its name for messages."""
    if str(path) == "-":
        yield standard_input(), "standard input"
        return
    with open_input(path) as file:
        yield file, str(path)


def standard_input() -> BinaryIO:
    """Return standard input as bytes; a thread that waits with the lock of `sys.stdin` would abort at exit."""
    if sys.stdin is None:
        raise InputError("standard input is closed")
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except io.UnsupportedOperation:  # `sys.stdin` was replaced by an object in memory
        return sys.stdin.buffer


def may_pause(path: str | os.PathLike) -> bool:
    """Return True for standard input (`-`), a named pipe, a terminal or another device."""
    return str(path) == "-" or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path))


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """Give the block a temporary file, which is renamed to `path` (or a link's target) unless the block fails."""
    if _is_stream(path):
        with os_errors_naming(path), open(path, "ab") as file, tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder, Path(path).name)
            yield temporary
            with open(temporary, "rb") as written:
                shutil.copyfileobj(written, file)
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise input_error(f"the folder {target.parent} does not exist", path)
    if target.is_dir():
        raise input_error("is a folder, not a file to write", path)
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(6)}{target.suffix}")
    with os_errors_naming(path, temporary):
        try:
            temporary.touch(exist_ok=False)
            mode = temporary.stat().st_mode  # of a new file; the block may put another file in its place
            yield temporary
            temporary.chmod(target.stat().st_mode if target.exists() else mode)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Give the block standard output if `path` is None, `-` or /dev/stdout, else a temporary text file."""
    if path in (None, "-", "/dev/stdout"):
        yield sys.stdout
        return
    if _is_stream(path):
        with os_errors_naming(path), open(path, "a", encoding="utf-8") as file:
            yield file
        return
    pack = _PACKED.get(os.path.splitext(path)[1].lower())
    with (
        replacing(path) as temporary,
        open(temporary, "wb") as raw,
        io.TextIOWrapper(pack(raw, "wb") if pack else raw, encoding="utf-8") as file,
    ):
        yield file


def _is_stream(path: str | os.PathLike) -> bool:
    """Return True for a pipe, a device or an open file of a process, to which output is appended."""
    return str(path).startswith(("/dev/fd/", "/dev/std", "/proc/")) or may_pause(path)


@contextmanager
def new_files(dest: str | os.PathLike, stale: Iterable[str] = ()) -> Iterator[Path]:
    """Give the block a temporary folder; unless it raises, its files move into `dest`, and those of `stale` go."""
    dest = Path(os.path.realpath(dest))
    if dest.exists() and not dest.is_dir():
        raise input_error("is a file, not a folder to write into", dest)
    parent = dest if dest.exists() else dest.parent  # `dest` may be a mount point
    temporary = parent / f".{dest.name}-{secrets.token_hex(6)}"
    with os_errors_naming(dest, temporary), folder(dest.parent):
        try:
            temporary.mkdir()
            mode = temporary.stat().st_mode & 0o666  # of a new file
            yield temporary
            for file in temporary.iterdir():
                file.chmod(mode)
            if dest.exists():
                for file in temporary.iterdir():
                    if (dest / file.name).is_dir():
                        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(dest / file.name))
                for file in [*chain.from_iterable(map(dest.glob, stale))]:
                    if not file.is_dir():
                        file.unlink()
                for file in sorted(temporary.iterdir()):
                    file.replace(dest / file.name)
            else:
                temporary.rename(dest)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def folder(path: str | os.PathLike) -> Iterator[Path]:
    """Give the block a folder, which is created if it is missing."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise input_error("is a file, not a folder to write into", path)
    missing = [one for one in (path, *path.parents) if not one.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield path
    except BaseException:
        for one in missing:
            with suppress(OSError):  # it is missing or not empty
                one.rmdir()
        raise


@contextmanager
def os_errors_naming(path: str | os.PathLike, temporary: Path | None = None) -> Iterator[None]:
    """Replace the file name in each `OSError` of the block by `path`, the name that the user knows."""
    try:
        yield
    except OSError as error:
        name = error.filename
        if name is None and error.errno in NO_ROOM:
            raise OSError(error.errno, error.strerror, str(path)) from error
        if temporary and isinstance(name, str | os.PathLike) and Path(name).is_relative_to(temporary):
            raise OSError(error.errno, error.strerror, str(Path(path, Path(name).relative_to(temporary)))) from error
        raise
