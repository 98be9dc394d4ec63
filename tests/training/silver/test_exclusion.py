"""Texts that stay out of training data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.base.errors import InputError
from transition_parser.training.silver.exclusion import Excluded, read_texts

LONG = "The boy who lives here wants to see the sea"


@pytest.mark.parametrize(
    ("text", "is_excluded"),
    [
        (LONG, True),
        ("the BOY who lives here wants to see the séa !", True),
        ("theboy who lives here wan ts to see the sea", True),
        (f"He said that {LONG} .", True),  # contains it
        ("boy who lives here wants to see the", True),  # is a part of it
        ("who lives here wants to see the", False),  # of seven words
        ("The boy who lives there wants to see the sea", False),
        ("Go home .", True),
        ("I go home", False),  # contains a short one
        ("... !", False),
        ("", False),
    ],
)
def test_equal_texts_and_long_parts_are_excluded(text, is_excluded):
    assert (text in Excluded([LONG, "Go home!", "..."])) == is_excluded


@given(st.lists(st.text("ab ", max_size=24), max_size=4), st.text("ab ", max_size=40))
def test_exclusion_is_what_its_rule_says(texts, text):
    def squeezed(one: str) -> str:
        return one.replace(" ", "")

    def is_long(one: str) -> bool:
        return len(one.split()) >= 8

    expected = any(
        squeezed(text) == squeezed(one)
        or (is_long(one) and squeezed(one) in squeezed(text))
        or (is_long(text) and squeezed(text) in squeezed(one))
        for one in texts
        if squeezed(one)
    )
    assert (text in Excluded(texts)) == expected


def test_texts_are_read_from_treebanks_and_banks(tmp_path):
    (tmp_path / "a.conllu").write_text("# text = Don't go\n1\tDo" + "\t_" * 8 + "\n2\tn't" + "\t_" * 8 + "\n\n")
    (tmp_path / "a.amr").write_text("# ::id a ::snt Go\n# ::tok Go .\n(g / go-02\n\n")  # the graph need not be whole
    assert [*read_texts([tmp_path / "a.conllu", tmp_path / "a.amr"])] == ["Do n't", "Don't go", "Go", "Go ."]


def test_a_file_without_sentences_is_an_error(tmp_path):
    (tmp_path / "a.amr").write_text("\n")
    with pytest.raises(InputError, match=r"a\.amr: the file has no sentences"):
        [*read_texts([tmp_path / "a.amr"])]
