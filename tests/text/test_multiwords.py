"""Words of tokens of several words, known and unknown."""

import pytest

from transition_parser.text.learned_segmentation import MultiWords

DU, DES = ("de", "le"), ("de", "les")
KNOWN = MultiWords.of_examples(
    [
        *[("du", DU), ("du", DU), ("du", ("d", "u")), ("Du", ("De", "le")), ("des", DES)],
        *[("dirgli", ("dir", "gli")), ("wsagt", ("w", "sagt")), ("don't", ("do", "n't")), ("ha", ("x", "y"))],
    ]
)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("du", "de le"),  # the most frequent words
        ("Du", "De le"),
        ("Des", "De les"),
        ("DES", "DE LES"),
        ("vedergli", "veder gli"),
        ("Can't", "Ca n't"),
        ("Wgeht", "W geht"),
        ("zzz", "zzz"),
        ("gli", "gli"),  # nothing is left for the first word
    ],
)
def test_words_of_a_form(form, words):
    assert " ".join(KNOWN.words(form)) == words


def test_a_form_with_a_blank_is_known_with_any_blank():
    known = MultiWords.of_examples([("20 000", ("20", "000"))])
    assert known.words("20\u00a0000") == ("20", "000")


def test_the_same_examples_in_another_order_give_the_same_words():
    examples = [("a", ("b", "c")), ("a", ("c", "b")), ("ab", ("a", "b"))]
    assert MultiWords.of_examples(examples) == MultiWords.of_examples(examples[::-1])


def test_without_examples_a_token_is_its_only_word():
    assert MultiWords().words("du") == ("du",)
