"""Requests that come at the same time, parsed together and in turns: one thread takes sentences of all that wait.

A request is cut between its sentences, so that a short request goes before the rest of a long one. Requests are served
in the order in which they would end if all that wait shared the parser equally, word by word: none ends much later than
it then would, and most end sooner. A batch takes about `SECONDS`, whatever the model and the machine are.

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

SECONDS = 0.4  # of a batch: who comes waits for the rest of one, and gets into the next
_FEW_WORDS = 256  # that a batch may always have


class BusyError(Exception):
    """So much waits already that no more is taken."""


@dataclass(eq=False)
class Job:
    """Sentences of one request.

    key: model and work; jobs with the same one are done together.
    sentences: what to do it with, one or more.
    turn: when it would end if all shared equally, in words of each; the lowest is next.
    taken: number of sentences that a batch has, or has had.
    results: of the sentences that are done, in order.
    """

    key: tuple[str, str]
    sentences: Sequence[Any]
    turn: float = 0.0
    taken: int = 0
    results: list[Any] = field(default_factory=list)
    done: Future = field(default_factory=Future)

    @property
    def next_words(self) -> int:
        """Length of its next sentence."""
        return len(self.sentences[self.taken].forms)

    @property
    def words_left(self) -> int:
        """Length of all its sentences that no batch has had."""
        return sum(len(sentence.forms) for sentence in self.sentences[self.taken :])

    def take(self) -> Any:
        """The next sentence."""
        self.taken += 1
        return self.sentences[self.taken - 1]

    @property
    def waits(self) -> bool:
        """Whether there are sentences to take, and somebody who wants their results."""
        return self.taken < len(self.sentences) and not self.done.done()

    def add(self, results: Sequence[Any]) -> None:
        """Keeps the results of the sentences that were taken last; the last of them finish the job."""
        self.results += results
        if len(self.results) == len(self.sentences) and self.done.set_running_or_notify_cancel():
            self.done.set_result(self.results)

    def fail(self, error: BaseException) -> None:
        """Ends the job with an error."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


Batch = list[tuple[Job, list[Any]]]  # jobs, and their sentences in the batch


class _Shares:
    """The imagined parser that all requests share equally. now: the words that each has had which is still there."""

    def __init__(self) -> None:
        self.now = 0.0
        self._jobs: list[Job] = []  # that have not ended here, by their turns

    def add(self, job: Job) -> None:
        """Sets the turn of a new job."""
        job.turn = self.now + job.words_left
        insort(self._jobs, job, key=_turn)

    def pass_on(self, words: float) -> None:
        """Shares as many words of work among the jobs; of cancelled ones no more is done."""
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
    """The thread and its queue. The results of a job depend neither on other jobs nor on how it is cut.

    work: key → a function from sentences to as many results.
    most_words: of a batch; a longer sentence is a batch by itself.
    most_waiting: jobs; more are refused.
    seconds: how long a batch should take; where one took longer, the next of its key has fewer words.
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
        self._waiting: list[Job] = []
        self._shares = _Shares()
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._run, name="parsing")
        self._thread.start()

    def submit(self, key: tuple[str, str], sentences: Sequence[Any]) -> Future:
        """The future results of one sentence or more. Once it is cancelled, no more of its sentences are begun. Raises
        `BusyError`."""
        job = Job(key, sentences)
        with self._changed:
            self._waiting = [one for one in self._waiting if one.waits]
            if self._closed or len(self._waiting) >= self._most_waiting:
                raise BusyError
            self._shares.add(job)
            self._waiting.append(job)
            self._changed.notify()
        return job.done

    def close(self) -> None:
        """Finishes the batch that is being parsed; what waits is cancelled."""
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
            except BaseException as error:  # of one of them: each by itself says whose it is
                if len(batch) == 1:
                    batch[0][0].fail(error)
                    continue
                for one in batch:
                    self._do_alone(one)
            self._adapt(batch, time.perf_counter() - begin)

    def _do_alone(self, one: tuple[Job, list[Any]]) -> None:
        try:
            self._do([one])
        except BaseException as error:  # for whoever waits for it
            one[0].fail(error)

    def _do(self, batch: Batch) -> None:
        results = iter(self._work[batch[0][0].key]([sentence for _, sentences in batch for sentence in sentences]))
        each = [[next(results) for _ in sentences] for _, sentences in batch]
        for (job, _), its in zip(batch, each, strict=True):
            job.add(its)

    def _adapt(self, batch: Batch, took: float) -> None:
        """Sets the words of the next batch of the same key: fewer after one that took long, at most twice as many after
        a full one that did not."""
        key, words = batch[0][0].key, _words(batch)
        if took > self._seconds:
            self._limits[key] = max(min(_FEW_WORDS, self._most_words), int(words * self._seconds / took))
        elif 2 * words > self._limits[key]:
            self._limits[key] = min(self._most_words, int(self._limits[key] * min(2.0, self._seconds / took)))

    def _next(self) -> Batch:
        """The next batch, nothing once it is closed."""
        batch: Batch = []
        with self._changed:
            while not batch:
                self._changed.wait_for(lambda: self._closed or any(job.waits for job in self._waiting))
                if self._closed:
                    return []
                self._waiting = [job for job in self._waiting if job.waits]
                batch = self._batch()  # nothing where all of them were cancelled in the meantime
        return batch

    def _batch(self) -> Batch:
        """The sentence whose turn it is, and more of the same key."""
        if not self._waiting:
            return []
        key = min(self._waiting, key=_turn).key
        return self._taken([job for job in self._waiting if job.key == key], self._limits[key])

    def _taken(self, jobs: list[Job], most_words: int) -> Batch:
        """Sentences in the order of their turns, at least one, as long as they have no more words together. A request
        that can't end in this batch is begun or continued in it only as the first: others would have to wait for it."""
        found: dict[Job, list[Any]] = {}
        words = 0
        for job in sorted(jobs, key=_turn):
            if found and words + job.words_left > most_words:
                break
            while job.waits and (not found or words + job.next_words <= most_words):
                words += job.next_words
                found.setdefault(job, []).append(job.take())
        self._shares.pass_on(words)
        return list(found.items())


def _turn(job: Job) -> float:
    return job.turn


def _words(batch: Batch) -> int:
    return sum(len(sentence.forms) for _, sentences in batch for sentence in sentences)


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
