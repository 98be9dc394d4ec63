"""Requests that wait are parsed together, and get what they would get alone."""

from concurrent.futures import CancelledError
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser import Parser
from transition_parser.graphs.conllu import Sentence
from transition_parser.integrations.batching import PARSE, TRACE, Batches, BusyError, QueuedJob, _Shares, work_of

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


# --- turns ----------------------------------------------------------------------------------


class Noted:
    """Work that waits until it is let go. order: the words that it got, batch by batch."""

    def __init__(self) -> None:
        self.order: list[list[str]] = []
        self.begun, self.let_go = Event(), Event()

    def __call__(self, sentences):
        self.begun.set()
        assert self.let_go.wait(60)
        self.order.append([one.forms[0] for one in sentences])
        return [one.forms[0] for one in sentences]


@pytest.fixture
def noted():
    """The work, and batches of 6 words."""
    work = Noted()
    batches = Batches({KEY: work, ("other", PARSE): work}, most_words=6, most_waiting=9)
    yield work, batches
    work.let_go.set()
    batches.close()


def text(name: str, sentences: int, words: int = 2) -> list[Sentence]:
    return [sentence(f"{name}{i}", *["x"] * (words - 1)) for i in range(sentences)]


def test_a_short_request_goes_before_the_rest_of_long_ones(noted):
    work, batches = noted
    begin(work, batches)
    long = [batches.submit(KEY, text(name, 4)) for name in "ab"]
    short = batches.submit(KEY, text("short", 1, words=1))
    work.let_go.set()
    assert short.result(60) == ["short0"]
    assert [one.result(60) for one in long] == [["a0", "a1", "a2", "a3"], ["b0", "b1", "b2", "b3"]]
    assert work.order == [["first"], ["short0"], ["a0", "a1", "a2"], ["a3"], ["b0", "b1", "b2"], ["b3"]]


def test_a_request_that_comes_later_gets_into_the_next_batch(noted):
    work, batches = noted
    long = batches.submit(KEY, text("a", 9))
    assert work.begun.wait(60)
    short = batches.submit(KEY, text("short", 1))
    work.let_go.set()
    assert short.result(60) == ["short0"] and long.result(60) == [f"a{i}" for i in range(9)]
    assert work.order[:2] == [["a0", "a1", "a2"], ["short0"]]


def test_a_short_request_for_another_model_goes_before_long_ones(noted):
    work, batches = noted
    begin(work, batches)
    ours, theirs = batches.submit(KEY, text("a", 6)), batches.submit(("other", PARSE), text("b", 1))
    work.let_go.set()
    assert theirs.result(60) == ["b0"] and len(ours.result(60)) == 6
    assert work.order[1] == ["b0"]


def test_short_requests_without_end_do_not_starve_a_long_one():
    short = []

    def work(sentences):
        if not long.done() and len(short) < 1000:
            short.append(batches.submit(KEY, text("short", 1, words=6)))
        return [one.forms[0] for one in sentences]

    batches = Batches({KEY: work}, most_words=6, most_waiting=2000)
    with batches._changed:  # the thread takes nothing before both are there
        long = batches.submit(KEY, text("long", 10, words=6))
        short.append(batches.submit(KEY, text("short", 1, words=6)))
    assert long.result(60) == [f"long{i}" for i in range(10)]
    assert len(short) < 1000
    batches.close()


def in_equal_shares(arrivals: list[tuple[int, int]]) -> list[float]:
    """When each job ends if all that are there share one word a second: simulated in small steps. arrivals: second,
    words."""
    left = {number: float(words) for number, (_, words) in enumerate(arrivals)}
    ends, now, step = [0.0] * len(arrivals), 0.0, 1 / 64
    while left:
        there = [number for number in left if arrivals[number][0] <= now]
        now += step
        for number in there:
            left[number] -= step / len(there)
            if left[number] <= 1e-9:
                ends[number] = now
                del left[number]
    return ends


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)), min_size=1, max_size=6))
def test_turns_are_the_order_in_which_equal_shares_would_end(arrivals):
    arrivals = sorted(arrivals)
    shares, jobs, now = _Shares(), [], 0
    for second, words in arrivals:
        shares.pass_on(second - now)
        now = second
        jobs.append(QueuedJob(KEY, text("a", 1, words)))
        shares.add(jobs[-1])
    ends = in_equal_shares(arrivals)
    for one, its in zip(jobs, ends, strict=True):
        for other, theirs in zip(jobs, ends, strict=True):
            assert its > theirs - 0.5 if one.turn > other.turn + 0.1 else True


