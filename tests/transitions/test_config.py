import json
from pathlib import Path

import pytest

import transition_parser
from transition_parser.base.errors import InputError
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig
from transition_parser.transitions.lexicon import Lexicon

CONFIG = ParserConfig("arc-eager", ("obj", "root", "a b"), ("the", "%"), roots=("root",))


def test_it_comes_back(tmp_path):
    CONFIG.save(tmp_path)
    assert ParserConfig.load(tmp_path) == CONFIG


def test_the_models_of_the_package_know_the_actions_that_they_were_trained_on():
    folder = Path(transition_parser.__file__).with_name("pretrained") / "en-ewt"
    config = ParserConfig.load(folder)
    assert config.roots == ("root",)
    symbols = [line.split()[0] for line in (folder / "dict.act.txt").read_text(encoding="utf-8").splitlines()]
    assert set(map(str, config.actions())) == {symbol for symbol in symbols if not symbol.startswith("madeupword")}


def test_actions_cover_all_relations():
    tokens = set(map(str, CONFIG.actions()))
    assert {"SHIFT", "SHIFT(the)", "SHIFT(%25)", "REDUCE", "LEFT-ARC(root)", "RIGHT-ARC(a%20b)"} <= tokens
    assert "RIGHT-ARC(root)" not in tokens and "SWAP" not in tokens
    assert Action.parse("SHIFT(%25)") in CONFIG.actions()


@pytest.mark.parametrize("text", ["{", "[]", "{}", json.dumps({"format_version": 99, "system": "arc-eager"})])
def test_other_files_are_errors(tmp_path, text):
    (tmp_path / "parser.json").write_text(text)
    with pytest.raises(InputError, match=r"parser\.json"):
        ParserConfig.load(tmp_path)


def test_frames_of_another_version_are_an_error(tmp_path):
    config = ParserConfig("amr", frames=packaged().version, lexicon=Lexicon())
    config.save(tmp_path)
    assert ParserConfig.load(tmp_path) == config
    path = tmp_path / "parser.json"
    path.write_text(path.read_text().replace("AMR 2019", "AMR 1999"))
    with pytest.raises(InputError, match=r"parser\.json: made with the frames 'propbank-frames, AMR 1999"):
        ParserConfig.load(tmp_path)


def parser(**values) -> str:
    lists: dict = {key: [] for key in ("relations", "shift_words", "roots", "shared_roots")}
    return json.dumps({"system": "arc-eager", "format_version": 2} | lists | values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (parser(system="arc-lazy"), "unknown transition system 'arc-lazy'"),
        (parser(system=None), "'system' must be a string, not None"),
        (parser(shift_words=5), "'shift_words' must be a list of strings, each there once, not 5"),
        (parser(relations="nsubj"), "'relations' must be a list of strings"),
        (parser(relations=["a", ["b"]]), "'relations' must be a list of strings"),
        (parser(relations=["a", "b", "a"]), "each there once"),
        (parser(format_version=2.0), "format version 2.0"),
        (parser(more=[]), "unknown key 'more'"),
        (json.dumps({"system": "arc-eager", "format_version": 2}), "is missing"),
        ("[" * 100_000, "nested too deeply"),
        (parser(roots=["x"]).replace('"x"', '"\\ud800"'), "half a character"),
    ],
)
def test_what_a_file_can_not_hold(tmp_path, text, problem):
    (tmp_path / "parser.json").write_text(text)
    with pytest.raises(InputError, match=problem) as raised:
        ParserConfig.load(tmp_path)
    assert str(raised.value).startswith(str(tmp_path / "parser.json"))
    assert len(str(raised.value).splitlines()) == 1 and len(str(raised.value)) < 400
