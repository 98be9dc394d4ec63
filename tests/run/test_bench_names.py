"""run/bench/names.py: the list of names, and which type counts."""

from collections import Counter

import pytest

from tests.conftest import ROOT
from tests.helpers.scripts import module
from transition_parser.graphs.bank import parse_entry

names = module("bench/names.py")


def test_the_list_has_100_names_each_in_its_own_sentence():
    some = names.read_examples()
    assert len(some) == len({*(" ".join(one.name) for one in some)}) == 100
    for one in some:
        assert f" {' '.join(one.name)} " in f" {' '.join(one.words)} " and one.types
    assert max(Counter(one.kind for one in some).values()) <= 7


def test_famous_names_have_types_and_titles_and_words_have_none():
    some = names.read_famous(names.FAMOUS)
    assert len(some) == len({" ".join(one.words) for one in some})
    for one in some:
        assert f" {' '.join(one.name)} ".lower() in f" {' '.join(one.words)} ".lower() and bool(one.types) == bool(
            one.title
        )


def test_no_name_is_in_the_grammar():
    grammar = (ROOT / "configs" / "amr-grammar.txt").read_text(encoding="utf-8")
    bounded = "".join(one if one.isalnum() else " " for one in grammar)
    assert [one.name for one in names.read_examples() if f" {' '.join(one.name)} " in bounded] == []


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
    here = names.found(entry.amr, entry.wiki, ["Lake", "Erie"])
    assert (here and " ".join(here)) == expected
