"""Settings of the whole process, which only the command line makes, and work that several processes share."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from queue import Empty, Queue
from typing import Any, TypeVar

from transition_parser.base.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

CPU_VARIABLE = "TRANSITION_PARSER_CPU"
# settings by which PyTorch, oneDNN and MKL use no instructions newer than AVX2
_AVX2_ALONE = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def keep_freed_memory() -> None:
    """Tell glibc to keep the memory of freed tensors: getting it again takes longer than scores over a vocabulary."""
    if mallopt := _of_glibc("mallopt"):
        trim_threshold, mmap_max = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, 2**31 - 1)


def give_back_freed_memory() -> None:
    """Return the memory that `keep_freed_memory` retains to the system."""
    if malloc_trim := _of_glibc("malloc_trim"):
        malloc_trim(0)


def _of_glibc(name: str) -> Callable | None:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library
        return None


def keep_few_kernels() -> None:
    """Limit oneDNN's cache of kernels, by default 1,024 of them in over 1 GB, before its first computation."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


def at_most_avx2() -> bool:
    """Return True if TRANSITION_PARSER_CPU lets a newer processor count as one without AVX-512."""
    value = os.environ.get(CPU_VARIABLE)
    if value not in (None, "avx2", "avx-vnni"):
        meaning = "avx2 (no newer instructions) or avx-vnni (AVX2, and products of integers)"
        raise InputError(f"{CPU_VARIABLE} is {value!r}: set it to {meaning}, or unset it")
    return value is not None


def has_vnni() -> bool:
    """Return False if TRANSITION_PARSER_CPU rules out VNNI, the instructions for products of 8-bit integers."""
    return os.environ.get(CPU_VARIABLE) != "avx2"


def limit_instructions() -> None:
    """Set PyTorch and its libraries to the instructions that `at_most_avx2` allows; our kernels ask it themselves."""
    if at_most_avx2():
        for name, value in _AVX2_ALONE.items():
            os.environ.setdefault(name, value)


def let_idle_threads_sleep() -> None:
    """Let OpenMP's threads sleep while they wait: they would spin, which is slow where processes share cores."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def in_parallel(work: Callable[[Item], Result], items: Iterable[Item], processes: int, chunk: int) -> Iterator[Result]:
    """Yield `work(item)` for each item in order, from several spawned processes, `chunk` items at once."""
    items = iter(items)
    first = [] if processes == 1 else list(islice(items, chunk + 1))
    if len(first) <= chunk:
        yield from map(work, chain(first, items))
        return
    from concurrent.futures import ProcessPoolExecutor  # imported late: slow, and most programs use one process
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        try:
            yield from pool.map(work, chain(first, items), chunksize=chunk)
        except BrokenProcessPool:
            raise InputError(
                f"one of {processes} processes ended before its work was done: there was too little memory for so many "
                "(use fewer), or a script without `if __name__ == '__main__':` started the processes"
            ) from None


def in_chunks(items: Iterable[Item], size: int, weight: Callable[[Item], int] = lambda _: 1) -> Iterator[list[Item]]:
    """Yield lists of items. A list ends where the number of items, or the sum of their weights, reaches `size`."""
    chunk: list[Item] = []
    total = 0
    for item in items:
        chunk.append(item)
        total += weight(item)
        if max(total, len(chunk)) >= size:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


PAUSE = 0.05  # seconds without a new item that count as a pause


def as_they_come(items: Iterable[Item], size: int, pause: float = PAUSE) -> Iterator[list[Item]]:
    """Yield lists of at most `size` items. A list ends early where no further item came for `pause` seconds."""
    queue: Queue = Queue(size)  # items, each with False; at last the error that the items raised or None, and True
    closed = threading.Event()

    def fill() -> None:
        end = None
        try:
            for item in items:
                queue.put((item, False))
                if closed.is_set():
                    return
        except BaseException as error:  # the thread that takes the items raises it again
            end = error
        queue.put((end, True))

    # a daemon thread, so that the program can end while the thread waits for input
    threading.Thread(target=fill, name="reader", daemon=True).start()
    item, is_end = None, False
    try:
        while not is_end:
            chunk: list[Item] = []
            with suppress(Empty):
                while len(chunk) < size:
                    item, is_end = queue.get(timeout=pause if chunk else None)
                    if is_end:
                        break
                    chunk.append(item)
            if chunk:
                yield chunk
        if item is not None:
            raise item
    finally:
        closed.set()
        with suppress(Empty):
            queue.get_nowait()  # makes room in the queue, in case the thread waits to put an item


class Shared:
    """A setting of the process, which has the value of the latest `at` block, of any thread, that has not ended."""

    def __init__(self, get: Callable, set_: Callable) -> None:
        self._get, self._set, self._lock = get, set_, threading.Lock()
        self._values: dict = {}  # the value of each block that has not ended, in the order of their starts

    @contextmanager
    def at(self, value: Any) -> Iterator[None]:
        """Set the value for the length of the block."""
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


@contextmanager
def signals_as_exits() -> Iterator[Callable[[], None]]:
    """Turn SIGTERM and SIGHUP into `SystemExit`; yield a function that raises again what finalisers swallowed."""
    raised: list[BaseException] = []
    before: dict[int, Any] = {}
    owner = os.getpid()

    def check() -> None:
        if raised:
            raise raised[0]

    def leave(number: int, frame: object) -> None:
        try:
            if callable(before[number]):
                before[number](number, frame)
                return
            if os.getpid() != owner:  # a worker process, forked with this handler
                os._exit(128 + number)
            for other in before:
                if not callable(before[other]):
                    signal.signal(other, signal.SIG_IGN)  # a second signal must not interrupt the clean-up
            raise SystemExit(128 + number)
        except BaseException as error:
            raised.append(error)
            raise

    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        before.update((number, is_) for number, is_ in handlers.items() if callable(is_) or is_ == signal.SIG_DFL)
    for number in before:
        signal.signal(number, leave)
    try:
        yield check
        check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def redirected(descriptor: int, target: int) -> Iterator[None]:
    """Let a descriptor (1: standard output, 2: standard error) lead to another file while the block runs."""
    kept = os.dup(descriptor)
    os.dup2(target, descriptor)
    try:
        yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def progress(items: Iterable[Item], what: str, total: int | None = None, quiet: bool = False) -> Iterable[Item]:
    """Return an iterable over `items` that shows a progress bar if standard error is a terminal, unless `quiet`."""
    from tqdm import tqdm  # imported late because the import is slow, and --help does not need it

    hidden = quiet or not (sys.stderr and sys.stderr.isatty())
    return tqdm(items, desc=what, total=total, disable=hidden, leave=False)
