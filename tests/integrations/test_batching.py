"""Requests that wait are parsed together, in slices, and get what they would get alone."""

import json
from concurrent.futures import CancelledError, Future
from threading import Event, Thread

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser import Parser
from transition_parser.analysis.traces import trace
from transition_parser.graphs.conllu import Sentence
from transition_parser.integrations.batching import (
    PARSE,
    SLICE,
    TRACE,
    Batches,
    BusyError,
    NobodyWaitsError,
    ToTrace,
    _cost,
    work_of,
)

KEY, OTHER = ("model", PARSE), ("other", PARSE)


def text(name: str, sentences: int = 1, words: int = 2) -> list[Sentence]:
    return [Sentence.from_words([f"{name}{i}", *["x"] * (words - 1)]) for i in range(sentences)]


class Noted:
    """Work that waits until it is let go. order: the first words of each slice."""

    def __init__(self) -> None:
        self.order: list[list[str]] = []
        self.begun, self.let_go = Event(), Event()

    def __call__(self, sentences, pause):
        self.begun.set()
        assert self.let_go.wait(60)
        found = [one.forms[0] for one in sentences]
        self.order.append(found)
        if "bad0" in found:
            raise RuntimeError("bad")
        return found


@pytest.fixture
def noted(monkeypatch):
    """The work, and a queue with slices of at most three sentences of two words, for either model."""
    monkeypatch.setitem(SLICE, PARSE, 3.5 * _cost(text("a")[0]))
    work = Noted()
    batches = Batches({KEY: work, OTHER: work}, most_waiting=9)
    yield work, batches
    work.let_go.set()
    batches.close()


def begin(work, batches):
    """The thread of short requests is busy; what comes now waits."""
    first = batches.submit(KEY, text("first"))
    assert work.begun.wait(60)
    return first


def test_what_waits_is_done_together_and_each_gets_its_own(noted):
    work, batches = noted
    begin(work, batches)
    jobs = [batches.submit(key, text(name, n)) for key, name, n in [(KEY, "a", 2), (OTHER, "b", 1), (KEY, "c", 1)]]
    work.let_go.set()
    assert [job.result(60) for job in jobs] == [["a0", "a1"], ["b0"], ["c0"]]
    assert work.order == [["first0"], ["a0", "a1", "c0"], ["b0"]]


def test_short_requests_do_not_wait_for_long_ones_and_long_ones_take_turns(noted):
    work, batches = noted
    begin(work, batches)
    long = [batches.submit(KEY, text(name, 7)) for name in "ab"]
    short = batches.submit(KEY, text("short"))
    work.let_go.set()
    assert [one.result(60) for one in long] == [[f"{name}{i}" for i in range(7)] for name in "ab"]
    assert short.result(60) == ["short0"] and ["short0"] in work.order
    slices = [one[0][0] for one in work.order if one[0][0] in "ab"]
    assert slices[:4] in (list("abab"), list("baba"))


def test_a_sentence_longer_than_a_slice_is_one(noted):
    work, batches = noted
    work.let_go.set()
    assert batches.submit(KEY, [*text("a", 1, 2000), *text("b")]).result(60) == ["a0", "b0"]
    assert work.order == [["a0"], ["b0"]]


@pytest.mark.parametrize("others", [0, 9], ids=["short", "long"])
def test_an_error_is_for_the_job_that_causes_it(noted, others):
    work, batches = noted
    begin(work, batches)
    jobs = [batches.submit(KEY, [*text(word), *text("x", others)]) for word in ("a", "bad", "b")]
    work.let_go.set()
    assert [jobs[i].result(60)[0] for i in (0, 2)] == ["a0", "b0"]
    with pytest.raises(RuntimeError, match="bad"):
        jobs[1].result(60)
    assert batches.submit(KEY, text("after")).result(60) == ["after0"]


def test_too_many_are_refused_and_cancelled_ones_left_out(noted):
    work, batches = noted
    begin(work, batches)
    jobs = [batches.submit(KEY, text(f"a{i}")) for i in range(9)]
    with pytest.raises(BusyError):
        batches.submit(KEY, text("b"))
    assert all(job.cancel() for job in jobs[:5])
    assert not batches.submit(KEY, text("b")).done()
    work.let_go.set()
    assert all(job.result(60) for job in jobs[5:])
    assert not any(word.startswith(("a00", "a40")) for one in work.order for word in one)


