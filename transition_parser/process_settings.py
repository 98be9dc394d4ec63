"""Settings of the whole process that parsing needs for a while."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

import torch


class Shared:
    """A setting of the whole process that several users change at the same time: it has the value of the latest of
    those that are not finished, and its first value again when all are."""

    def __init__(self, get: Callable, set_: Callable) -> None:
        self._get, self._set, self._lock = get, set_, Lock()
        self._values: dict = {}  # of each user that is not finished

    @contextmanager
    def at(self, value) -> Iterator[None]:
        """Sets the value for the length of the block."""
        mine = object()
        with self._lock:
            if not self._values:
                self._first = self._get()
            self._values[mine] = value
            self._set(value)
        try:
            yield
        finally:
            with self._lock:
                del self._values[mine]
                self._set(next(reversed(self._values.values()), self._first))


torch_threads = Shared(torch.get_num_threads, torch.set_num_threads)
switch_interval = Shared(sys.getswitchinterval, sys.setswitchinterval)
