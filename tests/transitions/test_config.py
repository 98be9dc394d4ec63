"""The files parser.json and lexicon.json: they come back, and broken ones are errors of one line."""

import json
from pathlib import Path

import pytest

import transition_parser
from transition_parser.base.errors import InputError
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action
from transition_parser.transitions.amr_limits import SearchLimits, Sort
from transition_parser.transitions.config import Lexicon, ParserConfig

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


def test_groups_of_relations_come_back(tmp_path):
    config = ParserConfig("arc-hybrid-swap", ("obj", "root"), roots=("root",), once=(("csubj", "nsubj"), ("obj",)))
    config.save(tmp_path)
    assert ParserConfig.load(tmp_path) == config
    assert config.transition_system().once == (("csubj", "nsubj"), ("obj",))


def test_actions_cover_all_relations():
    tokens = set(map(str, CONFIG.actions()))
    assert {"SHIFT", "SHIFT(the)", "SHIFT(%25)", "REDUCE", "LEFT-ARC(root)", "RIGHT-ARC(a%20b)"} <= tokens
    assert "RIGHT-ARC(root)" not in tokens and "SWAP" not in tokens
    assert Action.parse("SHIFT(%25)") in CONFIG.actions()


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
        (parser(relations=["a", "b", "a"]), "each there once"),
        (parser(more=[]), "unknown key 'more'"),
        (parser(once=["obj"]), "'once' must be a list of lists of strings, each there once"),
        (parser(once=[["obj"], ["nsubj", "obj"]]), "'once' must be a list of lists of strings"),
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


TARGETS = {"mode": frozenset({Sort.IMPERATIVE, Sort.NAME}), "op": frozenset[Sort]()}
LEXICON = Lexicon(
    {"new york": ["PRED(city)"], "ü": ['ENTITY(country,"A%252CB")']},
    {'"Ann"': "-"},
    SearchLimits(frozenset({"op1", "ARG0"}), TARGETS),
    {"new york": {"COPY_LEMMA": 2, "PRED(city)": 1}},
)
LIMITS = SearchLimits().to_json()


def test_round_trip(tmp_path):
    LEXICON.save(tmp_path)
    assert Lexicon.load(tmp_path) == LEXICON
    before = (tmp_path / "lexicon.json").read_bytes()
    Lexicon.load(tmp_path).save(tmp_path)
    assert (tmp_path / "lexicon.json").read_bytes() == before and "ü".encode() in before


def test_a_parser_of_amrs_has_a_lexicon(tmp_path):
    config = ParserConfig("amr", ("ARG0",), lexicon=LEXICON)
    config.save(tmp_path)
    assert ParserConfig.load(tmp_path) == config
    system = config.transition_system()
    assert system.lexicon == LEXICON.spans and system.limits == LEXICON.limits
    assert "ARG0" in {action.label for action in config.actions()}
    (tmp_path / "lexicon.json").unlink()
    with pytest.raises(InputError, match=r"lexicon\.json: not found: `transition-parser preprocess amr` writes it"):
        ParserConfig.load(tmp_path)


def lexicon(**values) -> str:
    return json.dumps({"format_version": 2, "spans": {}, "wiki": {}, "limits": LIMITS, "counts": {}} | values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[]", "must be a JSON object"),
        ('{"format_version": 9}', "format version 9, but this program reads 2"),
        ('{"format_version": 2, "spans": {}}', "'wiki' is missing"),
        (lexicon(more=1), "unknown key 'more'"),
        (lexicon(spans=[]), "'spans' must be an object of lists of strings"),
        (lexicon(spans={"a": "PRED(b)"}), "'spans' must be an object of lists of strings"),
        (lexicon(counts={"a": ["PRED(b)"]}), "'counts' must be an object of objects of whole numbers"),
        (lexicon(wiki={"a": "b c"}), "the wiki of 'a' is 'b c'"),
        (lexicon(limits=[]), "'limits' must be a JSON object"),
        (lexicon(limits=LIMITS | {"once": ["ARG0", "ARG0"]}), "'once' must be .* each there once"),
        (lexicon(limits=LIMITS | {"targets": {"op": ["dog"]}}), "limits: .*dog.* is not a valid Sort"),
    ],
)
def test_files_that_are_none(tmp_path, text, problem):
    (tmp_path / "lexicon.json").write_text(text)
    with pytest.raises(InputError, match=problem) as raised:
        Lexicon.load(tmp_path)
    assert str(raised.value).startswith(str(tmp_path / "lexicon.json"))
    assert len(str(raised.value).splitlines()) == 1 and len(str(raised.value)) < 500
