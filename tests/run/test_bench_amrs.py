"""run/bench/amrs.py: lists and names that are counted, and which of their graphs count as right."""

from collections import Counter

import pytest
from amrs import MEMBERS, NAMES, SIZES, is_listed, listings, named_so
from shared import read_rows

from tests.conftest import ROOT
from transition_parser import AmrParse
from transition_parser.graphs.bank import AmrEntry, parse_entry

GRAMMAR = (ROOT / "configs" / "amr-grammar.txt").read_text(encoding="utf-8")
ROWS = read_rows(NAMES)


# --- lists ---


def test_lists_have_different_members_of_all_sizes():
    some = list(listings(3, 1))
    assert len(some) == 3 * len(SIZES) * len(MEMBERS)
    for one in some:
        words = [one.words[place] for place in one.members]
        assert {*words} <= {*MEMBERS[one.kind].split()} and len({*words}) == len(words)
        between = one.words[one.members[0] : one.members[-1] + 1]
        assert {*between} - {*words} <= {",", "and", "or"} and one.words[-1] == "."
    assert {len(one.members) for one in some} == {*range(2, 13)}
    assert [one.words for one in some] == [one.words for one in listings(3, 1)]
    assert [one.words for one in some] != [one.words for one in listings(3, 2)]


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
    assert is_listed(AmrParse(sentence, entry.graph, alignments), [0, 2, 4]) is is_right


# --- names ---


def test_each_name_has_a_sentence_of_its_own_and_types_where_it_is_no_word():
    kinds = Counter(row["kind"] for row in ROWS)
    famous, words = kinds.pop("famous"), kinds.pop("word")
    assert kinds.total() == 100 and max(kinds.values()) <= 7 and min(famous, words) >= 30
    assert len(ROWS) == len({row["sentence"] for row in ROWS})
    for row in ROWS:
        assert f" {row['name']} ".lower() in f" {row['sentence']} ".lower()
        assert bool(row["types"]) == (row["kind"] != "word")
        assert bool(row["title"]) == (row["kind"] == "famous")


def test_no_name_is_in_the_grammar():
    bounded = "".join(one if one.isalnum() else " " for one in GRAMMAR)
    others = (row["name"] for row in ROWS if row["kind"] not in ("famous", "word"))
    assert [name for name in others if f" {name} " in bounded] == []


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (
            '(s / swim-01 :location (l / lake :wiki "Lake_Erie" :name (n / name :op1 "Lake" :op2 "Erie")))',
            "lake Lake_Erie",
        ),
        (
            '(s / swim-01 :ARG0 (p / person :name (n / name :op1 "Lake")) :location'
            ' (l / sea :name (m / name :op1 "Lake" :op2 "Erie")))',
            "sea ",
        ),
        ('(s / swim-01 :ARG0 (p / person :name (n / name :op1 "Ann")))', None),
        ("(s / swim-01 :location (l / lake))", None),
    ],
)
def test_the_type_and_the_title_of_a_name(graph, expected):
    entry = parse_entry([graph])
    here = named_so(entry.amr, entry.wiki, ["Lake", "Erie"])
    assert (here and " ".join(here)) == expected


def test_no_member_is_a_word_of_the_grammar():
    grammar = {*GRAMMAR.replace(",", " ").split()}
    assert not grammar & {word for words in MEMBERS.values() for word in words.split()}
