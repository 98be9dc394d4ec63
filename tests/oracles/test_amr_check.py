"""Coverage figures of the AMR oracle, by hand."""

from collections import Counter

import pytest

from tests.amr_walks import FRAMES
from transition_parser.base.errors import InputError
from transition_parser.graphs.amr_score import Counts
from transition_parser.graphs.bank import AmrEntry, parse_bank
from transition_parser.oracles import amr_check
from transition_parser.oracles.amr_check import AmrCoverage, check, derive, seen_only
from transition_parser.transitions import Action, make_system

SYSTEM = make_system("amr")
CATS = "# ::id cats\n# ::tok The cats sleep .\n(s / sleep-01~2 :ARG0 (c / cat~1))\n"
GO = "# ::id go\n# ::tok Go home\n(g / go-02~0 :mode imperative~0 :ARG4 (h / home~1))\n"
LOOP = "# ::id loop\n# ::tok a b\n(s / see-01~0 :ARG1 s)\n"
ROME = '# ::id rome\n# ::tok Rome fell\n(f / fall-01~1 :ARG1 (c / city~0 :name (n / name~0 :op1 "Rome"~0)))\n'


def bank(*entries: str) -> list[AmrEntry]:
    return list(parse_bank("\n".join(entries).encode().splitlines(keepends=True), "bank.amr"))


def cover(*entries: str, train: str | None = None, **options) -> AmrCoverage:
    vocabulary = vocabulary_of(train) if train else None
    coverage = AmrCoverage(vocabulary)
    for item in check(bank(*entries), SYSTEM, vocabulary, **options):
        coverage.add(item)
    return coverage


def vocabulary_of(*entries: str) -> Counter[Action]:
    return Counter(action for item in derive(bank(*entries), SYSTEM) for action in item.derivation.actions)


def test_figures():
    # SHIFT SHIFT COPY_LEMMA SHIFT COPY_SENSE01 ROOT LA(ARG0) REDUCE SHIFT CLOSE
    # SHIFT PRED(go-02) DEPENDENT(mode,imperative) ROOT SHIFT COPY_LEMMA RA(ARG4) REDUCE CLOSE
    coverage = cover(CATS, GO)
    figures = coverage.report(checked=True)
    assert figures.pop("sentences_per_second") > 0
    assert figures.pop("kinds") == {
        **{"SHIFT": 6, "COPY_LEMMA": 2, "ROOT": 2, "REDUCE": 2, "CLOSE": 2},
        **{"COPY_SENSE01": 1, "LA": 1, "PRED": 1, "DEPENDENT": 1, "RA": 1},
    }
    assert set(figures.pop("types_of_kind").values()) == {1}
    assert figures == {
        "sentences": 2,
        "skipped": 0,
        "actions_per_token": 3.1667,  # 19 actions, 6 tokens
        "action_types": 10,
        "singletons": 5,
        "exact": 2,
        "illegal_steps": 0,
        "smatch": {"precision": 1.0, "recall": 1.0, "f1": 1.0},
    }
    assert coverage.lossless and coverage.smatch == Counts(9, 9, 9)
    assert "exact" not in coverage.report(checked=False)


def test_what_has_no_derivation_is_skipped_and_does_not_count():
    coverage = cover(CATS, LOOP)
    figures = coverage.report(checked=True)
    assert (figures["sentences"], figures["skipped"], figures["exact"]) == (2, 1, 1)
    assert [str(error) for error in coverage.skipped] == [
        "bank.amr:5: sentence loop: the edge :ARG1 goes from see-01 to itself"
    ]
    assert coverage.lossless


def test_strings_with_escapes_are_compared():
    quoted = r"# ::id quoted" + "\n# ::tok a\n" + r'(a / "a\"b"~0)' + "\n"
    even = r"# ::id even" + "\n# ::tok a\n" + r'(a / a~0 :x "\" :y (b / b) \""~0)' + "\n"
    coverage = cover(CATS, quoted, even)
    assert coverage.sentences == coverage.exact == 3 and not coverage.skipped


