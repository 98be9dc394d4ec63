"""Moods of words: which ones are imperatives, by weights that a model of AMRs may have, and how they are made."""

import json

import pytest
import torch

from tests.conftest import SAMPLE
from tests.scripts import module
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.data.moods import FILE_NAME, IMPERATIVE, OTHER, UNSURE, Moods, features_of
from transition_parser.storage.checkpoints import export_checkpoint

_script = module("moods.py")


def test_the_encoder_and_the_words_around_tell_the_mood():
    moods = Moods(-1.0, [1.0, 0.0], {"0 go": 0.5, "3 now": -2.0})
    encoded = torch.tensor([[[0.0, 9.0], [2.0, 0.0]], [[-3.0, 0.0], [9.0, 0.0]]])
    assert [*moods.predicted(encoded, [["Go", "go"], ["stop", "Xyzzy"]])] == [[IMPERATIVE] * 2, [OTHER] * 2]
    assert [*moods.predicted(encoded[:1], [["go", "now"]])] == [[UNSURE, OTHER]]


def test_features_are_words_at_places_and_the_ends():
    found = [*features_of("if it rains , stay at home now .".split(), 4)]
    assert found[:4] == ["0 stay", "1 ,", "2 rains", "3 at"] and found[9] == "9 it rains ,"
    assert found[-3:] == ["first if", "last .", "near ,"]
    assert [*features_of(["stay"], 0)][-1] == "near <s>"


@pytest.mark.parametrize("change", [{"bias": None}, {"vector": ["a"]}, {"features": [1]}, {"features": {"0 go": []}}])
def test_damaged_weights_are_refused(tmp_path, change):
    (tmp_path / FILE_NAME).write_text(json.dumps({"bias": 0, "vector": [1], "features": {}, **change}), "utf-8")
    with pytest.raises(InputError, match=r"moods\.json: does not hold"):
        Moods.load(tmp_path)


def test_imperatives_are_learned():
    torch.manual_seed(0)
    vectors, targets = torch.randn(200, 4), torch.zeros(200)
    targets[:100] = 1.0
    features = [["0 go"] if target else ["0 see", "rare" if i == 150 else "1 to"] for i, target in enumerate(targets)]
    moods = _script.fitted(vectors, features, targets)
    assert moods.features["0 go"] > 0.5 and moods.features["1 to"] < -0.5 and "rare" not in moods.features


def test_a_model_gets_moods_and_search_stays_the_same(amr_checkpoint, tmp_path, monkeypatch, capsys):
    folder, sentences = tmp_path / "model", [["see", "boys", "want"], ["Go", "."]]
    export_checkpoint([amr_checkpoint], folder)
    before = Parser.load(folder, precision="fp32").parse(sentences)
    monkeypatch.setattr("sys.argv", ["moods.py", str(folder), str(SAMPLE), "--dev", str(SAMPLE)])
    _script.main()
    found = json.loads(capsys.readouterr().out)
    assert found["found"] <= found["verbs"] and found["others"] >= 0
    parser = Parser.load(folder, precision="fp32")
    assert parser.resources.moods.vector
    assert [one.actions for one in parser.parse(sentences)] == [one.actions for one in before]
    (folder / FILE_NAME).write_text("{}", "utf-8")
    with pytest.raises(InputError, match=r"moods\.json: its SHA-256 is not the one in config\.json"):
        Parser.load(folder)


def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["moods.py", "en-amr", str(tmp_path / "no.conllu")])
    with pytest.raises(SystemExit) as ended:
        _script.main()
    assert ended.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
