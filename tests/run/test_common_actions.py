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


def test_sentences_and_the_lexicon_lose_the_same_actions(tmp_path):
    for name in ("src", "act", "domain"):
        lines = ACTIONS if name == "act" else [f"{name} {number}" for number in range(len(ACTIONS))]
        (tmp_path / f"train.{name}").write_text("\n".join(lines) + "\n")
    (tmp_path / "train.amr").write_text("\n\n".join(f"# ::id {n}\n(x / y)" for n in range(len(ACTIONS))) + "\n")
    lexicon = {"counts": {"dog": {"PRED(dog)": 2}, "cat": {"PRED(cat)": 1}}, "spans": {"cat": ["PRED(cat)"]}}
    (tmp_path / "lexicon.json").write_text(json.dumps({**lexicon, "wiki": {}}))
    (notice,) = common_actions.prune(argparse.Namespace(data=tmp_path))
    assert notice == "left out 3 actions, and 4 of 5 sentences"
    assert (tmp_path / "train.act").read_text() == "PRED(dog) RA(ARG0)\n"
    assert (tmp_path / "train.domain").read_text() == "domain 0\n"
    assert (tmp_path / "train.amr").read_text() == "# ::id 0\n(x / y)\n"
    found = json.loads((tmp_path / "lexicon.json").read_text())
    assert found == {"counts": {"dog": {"PRED(dog)": 2}}, "spans": {}, "wiki": {}}


def test_data_of_trees_have_no_lexicon(tmp_path):
    (tmp_path / "train.act").write_text("SHIFT\n")
    with pytest.raises(InputError, match="lexicon"):
        common_actions.prune(argparse.Namespace(data=tmp_path))
    assert (tmp_path / "train.act").read_text() == "SHIFT\n"
