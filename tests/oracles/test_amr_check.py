"""Coverage figures of the AMR oracle, by hand."""

from transition_parser.graphs.bank import AmrEntry, parse_bank
from transition_parser.graphs.smatch import Counts
from transition_parser.oracles import amr_check
from transition_parser.oracles.amr_check import AmrCoverage, check, derive
from transition_parser.transitions import make_system

SYSTEM = make_system("amr")
CATS = "# ::id cats\n# ::tok The cats sleep .\n(s / sleep-01~2 :ARG0 (c / cat~1))\n"
GO = "# ::id go\n# ::tok Go home\n(g / go-02~0 :mode imperative~0 :ARG4 (h / home~1))\n"
LOOP = "# ::id loop\n# ::tok a b\n(s / see-01~0 :ARG1 s)\n"


def bank(*entries: str) -> list[AmrEntry]:
    return list(parse_bank("\n".join(entries).encode().splitlines(keepends=True), "bank.amr"))


def cover(*entries: str, **options) -> AmrCoverage:
    coverage = AmrCoverage()
    for item in check(bank(*entries), SYSTEM, **options):
        coverage.add(item)
    return coverage


def test_figures():
    coverage = cover(CATS, GO)
    figures = coverage.report(checked=True)
    assert figures.pop("sentences_per_second") > 0
    assert figures == {
        "sentences": 2,
        "skipped": 0,
        "actions_per_token": 3.1667,  # 19 actions, 6 tokens
        "action_types": 10,
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
    assert coverage.smatch == Counts(0, 0, 4)
    monkeypatch.setattr(amr_check, "amr_oracle", forgetful("DEPENDENT"))
    coverage = cover(GO)
    assert (coverage.exact, coverage.illegal, coverage.lossless) == (0, 0, False)
    assert coverage.smatch == Counts(4, 4, 5)
    monkeypatch.setattr("transition_parser.graphs.smatch.MOST", 3)
    (error,) = cover(GO).skipped
    assert "bank.amr:1: sentence go: graphs of 2 and 2 nodes are too large for Smatch" in str(error)


def test_words_are_those_that_the_network_sees():
    (item,) = derive(bank("# ::tok a▁b c\n(a / a_b~0 :ARG0 (c / c~1))\n"), SYSTEM)
    assert item.words[0].form == "a_b" and str(item.derivation.actions[1]) == "COPY_LEMMA"
