"""The list of words that preprocess writes, the most frequent first."""

from collections import Counter

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.text.pieces import normalise
from transition_parser.text.word_vectors import FILE_NAME, MOST_WORDS, load_words, save_words


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
def test_malformed(content, problem, tmp_path):
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
    counts = Counter(normalise(form) for sentence in read_conllu(SAMPLE) for form in sentence.forms)
    words = load_words(tmp_path / "trees")
    assert words == tuple(sorted(counts, key=lambda word: (-counts[word], word))) and "unheard" not in words
    run_here(
        "preprocess", "amr", "--train", SAMPLE_AMR, "--valid", SAMPLE_AMR, "--pieces", "400", "--dest",
        tmp_path / "graphs",
    )  # fmt: skip
    assert "the" in load_words(tmp_path / "graphs")[:5]
