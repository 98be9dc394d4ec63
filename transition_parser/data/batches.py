"""Batches of sentences of similar length, and the threads that parse them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import torch

from transition_parser.base.process import Shared


def usual_batch(words_at_once: int, device: torch.device, beam: int) -> int:
    """Return the usual maximum of words times beam in a batch; for `words_at_once` see `contract.Decoder`."""
    words, largest = (words_at_once, 8) if device.type == "cpu" else (8000, 4)
    return words * min(beam, largest)


_SIDE_BY_SIDE = 4  # maximum number of batches at a time: Python itself runs on one core
_SWITCH_INTERVAL = 5e-4  # seconds until threads take turns in Python; the default is 5e-3

torch_threads = Shared(torch.get_num_threads, torch.set_num_threads)
_switch_interval = Shared(sys.getswitchinterval, sys.setswitchinterval)


def batches_at_a_time(threads: int, device: torch.device) -> int:
    """Return the number of batches that are parsed at a time."""
    return min(threads, _SIDE_BY_SIDE) if device.type == "cpu" else 1


@contextmanager
def workers(threads: int, device: torch.device) -> Iterator[Callable[..., Iterator]]:
    """Yield a function with the arguments of `map`: a function of a batch, and the batches."""
    at_a_time = batches_at_a_time(threads, device)
    with ExitStack() as stack:
        stack.enter_context(torch_threads.at(max(threads // at_a_time, 1)))
        if at_a_time == 1:
            yield map
            return
        stack.enter_context(_switch_interval.at(_SWITCH_INTERVAL))

        def each(function: Callable, batches: Iterable[list[int]]) -> Iterator:
            listed = list(batches)
            if len(listed) < 2:  # starting a thread takes about a millisecond
                return map(function, listed)
            pool = ThreadPoolExecutor(at_a_time)
            stack.callback(pool.shutdown, cancel_futures=True)
            return pool.map(function, listed)

        yield each


def in_batches(lengths: Sequence[int], beam: int, most: int, least: int | None = None) -> Iterator[list[int]]:
    """Yield batches of sentences of similar length as indices, the longest first; `most` bounds words times beam.

    least: the bound falls from batch to batch to this number, so that all cores are done at the same time
    """
    batch: list[int] = []
    words_left, limit = sum(lengths), 0
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and (len(batch) + 1) * lengths[batch[0]] * beam > limit:
            yield batch
            words_left -= sum(lengths[j] for j in batch)
            batch = []
        if not batch:
            limit = most if least is None else min(most, max(words_left * beam // _SIDE_BY_SIDE, least))
        batch.append(i)
    if batch:
        yield batch
