"""Progress bars on terminals."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """Return an iterable over `items` that shows a progress bar on standard error if standard error is a terminal."""
    from tqdm import tqdm  # imported late because the import is slow, and --help does not need it

    return tqdm(items, desc=what, total=total, disable=not (sys.stderr and sys.stderr.isatty()), leave=False)
