"""Folders that are written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def new_files(dest: str | os.PathLike) -> Iterator[Path]:
    """A temporary folder whose files move into `dest` when the block ends without an error.

    Files of `dest` with other names stay; after an error `dest` is as it was.
    """
    dest = Path(dest)
    dest.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{dest.name}-", dir=dest.parent))
    try:
        yield temporary
        dest.mkdir(exist_ok=True)
        for file in sorted(temporary.iterdir()):
            os.replace(file, dest / file.name)
    finally:
        shutil.rmtree(temporary)
