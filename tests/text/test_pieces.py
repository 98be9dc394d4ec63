"""Subword pieces, windows over them, BPE-dropout against sentencepiece, and values of words that are kept."""

import random
from collections import Counter
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, run_here
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.preprocess.splits import save_words, train_pieces
from transition_parser.text.pieces import (
    FILE_NAME,
    MOST_WORDS,
    OPEN,
    WORD_LIST,
    Pieces,
    load_words,
    normalize,
    windows,
)

words = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), max_size=5)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory) -> Pieces:
    sentences = [sentence.forms for sentence in read_conllu(SAMPLE)]
    return train_pieces(sentences, tmp_path_factory.mktemp("pieces"), 400)


@given(words)
def test_each_word_opens_once_and_spells_itself(pieces, sentence):
    found = pieces.encode(sentence)
    assert len(found) == len(sentence)
    for group in found:
        assert [piece.startswith(OPEN) for piece in group] == [True] + [False] * (len(group) - 1)
        assert all(piece.split() == [piece] for piece in group)
    flat = [piece for group in found for piece in group]
    assert pieces.words(flat) == [normalize(word) for word in sentence]
    assert set(flat) <= set(pieces.inventory())


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


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=5))
def test_without_dropout_all_pieces_are_those_of_sentencepiece(pieces, words):
    forms = [*map(normalize, words)]
    assert pieces.sample(forms, 0.0, repeat(0.5)) == pieces.split(forms)


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


@st.composite
def sizes_of_words(draw) -> tuple[list[int], int]:
    """Sizes of words, and how many pieces a window holds."""
    longest = draw(st.integers(1, 12))
    return draw(st.lists(st.integers(0, longest), max_size=60)), longest


@given(sizes_of_words())
def test_each_word_is_read_once_and_no_window_is_too_long(given_words):
    sizes, longest = given_words
    found = windows(sizes, longest)
    kept = [word for window in found for word in range(window.first, window.stop) if window.keeps(word)]
    assert kept == list(range(len(sizes)))
    assert all(sum(sizes[window.first : window.stop]) <= longest for window in found)


def test_what_is_kept_has_context_on_both_sides():
    found = windows([1] * 1000, 100)
    assert all(window.kept_from - window.first >= 20 for window in found[1:])
    assert all(window.stop - window.kept_stop >= 20 for window in found[:-1])
    assert len(found) < 25


def test_a_word_that_fits_nowhere():
    with pytest.raises(ValueError, match="more than 3 pieces"):
        windows([1, 4], 3)


def test_words_of_a_treebank_are_split_as_by_sentencepiece(pieces):
    forms = [normalize(form) for sentence in read_conllu(SAMPLE) for form in sentence.forms]
    assert pieces.sample(forms, 0.1, repeat(0.5)) == pieces.split(forms)
    assert max(map(len, pieces.split(forms))) > 4


# --- the list of words ------------------------------------------------------------------------


def test_saved_and_loaded(tmp_path):
    assert load_words(tmp_path) is None
    words = ["the", "", "ein", "d\u00e9j\u00e0", "\u2028"]
    save_words(words, tmp_path)
    assert load_words(tmp_path) == tuple(words)
    save_words([*map(str, range(MOST_WORDS + 1))], tmp_path)
    assert load_words(tmp_path)[-1] == str(MOST_WORDS - 1)


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"a\nb\na\n", "a word is listed twice: preprocess again"), (b"a\n\xff\n", ":2: not UTF-8")],
)
def test_malformed_lists(content, problem, tmp_path):
    (tmp_path / WORD_LIST).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        load_words(tmp_path)


def test_preprocess_lists_the_words_of_the_training_data(tmp_path):
    valid = tmp_path / "valid.conllu"
    valid.write_text("1\tunheard\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    run_here(
        "preprocess", "dependency", "--train", SAMPLE, "--valid", valid, "--system", "arc-hybrid-swap", "--pieces",
        "400", "--dest", tmp_path / "trees",
    )  # fmt: skip
    counts = Counter(normalize(form) for sentence in read_conllu(SAMPLE) for form in sentence.forms)
    words = load_words(tmp_path / "trees")
    assert words == tuple(sorted(counts, key=lambda word: (-counts[word], word))) and "unheard" not in words
