"""Cards: what is known of models without loading them, and `transition-parser models`."""

import json
import pickle
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import run_here
from transition_parser.base.errors import InputError
from transition_parser.parsing.parser import Parser
from transition_parser.storage.cards import GROUP, PRETRAINED, known_models, read_card
from transition_parser.storage.checkpoints import model_path

FIGURES = {"arc-hybrid-swap": ("uas", "las"), "amr": ("smatch",)}


@pytest.fixture
def model(tmp_path):
    """A model whose card can be changed."""
    return shutil.copytree(PRETRAINED / "en-ewt", tmp_path / "mine")


def test_each_model_of_the_package_says_all_of_itself():
    cards = list(known_models())
    assert [card.name for card in cards] == sorted(path.name for path in PRETRAINED.iterdir()) and len(cards) >= 4
    assert len({card.description for card in cards}) == len({card.version for card in cards}) == len(cards)
    for card in cards:
        text = (PRETRAINED / card.name / "README.md").read_text(encoding="utf-8").partition("\n---\n")[2]
        assert card.language == ("mul" if card.name == "xx" else "en")
        assert card.description and card.license and len(card.scores) == 2
        assert bool(card.needs) == (card.name == "xx" or card.name.endswith("-minilm"))
        for score in card.scores:  # the same figures as in the tables of the card
            assert all(str(score[name]) in text for name in FIGURES[card.system]), (card.name, score)


def test_the_table_and_json_say_the_same(model):
    cards = json.loads(run_here("models", model.parent, "--json").stdout)["models"]
    assert [card["name"] for card in cards][-1] == str(model) and cards[-1]["system"] == "arc-hybrid-swap"
    table = run_here("models", model).stdout
    for card in cards:
        said = [card["name"], card["description"], card["license"], card["version"], f"{card['bytes'] / 1e6:.1f}"]
        assert all(one in table for one in said)
    assert "English-EWT 2.15 test, beam 10: UAS 89.55, LAS 87.11" in table


@pytest.fixture
def install(model, tmp_path, monkeypatch):
    """A function that installs the model in a package, by a name, and returns its folder."""

    def installed(name: str) -> Path:
        about = tmp_path / "site" / "transition_parser_mine-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: transition-parser-mine\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = transition_parser_mine\n")
        monkeypatch.syspath_prepend(tmp_path / "site")
        return model.rename(about.parent.joinpath("transition_parser_mine", name))

    (tmp_path / "site" / "transition_parser_mine").mkdir(parents=True)
    return installed


def test_models_of_installed_packages_have_names(install):
    folder = install("mine")
    assert [card.name for card in known_models()][-1] == "mine"
    assert model_path("mine") == folder and Parser.load("mine").parse("Dogs bark.")
    assert "mine" in run_here("parse", "none", "-", status=2).stderr
    assert "transition_parser_mine" not in sys.modules
    (folder / "config.json").unlink()
    assert "mine" not in {card.name for card in known_models()} and model_path("mine") == Path("mine")


@pytest.mark.parametrize("name", ["en-ewt", "en"])
def test_a_name_of_the_package_stays_its_own(install, name):
    folder = install(name)
    assert model_path(name).parent == PRETRAINED
    assert {card.path for card in known_models() if card.name == name} <= {str(PRETRAINED / name)}
    assert str(folder) in {card.path for card in known_models()}


def test_a_model_of_a_language_goes_before_the_model_of_many(install):
    assert model_path("xx") == model_path("german") == model_path("de")
    assert install("de") == model_path("de") != model_path("german")


def test_a_folder_that_is_no_model_does_not_hide_a_model_of_its_name(install, monkeypatch, tmp_path):
    model = install("mine")
    work = tmp_path / "work"
    for name in ("en", "amr", "en-ewt", "mine", "unknown"):
        (work / name).mkdir(parents=True)
        (work / name / "train.conllu").touch()
    monkeypatch.chdir(work)
    assert {model_path(name).parent for name in ("en", "amr", "en-ewt")} == {PRETRAINED}
    assert model_path("mine") == model and model_path("unknown") == Path("unknown")
    assert pickle.loads(pickle.dumps(Parser.load("en-ewt"))).parse("Go.")
    assert run_here("parse", "en-fast", "-", stdin="Go.").stdout
    for name in ("./en", "./mine", "en/", str(work / "en")):
        assert model_path(name) == Path(name)
        with pytest.raises(InputError, match=r"en|mine/config.json"):
            Parser.load(name)
    shutil.rmtree(work / "en")
    shutil.copytree(model, work / "en")
    assert model_path("en") == Path("en")


def test_what_is_missing_is_said(model):
    config = json.loads((model / "config.json").read_text())
    config["model"]["pretrained"] = "no-such-encoder"
    (model / "config.json").write_text(json.dumps(config))
    assert read_card(model).missing == ("no-such-encoder",)
    assert "no-such-encoder (not installed)" in run_here("models", model).stdout


@pytest.mark.parametrize(
    ("card", "problem"),
    [
        ("---\nlanguage: en\n", r"README\.md: the front matter begins in line 1, but does not end"),
        ("---\nlanguage: en\nlicense: [\n---\n", r"README\.md: front matter: "),
        ("---\nlanguage: 5\n---\n", "'language' must be a string"),
        ("---\nscores: [{data: x, 1: 2}]\n---\n", "'scores' must be a list of mappings"),
        ("---\ndate: 2024-02-31\n---\n", r"README\.md: front matter: day is out of range"),
        ("---\n- a\n---\n", "write keys with values"),
    ],
)
def test_front_matter_that_is_wrong(card, problem, model):
    (model / "README.md").write_text(card)
    with pytest.raises(InputError, match=problem):
        read_card(model)
