"""Columns of sentences: their values, files and what is wrong with these."""

import json

import pytest

from transition_parser.base.errors import InputError
from transition_parser.text.columns import FILE_NAME, Columns, read_annotations

COLUMNS = Columns({"upos": ("NOUN", "VERB"), "domain": ("news",)})


def test_ids_and_values():
    assert COLUMNS.count("upos") == 3 and "lemma" not in COLUMNS
    assert COLUMNS.ids("upos", ["VERB", "X", "NOUN"]) == [2, 0, 1]
    assert COLUMNS.of_ids("upos", [2, 0, 1]) == ["VERB", "_", "NOUN"]
    with pytest.raises(InputError, match=r"no column lemma: .*--lemmas`"):
        COLUMNS.count("lemma")


def test_a_file_and_none(tmp_path):
    assert Columns.load(tmp_path).values == {}
    for rules in ({}, {("dogs", "NOUN"): "l0+|1+", ("cats", "NOUN"): "l0+|1+", ("is", "_"): "=be"}):
        Columns(COLUMNS.values, rules).save(tmp_path)
        found = Columns.load(tmp_path)
        assert found.values == COLUMNS.values and found.rules == rules


def test_a_file_of_the_former_version(tmp_path):
    (tmp_path / FILE_NAME).write_text('{"format_version": 1, "columns": {"upos": ["NOUN"]}}')
    assert Columns.load(tmp_path).values == {"upos": ("NOUN",)}


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ([], "'rules' must be a JSON object"),
        ({"NOUN": []}, "rules of 'NOUN' must be a JSON object"),
        ({"NOUN": {"l0+|1+": ["a", "a"]}}, r"forms of the rule 'l0\+\|1\+' must be a list of strings, each there once"),
    ],
)
def test_unfit_rules(tmp_path, rules, problem):
    (tmp_path / FILE_NAME).write_text(json.dumps({"format_version": 2, "columns": {}, "rules": rules}))
    with pytest.raises(InputError, match=problem):
        Columns.load(tmp_path)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"colour": ["red"]}, "unknown column 'colour'"),
        ({"upos": ["A", "A"]}, "values of upos must be"),
        ({"upos": ["A B"]}, "values of upos must be"),
        ({"upos": ["_"]}, "values of upos must be"),
        ({"upos": [1]}, "values of upos must be"),
        ({"upos": "NOUN"}, "values of upos must be"),
        ([], "'columns' must be a JSON object"),
    ],
)
def test_an_unfit_file(tmp_path, columns, problem):
    (tmp_path / FILE_NAME).write_text(json.dumps({"format_version": 1, "columns": columns}))
    with pytest.raises(InputError, match=problem):
        Columns.load(tmp_path)


def test_marks_of_a_split(tmp_path):
    (tmp_path / "train.upos").write_text("NOUN VERB\nVERB\n")
    (tmp_path / "train.domain").write_text("news\nlaw\n")
    annotations = read_annotations(tmp_path, "train", ("upos", "domain"), [2, 1])
    assert annotations == {"upos": [["NOUN", "VERB"], ["VERB"]], "domain": [["news"], ["law"]]}
    for lengths, problem in (([2], "2 lines, but 1 sentences"), ([2, 3], "train.upos:2: 1 values, 3 expected")):
        with pytest.raises(InputError, match=problem):
            read_annotations(tmp_path, "train", ("upos",), lengths)
    with pytest.raises(InputError, match=r"valid.upos: can't be read"):
        read_annotations(tmp_path, "valid", ("upos",), [2])
