"""Chunks of items. Chunks of a file have a fixed size; chunks of a pipe are smaller where no further item comes yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple, TypeVar

T = TypeVar("T")

PAUSE = 0.05  # seconds without a new item that count as a pause


class _End(NamedTuple):
    error: BaseException | None  # the exception that the items raised, if any


def in_chunks(items: Iterable[T], size: int, weight: Callable[[T], int] = lambda _: 1) -> Iterator[list[T]]:
    """Yield lists of items. A list ends where the number of items, or the sum of their weights, reaches `size`."""
    chunk: list[T] = []
    total = 0
    for item in items:
        chunk.append(item)
        total += weight(item)
        if max(total, len(chunk)) >= size:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def as_they_come(items: Iterable[T], size: int, pause: float = PAUSE) -> Iterator[list[T]]:
    """Yield lists of at most `size` items. A list ends early where no further item came for `pause` seconds."""
    queue: Queue = Queue(size)
    closed = Event()

    def fill() -> None:
        error = None
        try:
            for item in items:
                queue.put(item)
                if closed.is_set():
                    return
        except BaseException as raised:  # the thread that takes the items raises it again
            error = raised
        queue.put(_End(error))

    # a daemon thread, so that the program can end while the thread waits for input
    Thread(target=fill, name="reader", daemon=True).start()
    end = None
    try:
        while end is None:
            chunk: list[T] = []
            while end is None and len(chunk) < size:
                try:
                    item = queue.get(timeout=pause if chunk else None)
                except Empty:
                    break
                if isinstance(item, _End):
                    end = item
                else:
                    chunk.append(item)
            if chunk:
                yield chunk
        if end.error is not None:
            raise end.error
    finally:
        closed.set()
        with suppress(Empty):
            queue.get_nowait()  # makes room in the queue, in case the thread waits to put an item
