"""Pretrained vectors of words, and the list of words that preprocess writes."""

import gzip
from collections import Counter

import numpy as np
import pytest

from tests.conftest import SAMPLE, run_here
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.text.pieces import normalize
from transition_parser.text.word_vectors import (
    FILE_NAME,
    MOST_WORDS,
    VECTORS_FILE,
    WORDS_FILE,
    WordVectors,
    load_words,
    read_vectors,
    save_words,
)

GLOVE = "the 1 2 3\ndog 4 5 6\nunused x\nthe 7 8 9\n"


def test_formats(tmp_path):
    contents = {"a": GLOVE.encode(), "b": b"4 3\n" + GLOVE.encode(), "c.gz": gzip.compress(GLOVE.encode())}
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        found = read_vectors(path, ["The", "dog", "cat"])
        assert found.words == ("dog", "the") and found.vectors.tolist() == [[4, 5, 6], [1, 2, 3]]


def test_kept_in_a_folder(tmp_path):
    assert WordVectors.load(tmp_path) is None
    vectors = WordVectors(("a", "b"), np.ones((2, 3), np.float16))
    vectors.save(tmp_path)
    found = WordVectors.load(tmp_path)
    assert found.words == vectors.words and np.array_equal(found.vectors, vectors.vectors)
    (tmp_path / WORDS_FILE).write_text("a\n")
    with pytest.raises(InputError, match="not a table of 1 finite vectors"):
        WordVectors.load(tmp_path)
    (tmp_path / WORDS_FILE).write_text("a\na\n")
    with pytest.raises(InputError, match="twice"):
        WordVectors.load(tmp_path)
    (tmp_path / VECTORS_FILE).write_bytes(b"x")
    (tmp_path / WORDS_FILE).write_text("a\nb\n")
    with pytest.raises(InputError, match="no vectors of words"):
        WordVectors.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("the\n", ":1: 0 numbers after the first word"),
        ("a 1 2\nthe 1\n", ":2: 'the' is not followed by 2 numbers of half precision"),
        ("the 1 x\n", ":1: 'the' is not followed by 2 numbers"),
        ("a 1 2\n", "no vector of any word"),
        ("", "no vector of any word"),
    ],
)
def test_malformed(tmp_path, text, problem):
    path = tmp_path / "vectors"
    path.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_vectors(path, ["the"])


def test_preprocess_keeps_those_of_the_corpus(tmp_path):
    path, dest = tmp_path / "glove.txt", tmp_path / "data"
    path.write_text(GLOVE)
    common = ("preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-eager", "--pieces")
    run_here(*common, "400", "--dest", dest, "--vectors", path)
    assert "the" in WordVectors.load(dest).words and "unused" not in WordVectors.load(dest).words
    done = run_here(*common, "400", "--dest", dest, "--vectors", tmp_path / "none", status=2)
    assert f"{tmp_path / 'none'}: No such file" in done.stderr and WordVectors.load(dest) is not None
    run_here(*common, "400", "--dest", dest)
    assert WordVectors.load(dest) is None


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
    (tmp_path / FILE_NAME).write_bytes(content)
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
