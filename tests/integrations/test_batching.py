"""Requests that wait are parsed together, in slices, and get what they would get alone."""

import asyncio
import json
from threading import Event

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser import Parser
from transition_parser.analysis.traces import trace
from transition_parser.graphs.conllu import Sentence
from transition_parser.integrations.batching import (
    PARSE,
    TRACE,
    Batches,
    BusyError,
    NobodyWaitsError,
    ToTrace,
    _cost,
    work_of,
)


def text(name: str, sentences: int = 1, words: int = 2) -> list[Sentence]:
    return [Sentence.from_words([f"{name}{i}", *["x"] * (words - 1)]) for i in range(sentences)]


class Noted:
    """Work that waits until it is let go. order: the first words of each slice."""

    def __init__(self) -> None:
        self.order: list[list[str]] = []
        self.begun, self.let_go = Event(), Event()

    def __call__(self, sentences, check):
        self.begun.set()
        assert self.let_go.wait(60)
        found = [one.forms[0] for one in sentences]
        self.order.append(found)
        if "bad0" in found:
            raise RuntimeError("bad")
        return found


THREE = 3.5 * _cost(text("a")[0])  # a slice of three sentences of two words


def results_of(requests, size=THREE, beside=None):
    """Return what each of some requests (work, sentences) gets that come while a first one is under way.

    beside: a function of the queue and the tasks of the requests, awaited before the first one may end
    """
    busy = Noted()

    async def run():
        batches = Batches(9, size)
        first = asyncio.create_task(batches.results(busy, text("first")))
        await asyncio.to_thread(busy.begun.wait, 60)
        tasks = [asyncio.create_task(batches.results(*request)) for request in requests]
        await asyncio.sleep(0)
        if beside is not None:
            await beside(batches, tasks)
        busy.let_go.set()
        found = await asyncio.gather(first, *tasks, return_exceptions=True)
        batches.close()
        return found[1:]

    return asyncio.run(run())


@pytest.fixture
def noted():
    work = Noted()
    work.let_go.set()
    return work


def test_what_waits_is_done_together_and_each_gets_its_own(noted):
    other = Noted()
    other.let_go.set()
    found = results_of([(noted, text("a", 2)), (other, text("b", 1)), (noted, text("c", 1))])
    assert found == [["a0", "a1"], ["b0"], ["c0"]]
    assert noted.order == [["a0", "c0", "a1"]] and other.order == [["b0"]]


def test_short_requests_are_in_the_next_slice_and_long_ones_take_turns(noted):
    found = results_of([(noted, text(name, 7)) for name in "ab"] + [(noted, text("short"))])
    assert found == [[f"{name}{i}" for i in range(7)] for name in "ab"] + [["short0"]]
    assert noted.order[0] == ["a0", "b0", "short0"] and max(map(len, noted.order)) == 3
    assert "".join(word[0] for part in noted.order[1:] for word in part) == "abababababab"


def test_models_take_turns(noted):
    order = []

    def other(sentences, check):
        order.append(len(noted.order))
        return [0] * len(sentences)

    results_of([(noted, text("a", 9)), (other, text("b", 6))])
    assert order == [1, 2]


def test_a_sentence_longer_than_a_slice_is_one(noted):
    assert results_of([(noted, [*text("a", 1, 2000), *text("b")])]) == [["a0", "b0"]]
    assert noted.order == [["a0"], ["b0"]]


@pytest.mark.parametrize("others", [0, 9], ids=["short", "long"])
def test_an_error_is_for_the_request_that_causes_it(noted, others):
    requests = [(noted, [*text(word), *text("x", others)]) for word in ("a", "bad", "b")]
    a, error, b = results_of(requests)
    assert (a[0], b[0]) == ("a0", "b0") and len(a) == len(b) == others + 1
    assert isinstance(error, RuntimeError)


def test_too_many_are_refused_and_cancelled_ones_left_out(noted):
    async def cancel(batches, tasks):
        with pytest.raises(BusyError):
            await batches.results(noted, text("b"))
        for task in tasks[:5]:
            task.cancel()

    found = results_of([(noted, text(f"a{i}")) for i in range(8)], beside=cancel)
    assert found[5:] == [["a50"], ["a60"], ["a70"]]
    assert sorted(word for part in noted.order for word in part) == ["a50", "a60", "a70"]


def test_closing_finishes_what_is_under_way_and_cancels_all(noted):
    async def close(batches, tasks):
        first = batches._waiting[0]
        first.work.let_go.set()
        batches.close()
        assert first.work.order == [["first0"]]

    (found,) = results_of([(noted, text("a"))], beside=close)
    assert isinstance(found, asyncio.CancelledError) and not noted.order


def test_work_ends_when_nobody_waits():
    begun, ended = Event(), Event()

    def work(sentences, check):
        begun.set()
        try:
            while True:
                check()
        except NobodyWaitsError:
            ended.set()
            raise

    async def run():
        batches = Batches(9)
        task = asyncio.create_task(batches.results(work, text("long")))
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        assert await asyncio.to_thread(ended.wait, 60)
        batches.close()

    asyncio.run(run())


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_parses_do_not_depend_on_how_a_text_is_cut(model, path):
    parser = Parser.load(model, beam=2, precision="fp32")
    sentences = list(parser.read(path))[:7]
    expected = [str(parse.annotated()) for parse in parser.parse(sentences)]
    work = work_of({model: parser})[model, PARSE]
    for size in (1, 60, 300):
        whole, backwards = results_of([(work, some) for some in (sentences, sentences[::-1])], size)
        assert [one["written"] for one in whole] == expected
        assert [one["written"] for one in backwards] == expected[::-1]


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_a_trace_is_json_and_asks_at_each_step_whether_to_go_on(model, path):
    parser = Parser.load(model, beam=3, precision="fp32")
    sentences = list(parser.read(path))[:2]
    checks: list[int] = []
    work = work_of({model: parser})[model, TRACE]
    found = work([ToTrace(one, 0) for one in sentences], lambda: checks.append(0))
    expected = [trace(parser, one, only=0).as_data() for one in sentences]
    assert [json.dumps(json.loads(one)) for one in found] == [json.dumps(one) for one in expected]
    assert len(checks) == sum(len(one["derivations"][0]["steps"]) for one in expected)
