import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.base.errors import InputError
from transition_parser.text.pieces import FILE_NAME, OPEN, Pieces, normalise, train_pieces

words = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), max_size=5)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory) -> Pieces:
    sentences = [["the", "cat", "that", "sat"], ["a", "b", "c", "thé"]] * 20
    return train_pieces(sentences, tmp_path_factory.mktemp("pieces"), 300)


@given(words)
def test_each_word_opens_once_and_spells_itself(pieces, sentence):
    found = pieces.encode(sentence)
    assert len(found) == len(sentence)
    for group in found:
        assert [piece.startswith(OPEN) for piece in group] == [True] + [False] * (len(group) - 1)
        assert all(piece.split() == [piece] for piece in group)
    flat = [piece for group in found for piece in group]
    assert pieces.words(flat) == [normalise(word) for word in sentence]
    assert set(flat) <= set(pieces.inventory())


def test_sampling_changes_the_pieces_and_not_the_words(pieces):
    draws, splits = iter(random.Random(1).random, None), set()
    for _ in range(30):
        (group,) = pieces.sample(["that"], 0.5, draws)
        assert pieces.words(group) == ["that"]
        splits.add(tuple(group))
    assert len(splits) > 1


def test_frequent_words_are_one_piece(pieces):
    assert pieces.encode(["the", "that"]) == [["▁the"], ["▁that"]]


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 100], ids=["empty", "short", "zeros"])
def test_what_is_no_model(tmp_path, content, capfd):
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(InputError, match=r"spm\.model: (is empty|not a sentencepiece model)"):
        Pieces.load(tmp_path)
    assert capfd.readouterr().err == ""


def test_a_model_that_does_not_mark_words(tmp_path, pieces):
    content = pieces.model.serialized_model_proto()
    assert content.count("▁".encode()) > 5
    (tmp_path / FILE_NAME).write_bytes(content.replace("▁".encode(), "▂".encode()))
    with pytest.raises(InputError, match="does not mark with ▁ where a word begins"):
        Pieces.load(tmp_path)
