"""Columns of sentences: their values, files and what is wrong with these."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.text.columns import (
    FILE_NAME,
    KNOWN,
    Columns,
    labels_of,
    present,
    read_annotations,
    seen_with_tags,
    values_of_forms,
)

COLUMNS = Columns({"upos": ("NOUN", "VERB"), "domain": ("news",)})


def test_ids_and_values():
    assert COLUMNS.count("upos") == 3 and "lemma" not in COLUMNS
    assert COLUMNS.ids("upos", ["VERB", "X", "NOUN"]) == [2, 0, 1]
    assert COLUMNS.of_ids("upos", [2, 0, 1]) == ["VERB", "_", "NOUN"]
    with pytest.raises(InputError, match=r"no column lemma: .*--lemmas`"):
        COLUMNS.count("lemma")


def test_a_file_and_none(tmp_path):
    assert Columns.load(tmp_path).values == {}
    rules = {("dogs", "NOUN"): "l0+|1+", ("cats", "NOUN"): "l0+|1+", ("is", "_"): "=be"}
    for forms in ({}, {"lemma": rules}, {"lemma": rules, "feats": {("dogs", "NOUN"): "Number=Plur", ("to", "_"): "|"}}):
        Columns(COLUMNS.values, forms).save(tmp_path)
        found = Columns.load(tmp_path)
        assert found.values == COLUMNS.values and found.forms == forms


def test_forms_keep_what_they_have_throughout_with_a_tag():
    rows = (("VERB", "cut", "_"), ("NOUN", "cut", "Number=Sing"), ("NOUN", "cuts", "Number=Sing"))
    words = tuple(Row(str(i), "cut", lemma, upos, feats=feats) for i, (upos, lemma, feats) in enumerate(rows, 1))
    by_tag = values_of_forms([Sentence(words)], ("upos", "lemma", "feats"))
    assert by_tag["feats"] == {("cut", "VERB"): "|", ("cut", "NOUN"): "Number=Sing"}
    assert {*by_tag["lemma"]} == {("cut", "VERB")}
    assert values_of_forms([Sentence(words)], ("feats",)) == {"feats": {}}


def test_a_lemma_is_a_known_one_if_one_of_the_rules_gives_it():
    columns = Columns(forms={"lemma": {("cut", "VERB"): "k0+|0+"}})
    assert columns.lemma("cutting", "VERB", "k0+|3+ k0+|4+") == "cut"
    assert columns.lemma("cutting", "NOUN", "k0+|3+ k0+|4+") == "cutt"  # known with another tag
    assert columns.lemma("cutting", "VERB", "k0+|3+") == "cutt" and columns.lemma("a", "VERB", "") == "a"


def sentence(*words: tuple[str, str, str]) -> Sentence:
    """A sentence of words with UPOS, XPOS and FEATS."""
    return Sentence(tuple(Row(str(i), "a", upos=u, xpos=x, feats=f) for i, (u, x, f) in enumerate(words, 1)))


SENTENCES = [
    sentence(("NOUN", "NN", "Number=Sing|Case=Nom"), ("PUNCT", "_", "_")),
    sentence(("NOUN", "NN", "_"), ("VERB", "VB", "Number=Sing"), ("_", "X", "Typo=Yes")),
]


def test_labels_of_columns():
    assert [*labels_of("xpos", SENTENCES)] == ["NN", "NN", "VB", "X"]
    assert [*labels_of("feats", SENTENCES)] == ["Number=Sing", "Case=Nom", "Number=Sing", "Typo=Yes"]
    assert KNOWN["feats"].values(SENTENCES[0]) == ["Number=Sing|Case=Nom", "|"]  # known to have none


def test_columns_that_are_there():
    assert present(SENTENCES, ["upos", "lemma", "feats"]) == ["upos", "feats"]
    assert present([sentence(("_", "_", "_"))], ["upos", "xpos", "feats"]) == []
    assert present(iter([SENTENCES[0], None]), ["xpos", "feats"]) == ["xpos", "feats"]  # reads no further than needed


def test_labels_seen_with_tags():
    columns = {"upos": ("NOUN", "VERB", "PUNCT"), "xpos": ("NN", "VB"), "feats": ("Number=Sing", "Case=Nom")}
    assert seen_with_tags(SENTENCES, columns) == {
        "xpos": {"NOUN": ["NN"], "VERB": ["VB"], "PUNCT": []},
        "feats": {"NOUN": ["Number=Sing", "Case=Nom"], "VERB": ["Number=Sing"], "PUNCT": []},
    }
    del columns["upos"]
    assert seen_with_tags(SENTENCES, columns) == {}


@given(st.sets(st.sampled_from(["Case=Nom", "animacy=Hum", "Number[psor]=Sing", "Number=Sing", "Foreign"])))
def test_labels_and_values_of_sets(labels):
    column = KNOWN["feats"]
    value = column.value(labels)
    assert value == ("_" if not labels else "|".join(sorted(labels, key=str.lower)))
    assert not labels or set(column.labels(value)) == labels


def test_a_file_of_labels_seen_with_tags(tmp_path):
    seen = {"feats": {"NOUN": ["Case=Nom"], "VERB": []}}
    Columns({"upos": ("NOUN", "VERB"), "feats": ("Case=Nom", "Case=Acc")}, seen=seen).save(tmp_path)
    assert Columns.load(tmp_path).seen == seen


@pytest.mark.parametrize(
    ("columns", "seen", "problem"),
    [
        ({"feats": ["Case=Nom|Number=Sing"]}, {}, r"a label of feats holds \|"),
        ({"upos": ["NOUN"]}, {"feats": []}, "the labels of 'feats' that were seen must be a JSON object"),
        ({"upos": ["NOUN"], "feats": ["A"]}, {"feats": {"VERB": ["A"]}}, "by UPOS tag"),
        ({"upos": ["NOUN"], "feats": ["A"]}, {"feats": {"NOUN": ["B"]}}, "must be values of feats"),
        ({"upos": ["NOUN"], "feats": ["A"]}, {"feats": {"NOUN": "A"}}, "must be values of feats"),
    ],
)
def test_an_unfit_file_of_labels(tmp_path, columns, seen, problem):
    (tmp_path / FILE_NAME).write_text(json.dumps({"format_version": 3, "columns": columns, "seen": seen}))
    with pytest.raises(InputError, match=problem):
        Columns.load(tmp_path)


def test_a_file_of_the_former_version(tmp_path):
    (tmp_path / FILE_NAME).write_text('{"format_version": 1, "columns": {"upos": ["NOUN"]}}')
    assert Columns.load(tmp_path).values == {"upos": ("NOUN",)}


@pytest.mark.parametrize(
    ("forms", "problem"),
    [
        ([], "'{key}' must be a JSON object"),
        ({"NOUN": []}, "the {key} of 'NOUN' must be a JSON object"),
        ({"NOUN": {"A=B": ["a", "a"]}}, "the forms of 'A=B' in {key} must be a list of strings, each there once"),
    ],
)
@pytest.mark.parametrize("key", ["rules", "features"])
def test_unfit_values_of_forms(tmp_path, key, forms, problem):
    (tmp_path / FILE_NAME).write_text(json.dumps({"format_version": 2, "columns": {}, key: forms}))
    problem = problem.format(key=key)
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
