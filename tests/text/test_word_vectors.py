"""Files of pretrained vectors of words."""

import gzip

import numpy as np
import pytest

from tests.conftest import SAMPLE, run_here
from transition_parser.base.errors import InputError
from transition_parser.text.word_vectors import VECTORS_FILE, WORDS_FILE, WordVectors, read_vectors

GLOVE = "the 1 2 3\ndog 4 5 6\nunused x\nthe 7 8 9\n"


def test_formats(tmp_path):
    path = tmp_path / "vectors"
    contents = [GLOVE.encode(), b"4 3\n" + GLOVE.encode(), gzip.compress(GLOVE.encode())]
    for content in contents:
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
    with pytest.raises(InputError, match="not a table of 1 vectors"):
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
        ("a 1 2\nthe 1\n", ":2: 1 numbers after 'the', 2 expected"),
        ("the 1 x\n", ":1: the values after 'the' are not all numbers"),
        ("the 1 nan\n", ":1: the vector of 'the' has numbers"),
        ("the 1 1e9\n", ":1: the vector of 'the' has numbers"),
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
