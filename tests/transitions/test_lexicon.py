"""`lexicon.json`: written and read, and what is none."""

import pytest

from transition_parser.errors import InputError
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig
from transition_parser.transitions.lexicon import Lexicon

LEXICON = Lexicon(
    {"new york": (Action.parse("PRED(city)"),), "ü": (Action.parse('ENTITY(country,"A%252CB")'),)}, {'"Ann"': "-"}
)


def test_round_trip(tmp_path):
    LEXICON.save(tmp_path)
    assert Lexicon.load(tmp_path) == LEXICON
    before = (tmp_path / "lexicon.json").read_bytes()
    Lexicon.load(tmp_path).save(tmp_path)
    assert (tmp_path / "lexicon.json").read_bytes() == before and "ü".encode() in before


def test_a_parser_of_amrs_has_a_lexicon(tmp_path):
    config = ParserConfig("amr", "", ("ARG0",), lexicon=LEXICON)
    config.save(tmp_path)
    assert ParserConfig.load(tmp_path) == config
    assert config.transition_system().lexicon == LEXICON.spans
    assert "ARG0" in {action.label for action in config.actions()}
    (tmp_path / "lexicon.json").unlink()
    with pytest.raises(InputError, match=r"lexicon\.json: not found: `transition-parser preprocess amr` writes it"):
        ParserConfig.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no lexicon"),
        ("[]", "no lexicon"),
        ('{"format_version": 9}', "format version 9, this program reads 1"),
        ('{"format_version": 1, "spans": {}}', "no lexicon: 'wiki'"),
        ('{"format_version": 1, "spans": {"a": ["JUMP"]}, "wiki": {}}', "no lexicon"),
        ('{"format_version": 1, "spans": [], "wiki": {}}', "no lexicon"),
    ],
)
def test_files_that_are_none(tmp_path, text, problem):
    (tmp_path / "lexicon.json").write_text(text)
    with pytest.raises(InputError, match=problem):
        Lexicon.load(tmp_path)
