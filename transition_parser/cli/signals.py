"""Signals that end the program end it as an exception does, so that what it was writing is cleaned up."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def signals_as_exits() -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP raise `SystemExit` with 128 plus their number, the status that shells
    give. What the caller ignores (`nohup`) stays ignored; outside the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner = os.getpid()

    def leave(number: int, frame: object) -> None:
        if os.getpid() != owner:  # a worker process, forked with this handler
            os._exit(128 + number)
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # cleaning up is not interrupted
        raise SystemExit(128 + number)

    before = {number: signal.getsignal(number) for number in ENDING if signal.getsignal(number) == signal.SIG_DFL}
    for number in before:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