def test_graphs_that_are_too_large_to_compare_are_named(monkeypatch):
    train = "# ::tok Go far now\n(r / run-02~0 :ARG1 (f / far~1) :time (n / now~2))\n"
    assert cover(GO, train=train).skipped == []
    monkeypatch.setattr("transition_parser.graphs.smatch.MOST", 3)
    (error,) = cover(GO, train=train).skipped
    assert "bank.amr:1: sentence go: graphs of 2 and 2 nodes are too large for Smatch" in str(error)


def test_nothing_at_all():
    assert AmrCoverage().report(checked=True)["actions_per_token"] == 0.0


def test_unseen_actions_and_what_stands_for_them():
    """Of GO's 9 actions training lacks PRED(go-02), DEPENDENT(mode,imperative) and RA(ARG4)."""
    train = "# ::tok Go far now\n(r / run-02~0 :ARG1 (f / far~1) :time (n / now~2))\n"
    coverage = cover(GO, train=train)
    figures = coverage.report(checked=True)
    assert (figures["unseen_actions"], figures["unseen_types"]) == (0.3333, 3)
    (item,) = coverage.worst
    # go-01, home, an arc :ARG1 or :time and TOP, of go-02, home, imperative, :ARG4 and TOP
    assert item.exact and item.smatch == Counts(5, 5, 5)
    assert item.seen == Counts(2, 4, 5)
    assert figures["smatch_seen_actions"] == {"precision": 0.5, "recall": 0.4, "f1": 0.4444}
    assert "- g / go-02" in item.diff


def test_nothing_is_lost_to_the_training_data_itself():
    coverage = cover(CATS, GO, train="\n".join((CATS, GO)))
    figures = coverage.report(checked=True)
    assert figures["unseen_actions"] == figures["unseen_types"] == 0
    assert figures["smatch_seen_actions"]["f1"] == 1.0


@pytest.mark.parametrize("train", [CATS, GO, "# ::tok a\n(a / a~0)\n"])
def test_seen_actions_that_build_no_graph_match_nothing(train):
    """GO needs an RA, ROME an ENTITY: without any, what comes after them is illegal."""
    for entry in (GO, ROME, CATS):
        coverage = cover(entry, train=train)
        assert coverage.exact == 1
        assert coverage.seen.gold == coverage.smatch.gold and coverage.seen.match <= coverage.smatch.match


@pytest.mark.parametrize(
    ("train", "expected"),
    [
        ("ENTITY(city)", "ENTITY(city)"),
        ("ENTITY(city,+)", "ENTITY(city,+)"),
        ("ENTITY(country,+) ENTITY(person) ENTITY(person)", "ENTITY(person)"),  # the most frequent one
        ('ENTITY(city,"Paris")', 'ENTITY(city,"Paris")'),
    ],
)
def test_substitutes_of_an_entity(train, expected):
    vocabulary = Counter(map(Action.parse, f"SHIFT ROOT CLOSE {train}".split()))
    actions = [*map(Action.parse, 'SHIFT ENTITY(city,"Rome") ROOT CLOSE'.split())]
    found = seen_only(SYSTEM, SYSTEM.read(["Roman"]), actions, vocabulary)
    assert " ".join(map(str, found)) == f"SHIFT {expected} ROOT CLOSE"


@pytest.mark.parametrize(
    ("action", "word", "expected"),
    [
        ("PRED(go-02)", "Going", "COPY_SENSE01"),
        ("PRED(thing)", "Going", "COPY_LEMMA"),
        ("PRED(percentage-entity)", "(", "PRED(dog)"),  # the word's lemma is no symbol
        ("VALUE(7)", "Seven", "COPY_WORD"),
        ("VALUE(7)", '"', "VALUE(1)"),
    ],
)
def test_substitutes_of_labels(action, word, expected):
    named = "PRED(dog) PRED(dog) PRED(cat) VALUE(1) COPY_LEMMA COPY_SENSE01 COPY_WORD"
    vocabulary = Counter(map(Action.parse, f"SHIFT {named} LA(quant) ROOT CLOSE".split()))
    found = seen_only(SYSTEM, SYSTEM.read([word, "x"]), [Action.parse("SHIFT"), Action.parse(action)], vocabulary)
    assert str(found[1]) == expected


