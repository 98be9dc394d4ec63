"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from transition_parser.errors import input_error


@contextmanager
def replacing(path: str | os.PathLike) -> Iterator[Path]:
    """A temporary path that takes the name `path` when the block ends without an error.

    A symbolic link keeps pointing where it points, and what is no regular file (a pipe, /dev/null) is written
    directly. Raises `InputError` where `path` is a folder, or its folder does not exist.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise input_error("is a folder, not a file to write", path)
    if not target.parent.is_dir():
        raise input_error(f"the folder {target.parent} does not exist", path)
    if target.exists() and not target.is_file():
        yield target
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
    os.close(handle)
    try:
        yield Path(name)
        _make_readable(name)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def growing(path: str | os.PathLike) -> Iterator[Path]:
    """The file `path`.partial, which takes the name `path` when the block ends without an error, and else stays.

    What an earlier run left in it is there when the block begins.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise input_error("is no file that can be written bit by bit", path)
    if not target.parent.is_dir():
        raise input_error(f"the folder {target.parent} does not exist", path)
    partial = target.with_name(f"{target.name}.partial")
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
    dest.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{dest.name}-", dir=dest.parent))
    try:
        yield temporary
        dest.mkdir(exist_ok=True)
        for pattern in stale:
            for old in dest.glob(pattern):
                old.unlink()
        for file in sorted(temporary.iterdir()):
            _make_readable(file)
            os.replace(file, dest / file.name)
    finally:
        shutil.rmtree(temporary)


def _make_readable(path: str | os.PathLike) -> None:
    """The access rights that a file has which a program simply creates."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
