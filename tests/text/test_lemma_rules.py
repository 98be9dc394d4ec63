"""Rules that make lemmas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.text.characters import without_hidden
from transition_parser.text.lemmas import lemma_of, rule_of

words = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=12)


@given(words, words)
def test_a_rule_makes_the_lemma_that_it_was_made_of(form, lemma):
    shown = without_hidden(lemma) or "_"
    assert shown == "_" or lemma_of(form, rule_of(form, lemma)) == shown


def test_lemmas_are_without_characters_that_do_not_show():
    rule = rule_of("exam\u00adples", "exam\u200bple")
    assert (rule, lemma_of("tem\u2060ples", rule)) == (rule_of("examples", "example"), "temple")
    assert rule_of("کتاب\u200cها", "\u200c") == "_" and lemma_of("\u200b", "l0+|0+") == "_"


@given(words, words, words)
def test_a_rule_makes_a_lemma_of_any_form(form, lemma, other):
    made = lemma_of(other, rule_of(form, lemma))
    assert made and not set(made) & set(" \t\n")


@pytest.mark.parametrize(
    "form, lemma, other, wanted",
    [("dogs", "dog", "Cats", "cat"), ("Paris", "Paris", "Lima", "Lima"), ("USED", "use", "BAKED", "bake")],
)
def test_rules_carry_over(form, lemma, other, wanted):
    assert lemma_of(other, rule_of(form, lemma)) == wanted


@pytest.mark.parametrize("rule", ["_", "", "=", "x", "l9+|9+", "l1+a"])
def test_what_does_not_apply_leaves_the_form(rule):
    assert lemma_of("word", rule) == "word"
