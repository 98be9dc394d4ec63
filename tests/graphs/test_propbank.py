"""PropBank's annotation of sentences, as it is read."""

import pytest

from transition_parser.base.errors import InputError
from transition_parser.graphs.propbank import Argument, Predicate, read_annotations

BOYS = "# sent_id = a\n2\twant\twant.01\tARG0:1-1\tARG1:3-4\n4\tgo\tgo.02\tARG0:1-1\n\n# sent_id = b\n\n"


def test_annotation_is_read_with_words_from_0(tmp_path):
    (tmp_path / "a.tsv").write_text(BOYS)
    found = read_annotations([tmp_path / "a.tsv"])
    assert [*found] == ["a", "b"] and not found["b"].predicates
    want, go = found["a"].predicates
    assert want == Predicate(1, "want.01", (Argument("ARG0", (0, 0)), Argument("ARG1", (2, 3))))
    assert (go.word, go.concept, go.is_light) == (3, "go-02", False)
    found["a"].check(["Boys", "want", "to", "go"])


def test_concepts_are_written_as_in_amrs():
    assert Predicate(0, "carry_out.03").concept == "carry-out-03"
    assert Predicate(0, "make.LV").is_light


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["Boys", "like", "to", "go"], "word 2 is 'want' here, but 'like' in the treebank"),
        (["Boys", "want", "to"], "word 4 is 'go' here, but one of 3 words in the treebank"),
    ],
)
def test_annotation_of_other_words_is_an_error(words, problem, tmp_path):
    (tmp_path / "a.tsv").write_text(BOYS)
    with pytest.raises(InputError, match=f"a.tsv:1: sentence a: {problem}"):
        read_annotations([tmp_path / "a.tsv"])["a"].check(words)


def test_an_argument_behind_the_last_word_is_an_error(tmp_path):
    (tmp_path / "a.tsv").write_text("# sent_id = a\n1\tGo\tgo.01\tARG1:2-4\n")
    with pytest.raises(InputError, match="ARG1 ends at word 4 of 3"):
        read_annotations([tmp_path / "a.tsv"])["a"].check(["Go", "home", "boys"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2\twant\twant.01\n", "a.tsv:1: a predicate before the first"),
        ("# sent_id = a\nx\twant\twant.01\n", "a.tsv:2: sentence a: 'x.*' is no predicate"),
        ("# sent_id = a\n1\twant\n", "a.tsv:2: sentence a: .* is no predicate"),
        ("# sent_id = a\nwant\n", "a.tsv:2: sentence a: 'want' is no predicate"),
        ("# sent_id = a\n" + "9" * 5000 + "\twant\twant.01\n", "a.tsv:2: sentence a: .* is no predicate"),
        ("# sent_id = a\n1\twant\twant.01\tARG0:2\n", "'ARG0:2' is no argument"),
        ("# sent_id = a\n1\twant\twant.01\tARG0:3-2\n", "'ARG0:3-2' is no argument"),
        ("# sent_id = a\n\n# sent_id = a\n", "a.tsv:3: sentence a: the sentence is in .*a.tsv:1, too"),
    ],
)
def test_broken_annotation_is_an_error_at_its_line(text, problem, tmp_path):
    (tmp_path / "a.tsv").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_annotations([tmp_path / "a.tsv"])
