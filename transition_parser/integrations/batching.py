"""A queue that parses sentences of simultaneous requests together, in turns, on one thread.

A request is cut between its sentences, so that a short request overtakes the rest of a long one. Requests are served
in the order in which they would end if all waiting requests shared the parser equally, word by word. No request ends
much later than under equal sharing, and most end sooner. A batch takes about `SECONDS` on any model and machine.

Source: Friedman and Henderson 2003, Fairness and efficiency in web server protocols (the fair sojourn protocol).
"""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Thread
from typing import Any

from transition_parser.analysis.traces import trace
from transition_parser.parsing.parser import Parser

SECONDS = 0.4  # time of a batch; a new request waits for the rest of the current batch and joins the next
_FEW_WORDS = 256  # every batch may have this many words, even on a slow machine


class BusyError(Exception):
    """The error of a full queue: too many requests are waiting already."""


@dataclass(eq=False)
class QueuedJob:
    """The sentences of one request.

    key: the model and the kind of work; jobs with equal keys are done together
    sentences: one or more sentences to work on
    turn: virtual time (see `_Shares`) at which the job would end under equal sharing; the lowest turn is served next
    taken: number of sentences that have been put into batches
    results: the results of the finished sentences, in order
    done: the future of all results
    """

    key: tuple[str, str]
    sentences: Sequence[Any]
    turn: float = 0.0
    taken: int = 0
    results: list[Any] = field(default_factory=list)
    done: Future = field(default_factory=Future)

    @property
    def next_words(self) -> int:
        """The number of words of the next sentence."""
        return len(self.sentences[self.taken].forms)

    @property
    def words_left(self) -> int:
        """The number of words of all sentences that have not been taken."""
        return sum(len(sentence.forms) for sentence in self.sentences[self.taken :])

    def take(self) -> Any:
        """Return the next sentence, and count it as taken."""
        self.taken += 1
        return self.sentences[self.taken - 1]

    @property
    def waits(self) -> bool:
        """True if sentences are left and somebody still wants their results."""
        return self.taken < len(self.sentences) and not self.done.done()

    def add(self, results: Sequence[Any]) -> None:
        """Append the results of the sentences taken last, and finish the job if it now has all results."""
        self.results += results
        if len(self.results) == len(self.sentences) and self.done.set_running_or_notify_cancel():
            self.done.set_result(self.results)

    def fail(self, error: BaseException) -> None:
        """End the job with an error."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


Batch = list[tuple[QueuedJob, list[Any]]]  # pairs of a job and its sentences in the batch


class _Shares:
    """A simulated parser that all requests share equally; it determines the turns of the jobs.

    now: virtual time; it grows by the words that the parser would process for each unfinished job
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._jobs: list[QueuedJob] = []  # the jobs that the simulation has not finished, in the order of their turns

    def add(self, job: QueuedJob) -> None:
        """Set the turn of a new job."""
        job.turn = self.now + job.words_left
        insort(self._jobs, job, key=_turn)

    def pass_on(self, words: float) -> None:
        """Share `words` words of work equally among the unfinished jobs; cancelled jobs get nothing."""
        self._jobs = [job for job in self._jobs if not job.done.cancelled()]
        while words > 0 and self._jobs:
            each = words / len(self._jobs)
            ends = self._jobs[0].turn - self.now
            if each < ends:
                self.now += each
                return
            self.now = self._jobs[0].turn
            words -= ends * len(self._jobs)
            del self._jobs[0]