def test_closing_finishes_what_is_under_way_and_cancels_the_rest(noted):
    work, batches = noted
    first, waits = begin(work, batches), batches.submit(KEY, text("a"))
    closing = Thread(target=batches.close)
    closing.start()
    with pytest.raises(CancelledError):
        waits.result(60)
    assert not first.done() and closing.is_alive()
    work.let_go.set()
    assert first.result(60) == ["first0"]
    closing.join(60)
    with pytest.raises(BusyError):
        batches.submit(KEY, text("late"))


@pytest.fixture
def queue():
    """Make a queue of some work, which is closed at the end."""
    made = []

    def make(work):
        made.append(Batches({KEY: work}, most_waiting=9))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_long_work_that_cannot_be_divided_pauses_for_short_slices(queue):
    """For one slice after some steps, so that neither stops the other."""
    done: list[int] = []

    def work(sentences, pause):
        if len(sentences[0].forms) < 9:
            return [0]
        for step in range(40):
            if not step % 8:
                done.append(sum(one.done() for one in short))
                short.append(batches.submit(KEY, text("short")))
            pause()
        return [0]

    short: list = []
    batches = queue(work)
    assert batches.submit(KEY, text("long", 1, 2000)).result(60) == [0]
    assert done == [0, 1, 2, 3, 4] and [one.result(60) for one in short] == [[0]] * 5


def test_two_words_are_the_next_slice_whatever_others_have_sent(queue, monkeypatch):
    """Slices have a fixed size, however short their time seems, as where other threads do the work."""
    slices: list[list[str]] = []
    sent: dict[int, Future] = {}
    go = Event()
    monkeypatch.setitem(SLICE, PARSE, 500.0)

    def work(sentences, pause):
        assert go.wait(60)
        slices.append([one.forms[0] for one in sentences])
        if len(slices) % 10 == 1 and len(slices) < 60:
            sent[len(slices)] = batches.submit(KEY, text(f"two words of {len(slices)} "))
        return [0] * len(sentences)

    batches = queue(work)
    long = [batches.submit(KEY, text(name, 96, 20)) for name in "abcd"]
    go.set()
    assert all(one.result(60) == [0] * 96 for one in long) and len(sent) == 3
    most = int(SLICE[PARSE] / _cost(text("a", 1, 20)[0]))
    assert max(map(len, slices)) == most
    for number, one in sent.items():
        assert one.result(60) == [0] and slices[number] == [f"two words of {number} 0"]
    turns = [one[0][0] for one in slices if one[0][0] in "abcd"]
    assert len(turns) == 4 * -(-96 // most)
    assert {tuple(sorted(turns[i : i + 4])) for i in range(0, len(turns), 4)} == {("a", "b", "c", "d")}


def test_work_ends_when_nobody_waits(queue):
    begun, ended = Event(), Event()

    def work(sentences, pause):
        begun.set()
        try:
            while True:
                pause()
        except NobodyWaitsError:
            ended.set()
            raise

    long = queue(work).submit(KEY, text("long", 1, 2000))
    assert begun.wait(60) and long.cancel() and ended.wait(60)


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_parses_do_not_depend_on_how_a_text_is_cut(model, path, monkeypatch):
    parser = Parser.load(model, beam=2, precision="fp32")
    sentences = list(parser.read(path))[:7]
    expected = [str(parse.annotated()) for parse in parser.parse(sentences)]
    for budget in (1, 60, 300):
        monkeypatch.setitem(SLICE, PARSE, budget)
        batches = Batches(work_of({model: parser}), most_waiting=9)
        whole, backwards = (batches.submit((model, PARSE), some) for some in (sentences, sentences[::-1]))
        assert [one["written"] for one in whole.result(60)] == expected
        assert [one["written"] for one in backwards.result(60)] == expected[::-1]
        batches.close()


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_a_trace_is_json_and_pauses_at_each_step(model, path):
    parser = Parser.load(model, beam=3, precision="fp32")
    sentences = list(parser.read(path))[:2]
    pauses: list[int] = []
    work = work_of({model: parser})[model, TRACE]
    found = work([ToTrace(one, 0) for one in sentences], lambda: pauses.append(0))
    expected = [one.as_data() for one in trace(parser, sentences, only=0)]
    assert [json.dumps(json.loads(one)) for one in found] == [json.dumps(one) for one in expected]
    assert len(pauses) == sum(len(one["derivations"][0]["steps"]) for one in expected)
