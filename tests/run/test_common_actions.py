"""Rare concepts and frames that do not exist are left out of training data, with their sentences."""

import argparse
import json

import common_actions
import pytest

from transition_parser.base.errors import InputError

ACTIONS = ["PRED(dog) RA(ARG0)", "PRED(dog) PRED(threat-01)", "PRED(threat-01) VALUE(7)", "PRED(cat)", 'VALUE("x")']


@pytest.mark.parametrize(
    ("action", "count", "stays"),
    [
        ("PRED(dog)", 2, True),
        ("PRED(dog)", 1, False),
        ("PRED(run-02)", 2, True),
        ("PRED(run-99)", 9, False),
        ('ENTITY(city,"Rome")', 1, False),
        ("VALUE(7)", 1, True),
        ('VALUE("7:30")', 1, False),
        ("RA(ARG0)", 1, True),
    ],
)
def test_an_action_stays_if_it_is_common(action, count, stays):
    assert common_actions.is_common(action, count) == stays


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("src", "act", "domain"):
        lines = ACTIONS if name == "act" else [f"{name} {number}" for number in range(len(ACTIONS))]
        (folder / f"train.{name}").write_text("\n".join(lines) + "\n")
    (folder / "train.amr").write_text("\n\n".join(f"# ::id {n}\n(x / y)" for n in range(len(ACTIONS))) + "\n")
    lexicon = {"counts": {"dog": {"PRED(dog)": 2}, "cat": {"PRED(cat)": 1}}, "spans": {"cat": ["PRED(cat)"]}}
    (folder / "lexicon.json").write_text(json.dumps({**lexicon, "wiki": {}}))
    return folder


def test_sentences_and_the_lexicon_lose_the_same_actions(data):
    (notice,) = common_actions.prune(argparse.Namespace(data=data, known=None))
    assert notice == "left out 3 actions, and 4 of 5 sentences"
    assert (data / "train.act").read_text() == "PRED(dog) RA(ARG0)\n"
    assert (data / "train.domain").read_text() == "domain 0\n"
    assert (data / "train.amr").read_text() == "# ::id 0\n(x / y)\n"
    found = json.loads((data / "lexicon.json").read_text())
    assert found == {"counts": {"dog": {"PRED(dog)": 2}}, "spans": {}, "wiki": {}}


def test_actions_of_the_model_before_stay(data, tmp_path):
    (tmp_path / "dict.act.txt").write_text("PRED(cat) 7\nPRED(threat-01) 1\n")
    (notice,) = common_actions.prune(argparse.Namespace(data=data, known=tmp_path / "dict.act.txt"))
    assert notice == "left out 1 actions, and 1 of 5 sentences"
    assert (data / "train.act").read_text().splitlines() == ACTIONS[:4]


def test_binarised_data_are_an_error(data):
    (data / "train.src-act.act.bin").write_bytes(b"\x99")
    with pytest.raises(InputError, match="binarised already"):
        common_actions.prune(argparse.Namespace(data=data, known=None))
    assert (data / "train.act").read_text().splitlines() == ACTIONS


def test_data_of_trees_have_no_lexicon(tmp_path):
    (tmp_path / "train.act").write_text("SHIFT\n")
    with pytest.raises(InputError, match="lexicon"):
        common_actions.prune(argparse.Namespace(data=tmp_path, known=None))
    assert (tmp_path / "train.act").read_text() == "SHIFT\n"
