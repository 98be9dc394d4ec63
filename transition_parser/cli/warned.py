"""Warnings of this package as one plain line each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from transition_parser.base.errors import ParserWarning


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show each `ParserWarning` as one line on standard error while the block runs.

    Other warnings are shown as Python shows them.
    """
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Warning | str, category: type[Warning], *where, **options) -> None:
            if issubclass(category, ParserWarning):
                print(f"transition-parser: warning: {message}", file=sys.stderr)
            else:
                show(message, category, *where, **options)

        warnings.showwarning = shown
        yield
