"""Requests take turns in a thread, a slice of each, and get what they would get alone."""

import asyncio
import json
from functools import partial
from threading import Event
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi", reason="pip install '.[serve]'")
pytest.importorskip("uvicorn", reason="pip install '.[serve]'")

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser import Parser
from transition_parser.analysis.traces import trace
from transition_parser.graphs.conllu import Sentence
from transition_parser.integrations import server
from transition_parser.integrations.server import BusyError, Limits, Turns, _parses, _traces


def text(name: str, sentences: int = 1) -> list[Sentence]:
    return [Sentence.from_words([f"{name}{i}", "x"]) for i in range(sentences)]


class Noted:
    """Work that waits until it is let go. order: the first words of each slice."""

    def __init__(self) -> None:
        self.order: list[list[str]] = []
        self.begun, self.let_go = Event(), Event()

    def __call__(self, sentences):
        self.begun.set()
        assert self.let_go.wait(60)
        found = [one.forms[0] for one in sentences]
        self.order.append(found)
        if "bad0" in found:
            raise RuntimeError("bad")
        return found


@pytest.fixture(autouse=True)
def slices_of_three(monkeypatch):
    monkeypatch.setattr(server, "SLICE", 3)


def results_of(requests, beside=None):
    """Return what each of some requests (work, sentences) gets that come while a first one is under way.

    beside: a function of the turns, the tasks of the requests and the first work, awaited before that may end
    """
    busy = Noted()

    async def run():
        turns = Turns(Limits(waiting=9))
        first = asyncio.create_task(turns.results(lambda: text("first"), busy))
        await asyncio.to_thread(busy.begun.wait, 60)
        tasks = [asyncio.create_task(turns.results(partial(list, some), work)) for work, some in requests]
        await asyncio.sleep(0)
        if beside is not None:
            await beside(turns, tasks, busy)
        busy.let_go.set()
        found = await asyncio.gather(first, *tasks, return_exceptions=True)
        turns.close()
        return found[1:]

    return asyncio.run(run())


@pytest.fixture
def noted():
    work = Noted()
    work.let_go.set()
    return work


def test_short_requests_wait_for_one_slice_of_each_other_and_long_ones_take_turns(noted):
    found = results_of([(noted, text(name, 7)) for name in "ab"] + [(noted, text("short"))])
    assert found == [[f"{name}{i}" for i in range(7)] for name in "ab"] + [["short0"]]
    assert [(part[0][0], len(part)) for part in noted.order] == [
        *(("a", 3), ("b", 3), ("s", 1), ("a", 3), ("b", 3), ("a", 1), ("b", 1)),
    ]


@pytest.mark.parametrize("others", [0, 9], ids=["short", "long"])
def test_an_error_is_for_the_request_that_causes_it(noted, others):
    requests = [(noted, [*text(word), *text("x", others)]) for word in ("a", "bad", "b")]
    a, error, b = results_of(requests)
    assert (a[0], b[0]) == ("a0", "b0") and len(a) == len(b) == others + 1
    assert isinstance(error, RuntimeError)


def test_too_many_are_refused_and_cancelled_ones_left_out(noted):
    async def cancel(turns, tasks, busy):
        with pytest.raises(BusyError):
            await turns.results(lambda: text("b"), noted)
        for task in tasks[:5]:
            task.cancel()
        await asyncio.gather(*tasks[:5], return_exceptions=True)  # the thread may not take them before

    found = results_of([(noted, text(f"a{i}")) for i in range(8)], beside=cancel)
    assert found[5:] == [["a50"], ["a60"], ["a70"]]
    assert sorted(word for part in noted.order for word in part) == ["a50", "a60", "a70"]


def test_closing_finishes_what_is_under_way_and_cancels_all(noted):
    async def close(turns, tasks, busy):
        busy.let_go.set()
        turns.close()
        assert busy.order == [["first0"]]

    (found,) = results_of([(noted, text("a", 9))], beside=close)
    assert isinstance(found, asyncio.CancelledError) and len(noted.order) <= 1


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_parses_do_not_depend_on_how_a_text_is_cut(model, path, monkeypatch):
    parser = Parser.load(model, beam=2, precision="fp32")
    sentences = list(parser.read(path))[:7]
    expected = [str(parse.annotated()) for parse in parser.parse(sentences)]
    asked = SimpleNamespace(drawing=False)

    def work(some):
        return _parses(parser, asked, some)

    for size in (1, 3, 7):
        monkeypatch.setattr(server, "SLICE", size)
        whole, backwards = results_of([(work, some) for some in (sentences, sentences[::-1])])
        assert [one["written"] for one in whole] == expected
        assert [one["written"] for one in backwards] == expected[::-1]


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_a_trace_is_json(model, path):
    parser = Parser.load(model, beam=3, precision="fp32")
    sentences = list(parser.read(path))[:2]
    asked = SimpleNamespace(derivation=0, drawing=False)
    found = _traces(parser, asked, sentences)
    expected = [trace(parser, one, only=0).as_data() for one in sentences]
    assert [json.dumps(json.loads(one)) for one in found] == [json.dumps(one) for one in expected]
