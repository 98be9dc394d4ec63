"""Models that read words by a pretrained encoder, through the real programs."""

import json
import shutil
import sys

import pytest
from safetensors import safe_open

from tests.conftest import generate, run_here, train
from tests.crosses import mostly_slow
from tests.tiny_encoder import make_encoder
from transition_parser import Parser
from transition_parser.base.errors import InputError

TEXT = "The old dog sleeps .\nShe sees it .\n"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


def flags(encoder, how: str, folder) -> tuple:
    options = ("--pretrained", encoder, "--pretrained-training", how, "--pretrained-rank", 4)
    return (*options, "--pretrained-layers", "0-2", "--pretrained-cache", folder / "kept")


@pytest.fixture(scope="module", params=mostly_slow(["frozen", "adapters"], "frozen"))
def trained(request, data_folder, encoder, tmp_path_factory):
    """How the encoder was trained, the checkpoint and the export of a few updates."""
    folder = tmp_path_factory.mktemp(request.param)
    train(data_folder, folder, *flags(encoder, request.param, folder))
    run_here("export", folder / "checkpoint_last.pt", "-o", folder / "exported")
    return request.param, folder / "checkpoint_last.pt", folder / "exported"


def parsed(model) -> str:
    return run_here("parse", model, "-", "--scores", "--precision", "fp32", stdin=TEXT).stdout


def test_the_export_has_what_was_learned_and_names_the_encoder(trained, encoder):
    how, checkpoint, exported = trained
    config = json.loads((exported / "config.json").read_text())["model"]
    assert config["pretrained"] == str(encoder) and len(config["pretrained_sha256"]) == 64
    with safe_open(exported / "model.safetensors", "pt") as file:
        inside = [name for name in file.keys() if ".network." in name]  # noqa: SIM118
    assert bool(inside) == (how != "frozen") and all((".lora_" in name) == (how == "adapters") for name in inside)
    assert bool(list((checkpoint.parent / "kept").glob("*.f16"))) == (how == "frozen")
    assert parsed(checkpoint) == parsed(exported)


def test_fairseq_generates_and_validates(trained, data_folder):
    _, checkpoint, _ = trained
    kept = ("--pretrained-cache", checkpoint.parent / "kept")
    done = generate(data_folder, checkpoint, "--beam", 2, "--gen-subset", "valid", *kept)
    assert "Generate valid with beam=2: UAS" in done.stdout


def test_it_resumes(trained, data_folder, encoder, tmp_path):
    how, checkpoint, _ = trained
    shutil.copy(checkpoint, tmp_path)
    done = train(data_folder, tmp_path, *flags(encoder, how, checkpoint.parent), "--disable-validation", updates=8)
    assert "Loaded checkpoint" in done.stdout + done.stderr


def test_another_encoder_or_none(trained, encoder, tmp_path):
    _, _, exported = trained
    aside = encoder.rename(encoder.with_name("aside"))
    try:
        done = run_here("parse", exported, "-", stdin=TEXT, status=2)
        assert "is not on this machine: give the folder" in done.stderr and len(done.stderr.splitlines()) == 1
        make_encoder(encoder, seed=2)
        done = run_here("parse", exported, "-", stdin=TEXT, status=2)
        assert "is not the one that the model was trained with" in done.stderr and len(done.stderr.splitlines()) == 1
    finally:
        shutil.rmtree(encoder, ignore_errors=True)
        aside.rename(encoder)


def test_a_sentence_longer_than_the_encoder_reads(trained):
    (long,) = Parser.load(trained[2]).parse([["word"] * 600])
    assert len(long.tree) == 600


def test_without_tokenizers(trained, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=r"pip install 'transition-parser\[pretrained\]'"):
        Parser.load(trained[2])