class Batches:
    """The parsing thread and its queue.

    The results of a job depend neither on other jobs nor on how the job is divided into batches.

    work: key, as in `QueuedJob` → function that returns one result for each sentence
    most_words: largest number of words of a batch; a longer sentence is a batch by itself
    most_waiting: largest number of jobs in the queue; further jobs are refused
    seconds: intended time of a batch; after a slower batch, the next one with the same key has fewer words
    """

    def __init__(
        self,
        work: dict[tuple[str, str], Callable[[Sequence], Sequence]],
        most_words: int,
        most_waiting: int,
        seconds: float = SECONDS,
    ) -> None:
        self._work, self._most_words, self._most_waiting, self._seconds = work, most_words, most_waiting, seconds
        self._limits = dict.fromkeys(work, min(most_words, _FEW_WORDS))
        self._waiting: list[QueuedJob] = []
        self._shares = _Shares()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._run, name="parsing")
        self._thread.start()

    def submit(self, key: tuple[str, str], sentences: Sequence[Any]) -> Future:
        """Queue one or more sentences, and return the future of their results.

        After the future is cancelled, no further sentence is begun. Raises `BusyError` for a full or closed queue.
        """
        job = QueuedJob(key, sentences)
        with self._changed:
            self._waiting = [one for one in self._waiting if one.waits]
            if self._closed or len(self._waiting) >= self._most_waiting:
                raise BusyError
            self._shares.add(job)
            self._waiting.append(job)
            self._changed.notify()
        return job.done

    def close(self) -> None:
        """Finish the batch that is being parsed, and cancel all waiting jobs."""
        with self._changed:
            self._closed = True
            while self._waiting:
                self._waiting.pop().done.cancel()
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next():
            begin = time.perf_counter()
            try:
                self._do(batch)
            except BaseException as error:  # running each job alone shows which one fails
                if len(batch) == 1:
                    batch[0][0].fail(error)
                    continue
                for one in batch:
                    self._do_alone(one)
            self._adapt(batch, time.perf_counter() - begin)

    def _do_alone(self, one: tuple[QueuedJob, list[Any]]) -> None:
        try:
            self._do([one])
        except BaseException as error:  # whoever waits for the job gets the error
            one[0].fail(error)

    def _do(self, batch: Batch) -> None:
        results = iter(self._work[batch[0][0].key]([sentence for _, sentences in batch for sentence in sentences]))
        each = [[next(results) for _ in sentences] for _, sentences in batch]
        for (job, _), its in zip(batch, each, strict=True):
            job.add(its)

    def _adapt(self, batch: Batch, took: float) -> None:
        """Set the number of words of the next batch with the same key.

        A batch that took too long may lower the limit, though not below `_FEW_WORDS`. A fast batch that was more than
        half full raises the limit, at most to twice its value.
        """
        key, words = batch[0][0].key, _words(batch)
        if took > self._seconds:
            most = max(min(_FEW_WORDS, self._most_words), int(words * self._seconds / took))
            self._limits[key] = min(most, self._limits[key])  # a long sentence may be a batch beyond the limit
        elif 2 * words > self._limits[key]:
            self._limits[key] = min(self._most_words, int(self._limits[key] * min(2.0, self._seconds / took)))

    def _next(self) -> Batch:
        """Wait for work and return the next batch; return an empty list after `close`."""
        batch: Batch = []
        with self._changed:
            while not batch:
                self._changed.wait_for(lambda: self._closed or any(job.waits for job in self._waiting))
                if self._closed:
                    return []
                self._waiting = [job for job in self._waiting if job.waits]
                batch = self._batch()  # empty if all jobs have just been cancelled
        return batch

    def _batch(self) -> Batch:
        """Return the next sentence in turn, with further sentences of the same key; empty if no job waits."""
        if not self._waiting:
            return []
        key = min(self._waiting, key=_turn).key
        return self._taken([job for job in self._waiting if job.key == key], self._limits[key])

    def _taken(self, jobs: list[QueuedJob], most_words: int) -> Batch:
        """Take at least one sentence, in the order of turns, up to `most_words` words in all.

        A job that does not fit into the batch whole is begun only if it is first: it would hold up the others.
        """
        found: dict[QueuedJob, list[Any]] = {}
        words = 0
        for job in sorted(jobs, key=_turn):
            if found and words + job.words_left > most_words:
                break
            while job.waits and (not found or words + job.next_words <= most_words):
                words += job.next_words
                found.setdefault(job, []).append(job.take())
        self._shares.pass_on(words)
        return list(found.items())


def _turn(job: QueuedJob) -> float:
    return job.turn


def _words(batch: Batch) -> int:
    return sum(len(sentence.forms) for _, sentences in batch for sentence in sentences)


PARSE, TRACE = "parse", "trace"


def work_of(parsers: dict[str, Parser]) -> dict[tuple[str, str], Callable[[Sequence], Sequence]]:
    """Return key → function that parses sentences, or traces derivations, with one of the models; see `Batches`."""
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
    """Yield the queue of `parsers`, and close it when the block ends."""
    found = Batches(work_of(parsers), most_words, most_waiting)
    try:
        yield found
    finally:
        found.close()
