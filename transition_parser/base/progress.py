"""Progress bars: on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """`items`, with a bar on standard error while they are taken, if that is a terminal."""
    from tqdm import tqdm  # slow to import, and not needed for --help

    return tqdm(items, desc=what, total=total, disable=not sys.stderr.isatty(), leave=False)
