"""The bank of silver AMRs: what is kept, and that an interrupted run goes on where it stopped."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.base.errors import InputError
from transition_parser.base.files import held
from transition_parser.graphs import amr_matching
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.amr_score import smatch_counts
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.parsing.alternatives import ranked
from transition_parser.parsing.given import Given, GivenNode
from transition_parser.parsing.parses import AmrParse
from transition_parser.training.silver import files, making
from transition_parser.training.silver.making import best_of, make_bank
from transition_parser.training.silver.sources import Source


class Interruption(BaseException):
    """Stands for Ctrl-C."""


class FakeParser:
    """Gives for the word `w` the graphs `(w / w-01)` and `(w / w-02 :ARG0 (x / x))`, or the second alone."""

    def __init__(self, only_second: bool = False, stop_at: str | None = None) -> None:
        self.only_second, self.stop_at = only_second, stop_at
        self.parsed: list[str] = []

    device, precision = torch.device("cpu"), "fp32"

    def described(self) -> dict:
        return {"model": "fake", "only_second": self.only_second}

    def parse_stream(self, entries, given):
        for entry, facts in zip(entries, given, strict=True):
            word = entry.forms[0]
            if word == self.stop_at:
                raise Interruption
            self.parsed.append(word)
            first = f"{word}-01" if facts is None else facts.nodes[0].concept
            small = AmrGraph((first,), frozenset(), ())
            large = AmrGraph((f"{word}-02", "x"), frozenset(), (Edge(0, "ARG0", 1),))
            parses = [
                AmrParse(entry, small, ((0,),), {}, (), 0.0, (1.0,), probability=0.5),
                AmrParse(entry, large, ((0,), (0,)), {}, (), 0.0, (1.0, 1.0), (1.0,), probability=0.25),
            ]
            yield ranked(parses[1:] if self.only_second else parses, 2)


def sources(*words: str) -> list[Source]:
    return [Source(AmrEntry.from_words([word], {"id": word})) for word in words]


@pytest.fixture(autouse=True)
def chunks_of_two(monkeypatch):
    monkeypatch.setattr(making, "CHUNK", 2)


def concepts(bank: Path) -> list[str]:
    return [entry.amr.labels[entry.amr.top] for entry in read_bank(bank)]


def test_the_parse_that_most_parses_agree_with_is_kept(tmp_path):
    bank = tmp_path / "a.amr"
    made = make_bank(str(bank), sources("a", "b", "c"), [FakeParser(), FakeParser(only_second=True)])
    assert concepts(bank) == ["a-02", "b-02", "c-02"] and made.kept == 3
    assert bank.read_text().startswith("# ::id a\n# ::agreement 0.")
    assert [entry.text for entry in read_bank(bank)] == ["a", "b", "c"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.amr"]


def test_facts_reach_the_parsers(tmp_path):
    (one,) = sources("a")
    facts = Given(nodes=(GivenNode((0, 0), "go-02"),))
    make_bank(str(tmp_path / "a.amr"), [one._replace(facts=facts)], [FakeParser()])
    assert concepts(tmp_path / "a.amr") == ["go-02"]


def test_graphs_that_agree_too_little_or_have_an_unwanted_concept_are_left_out(tmp_path):
    some, parsers = sources("a", "b"), [FakeParser(), FakeParser(only_second=True)]
    made = make_bank(str(tmp_path / "a.amr"), some, parsers, without=["a-02"])
    assert concepts(tmp_path / "a.amr") == ["b-02"] and made.left_out == {"unwanted concept": 1}
    assert made.agreement < 1
    with pytest.raises(InputError, match="no sentence is left"):
        make_bank(str(tmp_path / "b.amr"), some, parsers, least=0.9)
    assert not (tmp_path / "b.amr").exists()


def test_a_word_with_too_many_concepts_leaves_its_sentence_out(tmp_path, monkeypatch):
    monkeypatch.setattr(making, "MOST_OF_ONE_WORD", 1)
    made = make_bank(str(tmp_path / "a.amr"), sources("a"), [FakeParser()])
    assert made.kept == 1
    with pytest.raises(InputError, match="no sentence is left"):
        make_bank(str(tmp_path / "b.amr"), sources("a"), [FakeParser(only_second=True)])


@pytest.mark.parametrize(
    ("date", "is_odd"),
    [
        (":month 1 :day 17", False),
        (":month 1 :year 17", True),
        (":month 13", True),
        (":day 0", True),
        (":year 1917 :month 12 :day 31", False),
        (":year (y / year :mod 3)", False),
        (":decade 80", False),
    ],
)
def test_dates_that_cannot_be_are_left_out(date, is_odd, tmp_path):
    bank = tmp_path / "bank.amr"
    bank.write_text(f"# ::id 1\n# ::snt A\n(b / bear-02 :time (d / date-entity {date}))\n")
    (entry,) = read_bank(bank)
    parse = AmrParse(entry, entry.graph, ((0,),) * len(entry.graph), {}, (), 0.0, ())
    kept = making._kept(entry, making.Choice(parse, 1.0), 0.0, frozenset())
    assert (kept == files.LeftOut("date that cannot be")) is is_odd


@pytest.mark.parametrize("last", ["b", "c", "d", "e"])
@pytest.mark.parametrize("cut", [0, 7])
def test_an_interrupted_run_goes_on_and_gives_the_same_bytes(last, cut, tmp_path):
    some, whole, bank = sources(*"abcde"), tmp_path / "whole.amr", tmp_path / "a.amr"
    make_bank(str(whole), some, [FakeParser()])
    with pytest.raises(Interruption):
        make_bank(str(bank), some, [FakeParser(stop_at=last)])
    partial = tmp_path / "a.amr.partial"
    assert not bank.exists()
    partial.write_bytes(partial.read_bytes() + b'{"id": '[:cut])
    parser = FakeParser()
    made = make_bank(str(bank), some, [parser])
    assert bank.read_bytes() == whole.read_bytes() and not partial.exists() and made.kept == 5
    assert "".join(parser.parsed) == "abcde"["abcde".index(last) :]


@pytest.mark.parametrize("change", [{"least": 0.1}, {"without": ["x"]}, {"sources": "abcd"}, {"parser": True}])
def test_a_partial_file_of_another_run_is_an_error_and_stays(change, tmp_path):
    bank, partial = tmp_path / "a.amr", tmp_path / "a.amr.partial"
    with pytest.raises(Interruption):
        make_bank(str(bank), sources(*"abcde"), [FakeParser(stop_at="d")])
    before = partial.read_bytes()
    options = {name: value for name, value in change.items() if name in ("least", "without")}
    with pytest.raises(InputError, match=r"a\.amr\.partial: an interrupted run with other sentences or options"):
        make_bank(
            str(bank), sources(*change.get("sources", "abcde")), [FakeParser(change.get("parser", False))], **options
        )
    assert partial.read_bytes() == before and not bank.exists()


def test_a_partial_file_that_is_anything_else_is_an_error(tmp_path):
    (tmp_path / "a.amr.partial").write_text("mine\n")
    with pytest.raises(InputError, match="remove the file"):
        make_bank(str(tmp_path / "a.amr"), sources("a"), [FakeParser()])
    assert (tmp_path / "a.amr.partial").read_text() == "mine\n"


def test_two_runs_do_not_write_one_file(tmp_path):
    with held(tmp_path / "a.amr.partial"), pytest.raises(InputError, match="another run is writing this file"):
        make_bank(str(tmp_path / "a.amr"), sources("a"), [FakeParser()])
    assert make_bank(str(tmp_path / "a.amr"), sources("a"), [FakeParser()]).kept == 1


@pytest.mark.parametrize("path", ["-", "."])
def test_what_can_not_grow_is_no_output(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser = FakeParser()
    with pytest.raises(InputError, match="is not a file"):
        make_bank(path, sources("a"), [parser])
    assert not parser.parsed and not list(tmp_path.iterdir())


def test_a_finished_interrupted_run_is_written_without_parsing(tmp_path):
    bank, partial, parser = tmp_path / "a.amr", tmp_path / "a.amr.partial", FakeParser()
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError):
        patch.setattr(files, "output", lambda path: (_ for _ in ()).throw(OSError("no room")))
        make_bank(str(bank), sources("a"), [FakeParser()])
    assert len([json.loads(line) for line in partial.read_text().splitlines()]) == 2
    make_bank(str(bank), sources("a"), [parser])
    assert concepts(bank) == ["a-01"] and not parser.parsed


ENTRY = AmrEntry.from_words(["boy", "saw"], {"id": "a"})
SEE = AmrGraph(("see-01", "boy"), frozenset(), (Edge(0, "ARG0", 1),))
GRAPHS = [SEE, AmrGraph(("see-01", "girl"), frozenset(), (Edge(0, "ARG0", 1),)),
          AmrGraph(("see-01", "boy"), frozenset(), (Edge(0, "ARG1", 1),)),
          AmrGraph(("look-01", "boy"), frozenset(), (Edge(0, "ARG0", 1),))]  # fmt: skip


def parse_of(graph: AmrGraph) -> AmrParse:
    return AmrParse(ENTRY, graph, ((1,), (0,)), {}, (), 0.0, (1.0, 1.0), (1.0,))


def test_a_single_graph_agrees_with_itself():
    assert best_of([parse_of(SEE)]).agreement == 1.0


def test_the_majority_is_chosen_and_of_equal_ones_the_first():
    see, girl = parse_of(SEE), parse_of(GRAPHS[1])
    assert best_of([girl, see, see]).parse.graph == SEE
    assert best_of([girl, see]).parse.graph == GRAPHS[1]
    assert best_of([see, see]) == (see, 1.0)


@given(st.lists(st.sampled_from(GRAPHS), min_size=2, max_size=6))
def test_agreement_is_the_mean_smatch_with_all_others(graphs):
    means = []
    for i, one in enumerate(graphs):
        others = [other for j, other in enumerate(graphs) if j != i]
        means.append(sum(smatch_counts(one.to_penman(), other.to_penman()).f1 for other in others) / len(others))
    best = best_of([*map(parse_of, graphs)])
    assert best.agreement == pytest.approx(max(means))
    assert means[graphs.index(best.parse.graph)] == pytest.approx(max(means))


def test_equal_graphs_are_compared_once(monkeypatch):
    compared = []
    monkeypatch.setattr(amr_matching, "climbed", lambda one, other, start: compared.append(1) or 1)
    best_of([parse_of(SEE), parse_of(SEE), parse_of(GRAPHS[1])])
    assert len(compared) == 1
