"""run/bench/lists.py: generated lists, and which of their graphs count as right."""

import datetime

import pytest

from tests.conftest import ROOT
from tests.helpers.scripts import module
from tests.test_pretrained import MINILM
from transition_parser import AmrParse, Parser
from transition_parser.graphs.bank import AmrEntry, parse_entry

lists = module("bench/lists.py")


def test_lists_have_different_members_of_all_sizes():
    some = list(lists.examples(3, 1))
    assert len(some) == 3 * len(lists.SIZES) * len(lists.MEMBERS)
    for one in some:
        words = [one.words[place] for place in one.members]
        assert {*words} <= {*lists.MEMBERS[one.kind].split()} and len({*words}) == len(words)
        between = one.words[one.members[0] : one.members[-1] + 1]
        assert {*between} - {*words} <= {",", "and", "or"} and one.words[-1] == "."
    assert {len(one.members) for one in some} == {*range(2, 13)}
    assert [one.words for one in some] == [one.words for one in lists.examples(3, 1)]
    assert [one.words for one in some] != [one.words for one in lists.examples(3, 2)]


def test_no_member_is_a_word_of_the_grammar():
    grammar = {*(ROOT / "configs" / "amr-grammar.txt").read_text(encoding="utf-8").replace(",", " ").split()}
    assert not grammar & {word for words in lists.MEMBERS.values() for word in words.split()}


@pytest.mark.parametrize(
    ("graph", "is_right"),
    [
        ("(a / and~3 :op1 (n / anvil~0) :op2 (v / vase~2) :op3 (h / harp~4))", True),
        ("(a / and~3 :op1 (v / vase~2) :op2 (n / anvil~0) :op3 (h / harp~4))", False),
        ("(a / and~3 :op1 (n / anvil~0) :op2 (v / vase~2 :mod (h / harp~4)))", False),
        ("(a / and~3 :op1 (n / anvil~0) :op2 (b / and~1 :op1 (v / vase~2) :op2 (h / harp~4)))", False),
        ("(n / anvil~0 :mod (v / vase~2) :mod (h / harp~4))", False),
    ],
)
def test_which_graphs_are_right(graph, is_right):
    entry = parse_entry([graph])
    alignments = tuple(tuple(words) for words in entry.alignments)
    sentence = AmrEntry.from_words("anvils , vases and harps".split())
    assert lists.is_right(AmrParse(sentence, entry.graph, alignments, {}, (), 0.0), [0, 2, 4]) is is_right


@MINILM
def test_lists_of_any_length_are_one_conjunction():
    """Other lists each week."""
    some = list(lists.examples(1, datetime.date.today().isocalendar().week))
    parses = Parser.load("en-amr-minilm", beam=10).parse([one.words for one in some])
    wrong = [" ".join(one.words) for one, parse in zip(some, parses) if not lists.is_right(parse, one.members)]
    assert len(wrong) <= 0.2 * len(some), wrong
