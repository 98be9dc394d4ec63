"""Requests that come at the same time, parsed together: one thread takes what waits, and parses it as one batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Thread
from typing import Any

from transition_parser.parser import Parser
from transition_parser.traces import trace


class BusyError(Exception):
    """So much waits already that no more is taken."""


@dataclass(frozen=True)
class Job:
    """What to do with sentences. key: jobs with the same one are done together, of one model. words: how many."""

    key: tuple[str, str]
    sentences: Sequence[Any]
    words: int
    done: Future = field(default_factory=Future)


class Batches:
    """The thread and its queue. What a job gives does not depend on those it is done with.

    work: key → a function from sentences to as many results. most_words: of a batch; a longer job is one by itself.
    most_waiting: jobs; more are refused.
    """

    def __init__(
        self, work: dict[tuple[str, str], Callable[[Sequence], Sequence]], most_words: int, most_waiting: int
    ) -> None:
        self._work, self._most_words, self._most_waiting = work, most_words, most_waiting
        self._waiting: deque[Job] = deque()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._run, name="parsing")
        self._thread.start()

    def submit(self, key: tuple[str, str], sentences: Sequence[Any]) -> Future:
        """What will be the results of some sentences. A future that is cancelled before its turn is left out. Raises
        `BusyError`."""
        job = Job(key, sentences, sum(len(sentence.forms) for sentence in sentences))
        with self._changed:
            if self._closed or len(self._waiting) >= self._most_waiting:
                raise BusyError
            self._waiting.append(job)
            self._changed.notify()
        return job.done

    def close(self) -> None:
        """Finishes what is being parsed; what waits is cancelled."""
        with self._changed:
            self._closed = True
            while self._waiting:
                self._waiting.popleft().done.cancel()
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._next():
            running = [job for job in jobs if job.done.set_running_or_notify_cancel()]
            try:
                self._do(running)
            except BaseException as error:  # of one of them: each by itself says whose it is
                if len(running) == 1:
                    running[0].done.set_exception(error)
                    continue
                for job in running:
                    self._do_alone(job)

    def _do_alone(self, job: Job) -> None:
        try:
            self._do([job])
        except BaseException as error:  # for whoever waits for it
            job.done.set_exception(error)

    def _do(self, jobs: Sequence[Job]) -> None:
        if not jobs:
            return
        results = iter(self._work[jobs[0].key]([sentence for job in jobs for sentence in job.sentences]))
        each = [[next(results) for _ in job.sentences] for job in jobs]
        for job, its in zip(jobs, each, strict=True):
            job.done.set_result(its)

    def _next(self) -> list[Job]:
        """The jobs of the next batch, none once it is closed: the one that waits longest, and others of its kind."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if not self._waiting:
                return []
            jobs = [self._waiting.popleft()]
            words = jobs[0].words
            for job in list(self._waiting):
                if job.key == jobs[0].key and words + job.words <= self._most_words:
                    jobs.append(job)
                    words += job.words
                    self._waiting.remove(job)
            return jobs


PARSE, TRACE = "parse", "trace"


def work_of(parsers: dict[str, Parser]) -> dict[tuple[str, str], Callable[[Sequence], Sequence]]:
    """What there is to do with each model: parses as plain data, and traces as plain data."""
    work: dict[tuple[str, str], Callable[[Sequence], Sequence]] = {}
    for name, parser in parsers.items():
        work[name, PARSE] = partial(_parses, parser)
        work[name, TRACE] = partial(_traces, parser)
    return work


def _parses(parser: Parser, sentences: Sequence[Any]) -> list[dict[str, Any]]:
    parses = parser.parse_stream(sentences)
    return [{**parser.formalism.parse_as_data(parse), "score": parse.score} for parse in parses]


def _traces(parser: Parser, sentences: Sequence[Any]) -> list[dict[str, Any]]:
    return [one.as_data() for one in trace(parser, sentences)]


@contextmanager
def batches(parsers: dict[str, Parser], most_words: int, most_waiting: int) -> Iterator[Batches]:
    """Those of some models, closed at the end."""
    found = Batches(work_of(parsers), most_words, most_waiting)
    try:
        yield found
    finally:
        found.close()
