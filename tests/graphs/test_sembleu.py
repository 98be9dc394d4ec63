"""SemBLEU by hand, and what makes no difference to it."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE_AMR
from tests.graphs.test_amr_score import GOLD, SYSTEM, bank, graphs
from transition_parser.graphs.amr_score import NgramCounts, compare_banks, ngram_counts
from transition_parser.graphs.bank import AmrEntry, parse_entry, read_bank

WANT = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-01 :ARG0 b))"


def entry(penman: str) -> AmrEntry:
    return parse_entry(["# ::id a", *penman.splitlines()])


def test_by_hand():
    """Gold: 3 nodes, 3 edges, one path of two edges (want, go, boy)."""
    system = "(w / want-01 :ARG0 (b / girl) :ARG1 (g / go-01 :ARG0 b :ARG4 (h / home)))"
    counts = ngram_counts(entry(WANT), entry(system))
    assert counts == NgramCounts(match=(2, 1, 0), system=(4, 4, 2), system_size=8, gold_size=6)
    assert counts.sembleu == pytest.approx((2 / 4 * 1 / 4 * 1 / (2 * 2)) ** (1 / 3))
    back = ngram_counts(entry(system), entry(WANT))
    assert back == NgramCounts(match=(2, 1, 0), system=(3, 3, 1), system_size=6, gold_size=8)
    assert back.sembleu == pytest.approx(math.exp(1 - 8 / 6) * (2 / 3 * 1 / 3 * 1 / 2) ** (1 / 3))


def test_matches_are_clipped():
    gold, system = entry("(a / and :op1 (d / dog))"), entry("(a / and :op1 (d / dog) :op2 (d2 / dog))")
    assert ngram_counts(gold, system) == NgramCounts((2, 1, 0), (3, 2, 0), 5, 3)


@pytest.mark.parametrize(
    ("gold", "system"),
    [
        (WANT, "(g / go-01 :ARG0 (b / boy :ARG0-of (w / want-01 :ARG1 g)))"),  # inverse roles, focus
        (
            '(c / city :wiki "Rome" :name (n / name :op1 "Rome"))',
            '(c / CITY :wiki "rome" :name (n / name :op1 "ROME"))',
        ),
        ("(d / dog :mod (b / big))", "(b / big :domain (d / dog))"),
        ("(f / five :quant 5)", '(f / five :quant "5")'),
        ("(s / see-01~e.1 :ARG1~e.0 (d / dog~e.2))", "(s / see-01 :ARG1 (d / dog))"),
    ],
)
def test_what_makes_no_difference(gold, system):
    assert ngram_counts(entry(gold), entry(system)).sembleu == pytest.approx(1)


def test_wiki_counts():
    gold, system = (entry(f'(c / city :wiki {wiki} :name (n / name :op1 "Rome"))') for wiki in ("-", '"Rome"'))
    assert ngram_counts(gold, system) == NgramCounts((3, 2, 1), (4, 3, 1), 7, 7)


def test_circles_end():
    circle = entry("(t / top :ARG0-of (a / a-01 :ARG1 (b / b-01 :ARG1 a)))")
    counts = ngram_counts(circle, circle)
    assert counts.system == (3, 3, 3) and counts.sembleu == pytest.approx(1)


def test_orders_that_the_system_does_not_have():
    """A file of single nodes is scored by them alone; nothing right is 0."""
    assert ngram_counts(entry("(r / rain-01)"), entry("(r / rain-01)")).sembleu == pytest.approx(1)
    assert ngram_counts(entry("(r / rain-01)"), entry("(s / snow-01)")).sembleu == 0
    assert NgramCounts().sembleu == 0


def test_banks(tmp_path):
    gold, system = bank(tmp_path / "gold.amr", *GOLD), bank(tmp_path / "system.amr", *SYSTEM)
    counted = [ngram_counts(ours, theirs) for ours, theirs in zip(read_bank(gold), read_bank(system), strict=True)]
    scores = compare_banks(gold, system, fine_grained=True)
    assert [sentence.ngrams for sentence in scores.sentences] == counted
    assert scores.sembleu() == (counted[0] + counted[1]).sembleu
    assert compare_banks(gold, system).sembleu() is None


def test_a_bank_against_itself():
    assert compare_banks(SAMPLE_AMR, SAMPLE_AMR, fine_grained=True).sembleu() == pytest.approx(1)


@given(graphs(), graphs(), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_variables_and_order_make_no_difference(gold, system, chance):
    order = list(range(len(system)))
    chance.shuffle(order)
    other = system.renumbered(order)
    names = [f"x{node}" for node in order]
    texts = gold.to_penman(), system.to_penman(), other.to_penman(variables=names)
    ours, theirs, shuffled = map(entry, texts)
    assert ngram_counts(ours, theirs) == ngram_counts(ours, shuffled)
    assert ngram_counts(theirs, ours) == ngram_counts(shuffled, ours)
    assert ngram_counts(ours, theirs).match == ngram_counts(theirs, ours).match
    assert ngram_counts(theirs, shuffled).sembleu == pytest.approx(1)
    assert 0 <= ngram_counts(ours, theirs).sembleu <= 1 + 1e-9