@pytest.mark.parametrize(
    ("action", "words", "expected"),
    [
        ("PRED(go-02)", "Giving", "FRAME(01)"),
        ("PRED(go-02)", "gift", "FRAME(01,alias)"),
        ("PRED(go-02)", "dog", "COPY_LEMMA"),  # the table has no first sense
        ("PRED(thing)", "Giving", "COPY_LEMMA"),
        ("FRAME(03)", "Giving", "FRAME(01)"),
    ],
)
def test_substitutes_of_frames(action, words, expected):
    system = make_system("amr", frames=FRAMES)
    named = "COPY_LEMMA COPY_SENSE01 FRAME(01) FRAME(01,alias)"
    vocabulary = Counter(map(Action.parse, f"SHIFT {named} ROOT CLOSE".split()))
    found = seen_only(system, system.read([words, "x"]), [Action.parse("SHIFT"), Action.parse(action)], vocabulary)
    assert str(found[1]) == expected


def test_the_worst_come_first():
    train = CATS + "\n# ::tok Go far now\n(r / run-02~0 :ARG1 (f / far~1) :time (n / now~2))\n"
    coverage = cover(*[CATS] * 11, GO, train=train)
    assert len(coverage.worst) == 10 and coverage.worst[0].derived.entry.id == "go"
    assert coverage.worst[0].diff and coverage.worst[0].seen.f1 < coverage.worst[1].seen.f1


def test_a_wrong_replay_is_found_out(monkeypatch):
    """The check is no formality: an oracle that forgets an arc, or its last action, is found out."""
    original = amr_check.amr_oracle

    def forgetful(kind):
        def oracle(*args):
            found = original(*args)
            kept = [(a, s) for a, s in zip(found.actions, found.spans, strict=True) if a.kind.value != kind]
            return amr_check.Derivation([a for a, _ in kept], found.order, [s for _, s in kept])

        return oracle

    monkeypatch.setattr(amr_check, "amr_oracle", forgetful("CLOSE"))
    coverage = cover(CATS)
    assert (coverage.exact, coverage.illegal, coverage.lossless) == (0, 1, False)
    assert coverage.smatch == Counts(0, 0, 4) and coverage.worst[0].diff == ()
    monkeypatch.setattr(amr_check, "amr_oracle", forgetful("DEPENDENT"))
    coverage = cover(GO)
    assert (coverage.exact, coverage.illegal, coverage.lossless) == (0, 0, False)
    assert coverage.smatch == Counts(4, 4, 5) and coverage.worst[0].diff == ("- g / go-02 :mode imperative",)


def test_processes_change_nothing():
    one, two = (cover(CATS, GO, LOOP, ROME, train=CATS, processes=n) for n in (1, 2))
    assert one.actions == two.actions and one.seen == two.seen and one.smatch == two.smatch
    assert [*map(str, one.skipped)] == [*map(str, two.skipped)]
    assert [i.derived.entry.id for i in one.worst] == [i.derived.entry.id for i in two.worst]


def test_words_are_those_that_the_network_sees():
    (item,) = derive(bank("# ::tok a▁b c\n(a / a_b~0 :ARG0 (c / c~1))\n"), SYSTEM)
    assert item.words[0].form == "a_b" and str(item.derivation.actions[1]) == "COPY_LEMMA"


def test_an_entry_without_words():
    with pytest.raises(InputError, match=r"bank\.amr:1: .*no `# ::tok`"):
        list(derive(bank("# ::id a\n(a / a~0)\n"), SYSTEM))
