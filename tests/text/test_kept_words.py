"""Values of words that are computed once and kept."""

import copy
import pickle

import pytest

from transition_parser.text import pieces
from transition_parser.text.pieces import KeptWords

LONG = "x" * 51


@pytest.mark.parametrize("most", [0, 2, 100])
def test_a_word_has_the_same_value_whether_it_is_kept_or_not(monkeypatch, most):
    monkeypatch.setattr(pieces, "_MOST", most)
    kept, asked = KeptWords(), []

    def lengths(words):
        asked.extend(words)
        return map(len, words)

    for words in (["a", "bc"], ["bc", LONG], ["a", LONG, "def"]):
        assert kept.values(words, lengths) == {word: len(word) for word in words}
    assert asked.count("a") == (1 if most else 2) and asked.count(LONG) == 2
    assert len(kept._known) <= most


def test_copies_start_empty():
    kept = KeptWords()
    kept.values(["a"], lambda words: words)
    for copied in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert kept._known and not copied._known
