"""A bounded queue of requests, whose sentences are parsed in slices of a fixed size, on two threads.

Short requests, of one slice, have a thread of their own, in the order of their arrival. Long ones share the other
thread in turns, a slice each, and after a slice wait for one short slice. So two words do not wait for two thousand,
nor the other way round.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, count, islice
from threading import Condition, Thread
from typing import Any, NamedTuple

from transition_parser.analysis.traces import trace
from transition_parser.parsing.parser import Parser

PARSE, DRAW, TRACE = "parse", "draw", "trace"  # DRAW: parse and draw
SLICE = {
    PARSE: 1000.0,
    DRAW: 1000.0,
    TRACE: 40.0,
}  # the most `_cost` of a slice; to parse, 400 words in sentences of usual length
_STEPS = 8  # calls of `Pause` for one short slice

Pause = Callable[[], None]  # called often by long work: waits for short slices, or raises `NobodyWaitsError`
Work = Callable[[Sequence[Any], Pause], Sequence[Any]]


class ToTrace(NamedTuple):
    """A sentence, and the number of the derivation whose steps are wanted."""

    sentence: Any
    derivation: int
    drawings: bool = False

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
    sentences: Sequence[Any]  # those without a result
    results: list[Any] = field(default_factory=list)  # the results of the finished sentences, in order
    done: Future = field(default_factory=Future)

    def end(self, error: BaseException | None = None) -> None:
        """Give the results, or an error, to whoever waits."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(self.results) if error is None else self.done.set_exception(error)


Slice = list[tuple[QueuedJob, int]]  # pairs of a job and the number of its sentences in the slice


class Batches:
    """The queue and its two threads. The graphs of a job depend neither on other jobs nor on its slices."""

    def __init__(self, work: dict[tuple[str, str], Work], most_waiting: int) -> None:
        self._work, self._most_waiting = work, most_waiting
        self._short: list[QueuedJob] = []
        self._long: list[QueuedJob] = []
        self._changed, self._closed = Condition(), False
        self._begun = self._ended = 0  # number of short slices
        self._threads = [Thread(target=self._run, args=(jobs,), name="parsing") for jobs in (self._short, self._long)]
        for thread in self._threads:
            thread.start()

    def submit(self, key: tuple[str, str], sentences: Sequence[Any]) -> Future:
        """Queue one or more sentences, and return the future of their results."""
        job = QueuedJob(key, sentences)
        with self._changed:
            if self._closed or sum(not one.done.done() for one in self._short + self._long) >= self._most_waiting:
                raise BusyError
            if sum(map(_cost, sentences)) <= SLICE[key[1]]:
                self._short.append(job)
            else:
                self._long.insert(0, job)  # a new request has its first slice at once
            self._changed.notify_all()
        return job.done

    def close(self) -> None:
        """Finish the slices that are being parsed, and cancel all jobs that need more."""
        with self._changed:
            self._closed = True
            self._cancel()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._cancel()

    def _cancel(self) -> None:
        for job in self._short + self._long:
            job.done.cancel()

    def _run(self, jobs: list[QueuedJob]) -> None:
        while batch := self._next(jobs):
            self._try(batch, self._pause_of(batch, jobs))
            with self._changed:
                jobs += [job for job, _ in batch if not job.done.done()]
                self._ended += jobs is self._short
                self._changed.notify_all()
            if jobs is self._long:
                self._let_pass()

    def _next(self, jobs: list[QueuedJob]) -> Slice:
        """Wait for work and return the next slice, an empty list after `close`."""
        with self._changed:
            batch: Slice = []
            while not batch and not self._closed:
                self._changed.wait_for(lambda: self._closed or jobs)
                batch = [] if self._closed else _taken(jobs)
                self._changed.notify_all()  # cancelled jobs are gone
            self._begun += jobs is self._short
            return batch

    def _pause_of(self, batch: Slice, jobs: list[QueuedJob]) -> Pause:
        calls = count(1)

        def pause() -> None:
            if self._closed or all(job.done.cancelled() for job, _ in batch):
                raise NobodyWaitsError
            if jobs is self._long and next(calls) % _STEPS == 0:
                self._let_pass()

        return pause

    def _let_pass(self) -> None:
        """Wait until a short slice is done, if any is waiting or under way."""
        with self._changed:
            ended = self._ended
            self._changed.wait_for(
                lambda: self._closed or self._ended > ended or not (self._short or self._begun > self._ended)
            )

    def _try(self, batch: Slice, pause: Pause) -> None:
        sentences = [sentence for job, number in batch for sentence in job.sentences[:number]]
        try:
            results = iter(self._work[batch[0][0].key](sentences, pause))
        except BaseException as error:  # whoever waits gets the error; doing each job alone shows whose it is
            if len(batch) == 1:
                batch[0][0].end(error)
            else:
                for one in batch:
                    self._try([one], pause)
            return
        for job, number in batch:
            job.sentences = job.sentences[number:]
            job.results += islice(results, number)
            if not job.sentences:
                job.end()


def _taken(jobs: list[QueuedJob]) -> Slice:
    """Remove from `jobs` what fits into a slice: sentences of the first job, and further jobs that fit whole."""
    jobs[:] = [job for job in jobs if not job.done.done()]
    batch: Slice = []
    left = SLICE[jobs[0].key[1]] if jobs else 0.0
    for job in [job for job in jobs if job.key == jobs[0].key]:
        costs = list(accumulate(map(_cost, job.sentences)))
        number = max(bisect_right(costs, left), not batch)
        if batch and number < len(costs):
            break
        batch.append((job, number))
        jobs.remove(job)
        left -= costs[number - 1]
    return batch


def _cost(sentence: Any) -> float:
    """Return the time of a sentence, in units that take about equally long for all lengths."""
    words = len(sentence.forms)
    return 8 + words + words * words / 300


def work_of(parsers: dict[str, Parser]) -> dict[tuple[str, str], Work]:
    """Return key → function that parses sentences, or traces derivations, with one of the models; see `Batches`."""
    kinds: dict[str, Callable[..., Sequence[Any]]] = {PARSE: _parses, DRAW: _drawn, TRACE: _traces}
    return {(name, kind): partial(work, parser) for name, parser in parsers.items() for kind, work in kinds.items()}


def _parses(parser: Parser, sentences: Sequence[Any], pause: Pause) -> list[dict[str, Any]]:
    parses = parser.parse_stream(sentences)
    return [{**parser.formalism.parse_as_data(parse), "score": parse.score} for parse in parses]


def _drawn(parser: Parser, sentences: Sequence[Any], pause: Pause) -> list[dict[str, Any]]:
    parses = parser.parse_stream(sentences)
    of_parse = parser.formalism.parse_as_data
    return [{**of_parse(parse), "score": parse.score, "drawings": parse.drawings()} for parse in parses]


def _traces(parser: Parser, wanted: Sequence[ToTrace], pause: Pause) -> list[str]:
    found = (trace(parser, [one.sentence], pause=pause, only=one.derivation, drawings=one.drawings) for one in wanted)
    return [_json(one.as_data()) for (one,) in found]


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
