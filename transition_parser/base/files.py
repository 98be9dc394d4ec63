"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from transition_parser.base.errors import input_error

# only writing fails so, but the operating system does not say which file it was
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary path that takes the name `path` when the block ends without an error.

    A symbolic link keeps pointing where it points, and what is not a regular file (a pipe, /dev/null) is written
    directly. Raises `InputError` where `path` is a folder, or its folder does not exist.
    """
    target = _target(path)
    if target.is_dir():
        raise input_error("is a folder, not a file to write", path)
    if target.exists() and not target.is_file():
        with _said_of(path, target):
            yield target
        return
    temporary = target.with_name(f".{target.stem}-{secrets.token_hex(6)}{target.suffix}")
    with _said_of(path, temporary):
        try:
            temporary.touch(exist_ok=False)
            yield temporary
            _make_readable(temporary)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def output(path: str | None) -> Iterator[TextIO]:
    """Standard output for None and `-`; else a temporary file that takes the name `path` at the end, see
    `replacing`."""
    if path is None or path == "-":
        yield sys.stdout
        return
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        yield file


@contextmanager
def growing(path: str | os.PathLike) -> Iterator[Path]:
    """The file `path`.partial, which takes the name `path` when the block ends without an error, and else stays.

    What an earlier run left in it is there when the block begins.
    """
    target = _target(path)
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise input_error("is not a regular file: only such a file can be written bit by bit", path)
    partial = target.with_name(f"{target.name}.partial")
    with _said_of(f"{path}.partial", partial):
        partial.touch()
        try:
            yield partial
        except BaseException:
            if not partial.stat().st_size:
                partial.unlink()
            raise
        os.replace(partial, target)


@contextmanager
def new_files(dest: str | os.PathLike, stale: Iterable[str] = ()) -> Iterator[Path]:
    """A temporary folder whose files move into `dest` when the block ends without an error.

    After an error `dest` is as it was. stale: patterns of files of `dest` that go when the new ones come.
    """
    dest = Path(dest)
    if dest.exists() and not dest.is_dir():
        raise input_error("is a file, not a folder to write into", dest)
    missing = [folder for folder in dest.parents if not folder.exists()]
    temporary = dest.with_name(f".{dest.name}-{secrets.token_hex(6)}")
    with _said_of(dest, temporary):
        try:
            dest.parent.mkdir(parents=True, exist_ok=True)
            temporary.mkdir()
            yield temporary
            _move_into(dest, temporary, stale)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            for folder in missing:
                _remove_empty(folder)
            raise
        shutil.rmtree(temporary)


@contextmanager
def alone_in(path: str | os.PathLike) -> Iterator[None]:
    """Waits until no other process that asks for it is in such a block for the same folder."""
    import fcntl  # of POSIX alone

    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def folder(path: str | os.PathLike) -> Iterator[Path]:
    """A folder, which is made where there is none. What is new and still empty after an error goes again."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise input_error("is a file, not a folder to write into", path)
    missing = [one for one in (path, *path.parents) if not one.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield path
    except BaseException:
        for one in missing:
            _remove_empty(one)
        raise


def _target(path: str | os.PathLike) -> Path:
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise input_error(f"the folder {target.parent} does not exist", path)
    return target


@contextmanager
def _said_of(path: str | os.PathLike, temporary: Path) -> Iterator[None]:
    """Gives errors of the block the name that the user knows: `path`, where they name the temporary file (or one in
    the temporary folder), and where they name none because there is no room to write."""
    try:
        yield
    except OSError as error:
        name = error.filename
        if name is None and error.errno in NO_ROOM:
            raise OSError(error.errno, error.strerror, str(path)) from error
        if isinstance(name, str | os.PathLike) and Path(name).is_relative_to(temporary):
            raise OSError(error.errno, error.strerror, str(Path(path, Path(name).relative_to(temporary)))) from error
        raise


def _move_into(dest: Path, temporary: Path, stale: Iterable[str]) -> None:
    dest.mkdir(exist_ok=True)
    for pattern in stale:
        for old in dest.glob(pattern):
            old.unlink()
    for file in sorted(temporary.iterdir()):
        _make_readable(file)
        os.replace(file, dest / file.name)


def _remove_empty(folder: Path) -> None:
    """Removes a folder that was made for nothing, unless something else came into it since."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _make_readable(path: str | os.PathLike) -> None:
    """The access rights that a file has which a program simply creates."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
