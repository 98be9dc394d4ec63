"""The column of PropBank's annotation in a data folder."""

import pytest

from transition_parser.base.errors import InputError
from transition_parser.text.columns import (
    ARGUMENT_LABELS,
    SENSE_NUMBERS,
    has_predicates,
    ids_of,
    read_predicates,
    value_of,
)


def test_a_word_heads_one_argument_and_references_are_left_out():
    arguments = [("ARG0", 2), ("ARGM-TMP", 2), ("C-ARG0", 3), ("R-ARG0", 4), ("V", 5), ("ARG1", 6)]
    assert value_of("carry_out.03", arguments) == "carry_out.03|ARG0:2|ARG1:6"


@pytest.mark.parametrize("sense", SENSE_NUMBERS)
def test_values_come_back_as_ids(sense):
    arguments = [(label, number) for number, label in enumerate(ARGUMENT_LABELS, 1)]
    ids = ids_of(value_of(f"go.{sense}", arguments))
    assert ids.sense == 1 + SENSE_NUMBERS.index(sense)
    assert ids.arguments == tuple((number, number + 1) for number in range(len(ARGUMENT_LABELS)))


def test_rare_senses_and_labels_share_an_id():
    assert ids_of("go.30|ARGX:1|ARG1-DSP:2") == ids_of("go.other|other:1|other:2")
    assert ids_of("-").sense == 0 and ids_of("_").sense is None


def test_a_folder_has_the_column_of_some_splits(tmp_path):
    (tmp_path / "train.propbank").write_text("- go.01|ARG1:1\n_\n")
    assert has_predicates(tmp_path, "train") and not has_predicates(tmp_path, "valid")
    assert read_predicates(tmp_path, "train", [2, 1]) == [["-", "go.01|ARG1:1"], ["_"]]
    assert read_predicates(tmp_path, "valid", [2, 1]) == [["_", "_"], ["_"]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-\n", "train.propbank:1: 1 values, 2 expected"),
        ("- -\n-\n", "2 lines, but 1 sentences"),
        ("- go\n", "train.propbank:1: 'go' has no roleset: preprocess again"),
        ("- go.01|ARG0\n", "train.propbank:1: 'ARG0' is no argument"),
        ("- go.01|ARG0:0\n", "train.propbank:1: 'ARG0:0' is no argument"),
        ("- go.01|ARG0:3\n", "train.propbank:1: word 3 of 2 heads an argument"),
    ],
)
def test_an_unfit_file_is_an_error(text, problem, tmp_path):
    (tmp_path / "train.propbank").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_predicates(tmp_path, "train", [2])
