"""Requests that wait are parsed together, and get what they would get alone."""

from concurrent.futures import CancelledError
from threading import Event, Thread

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser import Parser
from transition_parser.graphs.conllu import Sentence
from transition_parser.integrations.batching import PARSE, TRACE, Batches, BusyError, work_of

KEY = ("model", PARSE)


def sentence(*words: str) -> Sentence:
    return Sentence.from_words(words)


class Held:
    """Work that waits until it is let go. sizes: how many sentences were done at a time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.begun, self.let_go = Event(), Event()

    def __call__(self, sentences):
        self.begun.set()
        assert self.let_go.wait(60)
        self.sizes.append(len(sentences))
        if any(one.forms[0] == "bad" for one in sentences):
            raise RuntimeError("bad")
        return [" ".join(one.forms) for one in sentences]


@pytest.fixture
def held():
    work = Held()
    batches = Batches({KEY: work, ("other", PARSE): work}, most_words=10, most_waiting=9)
    yield work, batches
    work.let_go.set()
    batches.close()


def begin(work, batches):
    """The thread is busy with one job; what comes now waits."""
    first = batches.submit(KEY, [sentence("first")])
    assert work.begun.wait(60)
    return first


def test_what_waits_is_done_together_and_each_gets_its_own(held):
    work, batches = held
    first = begin(work, batches)
    jobs = [batches.submit(KEY, [sentence("a", str(i)), sentence("b", str(i))]) for i in range(2)]
    work.let_go.set()
    assert first.result(60) == ["first"]
    assert [job.result(60) for job in jobs] == [["a 0", "b 0"], ["a 1", "b 1"]]
    assert work.sizes == [1, 4]


def test_a_batch_has_one_model_and_so_many_words(held):
    work, batches = held
    begin(work, batches)
    long = [sentence(*"123456")]
    jobs = [batches.submit(key, long) for key in (KEY, ("other", PARSE), KEY, ("other", PARSE))]
    jobs.append(batches.submit(KEY, [sentence("4", "words", "fit", "in")]))
    work.let_go.set()
    assert all(job.result(60) for job in jobs)
    assert work.sizes == [1, 2, 1, 1, 1]  # first; the first long one and the short one; then one by one


def test_an_error_is_for_the_job_that_causes_it(held):
    work, batches = held
    begin(work, batches)
    jobs = [batches.submit(KEY, [sentence(word)]) for word in ("a", "bad", "b")]
    work.let_go.set()
    assert [jobs[0].result(60), jobs[2].result(60)] == [["a"], ["b"]]
    with pytest.raises(RuntimeError, match="bad"):
        jobs[1].result(60)
    assert batches.submit(KEY, [sentence("after")]).result(60) == ["after"]


def test_too_many_are_refused_and_cancelled_ones_left_out(held):
    work, batches = held
    begin(work, batches)
    jobs = [batches.submit(KEY, [sentence("a")]) for _ in range(9)]
    with pytest.raises(BusyError):
        batches.submit(KEY, [sentence("a")])
    assert all(job.cancel() for job in jobs[:5])
    work.let_go.set()
    assert [job.result(60) for job in jobs[5:]] == [["a"]] * 4
    assert sum(work.sizes) == 1 + 4


def test_closing_finishes_what_is_under_way_and_cancels_the_rest(held):
    work, batches = held
    first = begin(work, batches)
    waits = batches.submit(KEY, [sentence("a")])
    closing = Thread(target=batches.close)
    closing.start()
    with pytest.raises(CancelledError):
        waits.result(60)
    assert not first.done() and closing.is_alive()
    work.let_go.set()
    assert first.result(60) == ["first"]
    closing.join(60)
    with pytest.raises(BusyError):
        batches.submit(KEY, [sentence("late")])


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
@pytest.mark.parametrize("what", [PARSE, TRACE])
def test_results_do_not_depend_on_the_batch(model, path, what):
    parser = Parser.load(model, beam=3, precision="fp32")
    work = work_of({model: parser})[model, what]
    sentences = list(parser.read(path))[:7]
    alone, together = [work([one])[0] for one in sentences], work(sentences)
    graph = (lambda found: found["written"]) if what == PARSE else (lambda found: found["derivations"][0]["graph"])
    assert [*map(graph, alone)] == [*map(graph, together)]
    written = [one["written"] if what == PARSE else one["derivations"][0]["graph"]["written"] for one in together]
    assert written == [str(parse.annotated()) for parse in parser.parse(sentences)]
