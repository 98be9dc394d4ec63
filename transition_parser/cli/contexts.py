"""Contexts in which commands run.

Signals end the program by an exception, so that unfinished output is cleaned up. Each warning of this package is one
plain line.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from transition_parser.base.errors import ParserWarning

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def signals_as_exits() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into `SystemExit` while the block runs."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner = os.getpid()

    def leave(number: int, frame: object) -> None:
        if os.getpid() != owner:  # a worker process, forked with this handler
            os._exit(128 + number)
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # a second signal must not interrupt the clean-up
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in ENDING if signal.getsignal(number) == signal.SIG_DFL}
    for number in before:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show each `ParserWarning` as one line on standard error while the block runs."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Warning | str, category: type[Warning], *where, **options) -> None:
            if issubclass(category, ParserWarning):
                print(f"transition-parser: warning: {message}", file=sys.stderr)
            else:
                show(message, category, *where, **options)

        warnings.showwarning = shown
        yield
