import json

import pytest

from transition_parser.errors import InputError
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

CONFIG = ParserConfig("arc-eager", "root", ("obj", "root", "a b"), ("the", "%"))


def test_it_comes_back(tmp_path):
    CONFIG.save(tmp_path)
    assert ParserConfig.load(tmp_path) == CONFIG


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
