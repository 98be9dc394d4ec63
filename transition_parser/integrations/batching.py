"""A bounded queue of requests, whose sentences are parsed in slices of about `SECONDS`, on two threads.

Requests that one slice can answer have a thread of their own, in the order of their arrival. Longer requests share the
other thread in turns, a slice each. So two words do not wait for two thousand, nor the other way round. The times of
slices are estimated from the lengths of sentences and from the times of earlier slices.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from threading import Condition, Event, Thread
from typing import Any, NamedTuple

from transition_parser.analysis.traces import trace
from transition_parser.parsing.parser import Parser

SECONDS = 0.2
PARSE, TRACE = "parse", "trace"
_FIRST_RATES = {PARSE: 0.001, TRACE: 0.01}  # seconds for each unit of `_cost`, before a slice has been measured
_QUICK, _LONG = 0, 1

Pause = Callable[[], None]  # called often by long work: lets short requests go first, or raises `NobodyWaitsError`
Work = Callable[[Sequence[Any], Pause], Sequence[Any]]


class ToTrace(NamedTuple):
    """A sentence, and the number of the derivation whose steps are wanted."""

    sentence: Any
    derivation: int

    @property
    def forms(self) -> Sequence[str]:
        """The words of the sentence."""
        return self.sentence.forms


class BusyError(Exception):
    """The error of a full queue: too many requests are waiting already."""


class NobodyWaitsError(Exception):
    """The error that ends work whose results nobody wants any more."""


@dataclass(eq=False)
class QueuedJob:
    """The sentences of one request."""

    key: tuple[str, str]  # the model and the kind of work; jobs with equal keys may be done together
    sentences: Sequence[Any]
    results: list[Any] = field(default_factory=list)  # the results of the finished sentences, in order
    done: Future = field(default_factory=Future)

    @property
    def rest(self) -> Sequence[Any]:
        """The sentences that have no result."""
        return self.sentences[len(self.results) :]

    def add(self, results: Sequence[Any]) -> None:
        """Append the results of the next sentences, and finish the job if it now has all."""
        self.results += results
        if not self.rest and self.done.set_running_or_notify_cancel():
            self.done.set_result(self.results)

    def fail(self, error: BaseException) -> None:
        """End the job with an error."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


Slice = list[tuple[QueuedJob, Sequence[Any]]]  # pairs of a job and its sentences in the slice


