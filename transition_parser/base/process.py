"""Settings of the whole process, and work shared by several. Only the command line makes settings that last, never the
Python API."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar

from transition_parser.base.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def keep_freed_memory() -> None:
    """Tells glibc to keep the memory of freed tensors for the next ones.

    By default it gives blocks of some MB back to the system at once, and gets them again page by page: for the
    scores over a large vocabulary that takes longer than computing them. Does nothing where there is no glibc.
    """
    if mallopt := _of_glibc("mallopt"):
        trim_threshold, mmap_max = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, 2**31 - 1)


def give_back_freed_memory() -> None:
    """Gives the system what `keep_freed_memory` kept: without this now and then, free blocks that fit nothing pile
    up. Does nothing where there is no glibc."""
    if malloc_trim := _of_glibc("malloc_trim"):
        malloc_trim(0)


def keep_few_kernels() -> None:
    """Limits oneDNN's cache of kernels, which holds one for each shape of each product: 1,024 of them take over 1 GB.
    Keeps a limit that the user has set; too late once oneDNN has computed.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


def let_idle_threads_sleep() -> None:
    """Lets OpenMP's threads sleep while they wait for work; torch's read this when torch is imported, not later.

    By default they spin for some milliseconds. Where other programs, or a second one of ours, use the cores, that takes
    several times the time of the work itself. Keeps what the user has set.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def open_files(wanted: int) -> int:
    """How many more files and connections the process may open. Its limit is raised where that is fewer than `wanted`,
    as far as the system allows."""
    import resource  # of POSIX alone

    opened = len(os.listdir("/dev/fd"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft - opened < wanted:
        soft = wanted + opened if hard == resource.RLIM_INFINITY else min(wanted + opened, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else soft - opened


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item], processes: int, chunk: int) -> Iterator[Result]:
    """`map(work, items)`, shared by processes that get `chunk` items at once; in the order of the items. Where there
    are no more than one of them would get, this process does the work.

    The processes are not forked: they would have our threads' locks, and handlers of signals that keep them from being
    ended. So a script that calls this needs `if __name__ == "__main__":`. Raises `InputError` where one of them dies.
    """
    items = iter(items)
    first = [] if processes == 1 else list(islice(items, chunk + 1))
    if len(first) <= chunk:
        yield from map(work, chain(first, items))
        return
    from concurrent.futures import ProcessPoolExecutor  # slow to import, and most programs have one process
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        try:
            yield from pool.map(work, chain(first, items), chunksize=chunk)
        except BrokenProcessPool:
            raise InputError(
                f"one of {processes} processes ended before its work was done: there was too little memory "
                "for so many, or they were started by a script without `if __name__ == '__main__':`"
            ) from None


def _of_glibc(name: str) -> Callable | None:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library
        return None


class Shared:
    """A setting of the whole process that several users change at the same time: it has the value of the latest of
    those that are not finished, and its first value again when all are."""

    def __init__(self, get: Callable, set_: Callable) -> None:
        self._get, self._set, self._lock = get, set_, Lock()
        self._values: dict = {}  # of each user that is not finished

    @contextmanager
    def at(self, value: Any) -> Iterator[None]:
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