def test_what_nobody_waits_for_is_not_begun(noted):
    work, batches = noted
    begun = batches.submit(KEY, text("a", 9))
    assert work.begun.wait(60)
    waits, last = batches.submit(KEY, text("b", 9)), batches.submit(KEY, text("c", 1))
    assert begun.cancel() and waits.cancel()
    work.let_go.set()
    assert last.result(60) == ["c0"]
    assert work.order == [["a0", "a1", "a2"], ["c0"]]


def test_a_request_may_be_cancelled_while_it_is_taken(noted, monkeypatch):
    work, batches = noted
    taken = batches._taken

    def cancelled(jobs, most_words):
        monkeypatch.setattr(batches, "_taken", taken)
        assert all(job.done.cancel() for job in jobs)
        return taken(jobs, most_words)

    monkeypatch.setattr(batches, "_taken", cancelled)
    work.let_go.set()
    with pytest.raises(CancelledError):
        batches.submit(KEY, text("a", 1)).result(60)
    assert batches.submit(KEY, text("b", 1)).result(60) == ["b0"]


def test_those_that_nobody_waits_for_take_no_place(noted):
    work, batches = noted
    begin(work, batches)
    jobs = [batches.submit(KEY, text("a", 2)) for _ in range(9)]
    with pytest.raises(BusyError):
        batches.submit(KEY, text("b", 1))
    assert jobs[0].cancel()
    assert not batches.submit(KEY, text("b", 1)).done()


def test_a_sentence_that_fails_ends_its_request_alone(held):
    work, batches = held
    begin(work, batches)
    good = batches.submit(KEY, text("a", 9))
    bad = batches.submit(KEY, [*text("b", 2), sentence("bad"), *text("b", 5)])
    work.let_go.set()
    assert good.result(60) == [" ".join(one.forms) for one in text("a", 9)]
    with pytest.raises(RuntimeError, match="bad"):
        bad.result(60)


def test_batches_become_smaller_where_they_take_long_and_grow_again():
    batches = Batches({KEY: Noted()}, most_words=2000, most_waiting=9, seconds=1.0)
    batches.close()
    sizes = []
    for took in (0.1, 0.1, 0.1, 0.1, 4.0, 30.0, 0.5):
        job = QueuedJob(KEY, [sentence(*["x"] * batches._limits[KEY])])
        batches._adapt([(job, list(job.sentences))], took)
        sizes.append(batches._limits[KEY])
    assert sizes == [512, 1024, 2000, 2000, 500, 256, 512]
    batches._adapt([(QueuedJob(KEY, []), [sentence("x")])], 0.001)  # of a small batch nothing is learned
    assert batches._limits[KEY] == 512
    batches._adapt([(QueuedJob(KEY, []), [sentence(*["x"] * 4000)])], 1.1)  # longer than a batch, and slow
    assert batches._limits[KEY] == 512


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_parses_do_not_depend_on_how_a_text_is_cut(model, path):
    parser = Parser.load(model, beam=2, precision="fp32")
    sentences = list(parser.read(path))[:7]
    expected = [str(parse.annotated()) for parse in parser.parse(sentences)]
    for most_words in (1, 20, 60):
        batches = Batches(work_of({model: parser}), most_words, most_waiting=9)
        whole, backwards = (batches.submit((model, PARSE), some) for some in (sentences, sentences[::-1]))
        assert [one["written"] for one in whole.result(60)] == expected
        assert [one["written"] for one in backwards.result(60)] == expected[::-1]
        batches.close()