class Batches:
    """The queue and its two threads. The graphs of a job depend neither on other jobs nor on its slices."""

    def __init__(self, work: dict[tuple[str, str], Work], most_waiting: int) -> None:
        self._work, self._most_waiting = work, most_waiting
        self._rates = {key: _FIRST_RATES[key[1]] for key in work}
        self._waiting: tuple[list[QueuedJob], list[QueuedJob]] = [], []
        self._changed = Condition()
        self._quick_idle = Event()
        self._closed = False
        self._threads = [Thread(target=self._run, args=(lane,), name="parsing") for lane in (_QUICK, _LONG)]
        for thread in self._threads:
            thread.start()

    def submit(self, key: tuple[str, str], sentences: Sequence[Any]) -> Future:
        """Queue one or more sentences, and return the future of their results."""
        job = QueuedJob(key, sentences)
        with self._changed:
            self._forget_finished()
            if self._closed or sum(map(len, self._waiting)) >= self._most_waiting:
                raise BusyError
            if sum(map(_cost, sentences)) <= self._budget(key):
                self._waiting[_QUICK].append(job)
                self._quick_idle.clear()
            else:
                self._waiting[_LONG].insert(0, job)  # a new request has its first slice at once
            self._changed.notify_all()
        return job.done

    def close(self) -> None:
        """Finish the slices that are being parsed, and cancel all waiting jobs."""
        with self._changed:
            self._closed = True
            for job in (*self._waiting[_QUICK], *self._waiting[_LONG]):
                job.done.cancel()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self, lane: int) -> None:
        while batch := self._next(lane):
            pause = self._pause_of(batch, lane)
            self._try(batch, pause)
            with self._changed:
                self._waiting[lane].extend(job for job, _ in batch if not job.done.done())
            with suppress(NobodyWaitsError):
                pause()

    def _try(self, batch: Slice, pause: Pause) -> None:
        # the time of this thread's own work, whatever else the processor does
        begin, key = time.thread_time(), batch[0][0].key
        sentences = [sentence for _, some in batch for sentence in some]
        try:
            results = iter(self._work[key](sentences, pause))
            measured = (time.thread_time() - begin) / sum(map(_cost, sentences))
            self._rates[key] = (self._rates[key] + min(measured, 3 * self._rates[key])) / 2  # at most doubles
            for job, some in batch:
                job.add([next(results) for _ in some])
        except BaseException as error:  # whoever waits gets the error; doing each job alone shows whose it is
            if len(batch) == 1:
                batch[0][0].fail(error)
            else:
                for one in batch:
                    self._try([one], pause)

    def _next(self, lane: int) -> Slice:
        """Wait for work and return the next slice; return an empty list after `close`."""
        with self._changed:
            self._forget_finished()
            while not self._waiting[lane] and not self._closed:
                if lane == _QUICK:  # `submit` clears it
                    self._quick_idle.set()
                self._changed.wait()
                self._forget_finished()
            return [] if self._closed else self._taken(self._waiting[lane])

    def _taken(self, jobs: list[QueuedJob]) -> Slice:
        """Remove from `jobs` what fits into a slice: sentences of the first job, and further jobs that fit whole."""
        batch: Slice = []
        budget = self._budget(jobs[0].key)
        for job in [job for job in jobs if job.key == jobs[0].key]:
            costs = list(accumulate(map(_cost, job.rest)))
            count = bisect_right(costs, budget)
            if batch and count < len(costs):
                break
            count = max(count, 1)
            batch.append((job, job.rest[:count]))
            jobs.remove(job)
            budget -= costs[count - 1]
        return batch

    def _budget(self, key: tuple[str, str]) -> float:
        """Return the cost of the sentences that are parsed in one slice."""
        return SECONDS / self._rates[key]

    def _forget_finished(self) -> None:
        for jobs in self._waiting:
            jobs[:] = [job for job in jobs if not job.done.done()]

    def _pause_of(self, batch: Slice, lane: int) -> Pause:
        """Return the function that work calls between its steps; the long lane waits at most as long as it worked."""
        resumed = time.perf_counter()

        def pause() -> None:
            nonlocal resumed
            if self._closed or all(job.done.cancelled() for job, _ in batch):
                raise NobodyWaitsError
            if lane == _LONG:
                self._quick_idle.wait(time.perf_counter() - resumed)
                resumed = time.perf_counter()

        return pause


def _cost(sentence: Any) -> float:
    """Return the time of a sentence, in units that take about equally long for all lengths."""
    words = len(sentence.forms)
    return 8 + words + words * words / 300


def work_of(parsers: dict[str, Parser]) -> dict[tuple[str, str], Work]:
    """Return key → function that parses sentences, or traces derivations, with one of the models; see `Batches`."""
    kinds: dict[str, Callable[..., Sequence[Any]]] = {PARSE: _parses, TRACE: _traces}
    return {(name, kind): partial(work, parser) for name, parser in parsers.items() for kind, work in kinds.items()}


def _parses(parser: Parser, sentences: Sequence[Any], pause: Pause) -> list[dict[str, Any]]:
    parses = parser.parse_stream(sentences)
    return [{**parser.formalism.parse_as_data(parse), "score": parse.score} for parse in parses]


def _traces(parser: Parser, wanted: Sequence[ToTrace], pause: Pause) -> list[str]:
    found = (trace(parser, [one.sentence], pause=pause, only=one.derivation) for one in wanted)
    return [_json(one.as_data()) for (one,) in found]


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
