"""BPE-dropout against sentencepiece, which draws the same segmentations, but in no process like in another."""

import random
from collections import Counter
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from transition_parser.graphs.conllu import read_conllu
from transition_parser.text.pieces import OPEN, BpeDropout, Pieces, normalise, train_pieces


@pytest.fixture(scope="module")
def pieces(tmp_path_factory) -> Pieces:
    sentences = [sentence.forms for sentence in read_conllu(SAMPLE)]
    return train_pieces(sentences, tmp_path_factory.mktemp("pieces"), 400)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=5))
def test_without_dropout_all_pieces_are_those_of_sentencepiece(pieces, words):
    forms = [*map(normalise, words)]
    assert pieces.sample(forms, 0.0, repeat(0.5)) == pieces.split(forms)


def test_words_of_a_treebank_are_split_as_by_sentencepiece(pieces):
    forms = [normalise(form) for sentence in read_conllu(SAMPLE) for form in sentence.forms]
    assert pieces.sample(forms, 0.1, repeat(0.5)) == pieces.split(forms)
    assert max(map(len, pieces.split(forms))) > 4


def test_with_certain_dropout_each_character_stands_alone(pieces):
    assert pieces.sample(["the", "☃"], 1.0, repeat(0.5)) == [
        [OPEN, "t", "h", "e"],
        [OPEN, "<0xE2>", "<0x98>", "<0x83>"],
    ]


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_each_segmentation_is_as_frequent_as_with_sentencepiece(pieces, p):
    word, count, draws = "another", 10_000, iter(random.Random(1).random, None)
    ours = Counter(" ".join(pieces.sample([word], p, draws)[0]) for _ in range(count))
    theirs = Counter(
        " ".join(pieces.model.encode(word, out_type=str, enable_sampling=True, alpha=p)) for _ in range(count)
    )
    assert len(theirs) > 3
    for split in ours | theirs:  # six times the standard error of a difference is 0.042 at most
        assert abs(ours[split] - theirs[split]) / count < 0.042, split


def test_the_same_numbers_give_the_same_pieces(pieces):
    forms, splits = ["another"] * 50, []
    for seed in (1, 1, 2):
        splits.append(BpeDropout(pieces.model).split("".join(forms), 0.3, iter(random.Random(seed).random, None)))
    assert splits[0] == splits[1] != splits[2]
