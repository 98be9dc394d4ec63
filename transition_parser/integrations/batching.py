"""A bounded queue of requests, whose sentences are parsed in slices of a fixed size.

Each slice takes a sentence of every request that waits for the same kind of work, then another of each, until it is
full. So two words are in the next slice, whatever others have sent, and requests that come together share slices.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from transition_parser.analysis.traces import graph_data, trace
from transition_parser.parsing.parser import Parser

PARSE, DRAW, TRACE = "parse", "draw", "trace"  # DRAW: parse and draw
# the most `_cost` of a slice that has several sentences; to parse, 100 words in sentences of usual length
SLICE, SLICE_OF_TRACES = 250.0, 40.0

Check = Callable[[], None]  # called often by long work: raises `NobodyWaitsError`
Work = Callable[[Sequence[Any], Check], Sequence[Any]]


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
class _Request:
    work: Work
    left: deque[Any]  # the sentences without a result
    done: asyncio.Future[list[Any]]
    results: list[Any] = field(default_factory=list)


class Batches:
    """The queue and the thread that does the work. Results depend neither on other requests nor on slices."""

    def __init__(self, most_waiting: int, size: float = SLICE) -> None:
        self._most_waiting, self._size = most_waiting, size
        self._waiting: list[_Request] = []
        self._thread = ThreadPoolExecutor(1, "parsing")
        self._running: asyncio.Task | None = None

    async def results(self, work: Work, sentences: Sequence[Any]) -> list[Any]:
        """Return the result of each of one or more sentences. Raises `BusyError` where too many requests wait."""
        if len(self._waiting) >= self._most_waiting:
            raise BusyError
        request = _Request(work, deque(sentences), asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        try:
            return await request.done
        finally:
            self._waiting = [one for one in self._waiting if one is not request]

    def close(self) -> None:
        """Finish the slice that is being parsed, and cancel all requests."""
        for request in self._waiting:
            request.done.cancel()
        self._thread.shutdown()

    async def _run(self) -> None:
        while waiting := [request for request in self._waiting if not request.done.done()]:
            alike = [request for request in waiting if request.work == waiting[0].work]
            part = _slice_of(alike, self._size)
            await self._parse(part)
            last_turns = {request: place for place, (request, _) in enumerate(part)}
            self._waiting.sort(key=lambda request: last_turns.get(request, -1))

    async def _parse(self, part: Sequence[tuple[_Request, Any]]) -> None:
        requests = [*dict.fromkeys(request for request, _ in part)]

        def check() -> None:
            if all(request.done.done() for request in requests):
                raise NobodyWaitsError

        work, sentences = requests[0].work, [sentence for _, sentence in part]
        try:
            results = await asyncio.get_running_loop().run_in_executor(self._thread, work, sentences, check)
        except Exception as error:
            if len(requests) > 1:  # parsing the sentences of each request alone shows whose error it is
                for one in requests:
                    await self._parse([(request, sentence) for request, sentence in part if request is one])
            elif not requests[0].done.done():
                requests[0].done.set_exception(error)
            return
        for (request, _), result in zip(part, results, strict=True):
            request.results.append(result)
        for request in requests:
            if not request.left and not request.done.done():
                request.done.set_result(request.results)


def _slice_of(requests: Sequence[_Request], room: float) -> list[tuple[_Request, Any]]:
    """Take sentences from requests by turns, one each, until the slice is full; it has one sentence at least."""
    part: list[tuple[_Request, Any]] = []
    turns = deque(requests)
    while turns and (not part or _cost(turns[0].left[0]) <= room):
        request = turns.popleft()
        room -= _cost(request.left[0])
        part.append((request, request.left.popleft()))
        if request.left:
            turns.append(request)
    return part


def _cost(sentence: Any) -> float:
    """Return the time of a sentence, in units that take about equally long for all lengths."""
    words = len(sentence.forms)
    return 8 + words + words * words / 300


def work_of(parsers: dict[str, Parser]) -> dict[tuple[str, str], Work]:
    """Return (model, kind of work) → the function that parses sentences, or traces derivations; see `Batches`."""
    draw = partial(_parses, drawings=True)
    kinds: dict[str, Callable[..., Sequence[Any]]] = {PARSE: _parses, DRAW: draw, TRACE: _traces}
    return {(name, kind): partial(work, parser) for name, parser in parsers.items() for kind, work in kinds.items()}


def _parses(parser: Parser, sentences: Sequence[Any], check: Check, drawings: bool = False) -> list[dict[str, Any]]:
    return [graph_data(parse, parse.annotated(), drawings) for parse in parser.parse_stream(sentences)]


def _traces(parser: Parser, wanted: Sequence[ToTrace], check: Check) -> list[str]:
    found = (trace(parser, one.sentence, pause=check, only=one.derivation, drawings=one.drawings) for one in wanted)
    return [_json(one.as_data()) for one in found]


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
