"""Sentence and State Transformer through the real programs: trained, generated from, averaged, exported, parsed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, run_here
from tests.crosses import mostly_slow
from tests.fairseq import any_model
from tests.tiny_encoder import WIDTH, make_encoder
from transition_parser import Parser

SIZES = ("--encoder-embed-dim", "32", "--encoder-ffn-embed-dim", "64", "--relation-width", "32")
ACTIONS = ("--exist-width", "32")
STATE = (*ACTIONS, "--composition-width", "16", "--history-width", "16", "--no-graph-output")
MODELS = {
    "sentence_transformer_small": (*ACTIONS, "--pretrained-lr-scale", "0.5", "--fresh-layers", "1"),
    "sentence_transformer_g2g_small": (*ACTIONS, "--sampled-states", "3", "--character-width", "8"),
    "recursive_g2g_small": ("--arc-width", "32", "--refine", "2", "--tag-loss", "0.1"),
    "state_transformer_small": (*STATE, "--sampled-states", "3", "--root-at-bottom"),
}


def train(data: Path, checkpoints: Path, arch: str, *options: str, updates: int = 6, status: int = 0):
    optimizer = ("--optimizer", "adam_by_part")
    return any_model.train(data, checkpoints, arch, *SIZES, *optimizer, *options, updates=updates, status=status)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module", params=mostly_slow(MODELS, "sentence_transformer_g2g_small"))
def checkpoint(request, data_folder, encoder, tmp_path_factory) -> Path:
    """A model of some updates, stopped and resumed, which starts from layers of an encoder."""
    folder, arch = tmp_path_factory.mktemp(request.param), request.param
    options = (*SIZES, "--optimizer", "adam_by_part", *MODELS[arch], "--pretrained", encoder)
    return any_model.train_twice(data_folder, folder, arch, *options, updates=(10, 20))


@pytest.mark.parametrize("beam", mostly_slow([1, 2], 2))
def test_generate_finds_the_trees_of_parse(data_folder, checkpoint, beam):
    any_model.check_generate(data_folder, checkpoint, beam)


def test_average_and_export_parse_alike(checkpoint, tmp_path):
    config = any_model.check_average_and_export(checkpoint, tmp_path)
    assert config["architecture"] in MODELS and len(config["model"]["pretrained_sha256"]) == 64
    assert config["model"]["encoder_embed_dim"] == WIDTH  # that of the encoder, whatever was asked for


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_other_precisions_find_about_as_good_parses(checkpoint, precision):
    """After so few updates many actions are about as good as others."""
    exact, other = (Parser.load(checkpoint, precision=name, threads=1).parse(SAMPLE) for name in ("fp32", precision))
    assert len(exact) == len(other) == 64
    apart = [abs(ours.score - theirs.score) for ours, theirs in zip(exact, other, strict=True)]
    assert sorted(apart)[32] < 0.1


def test_a_sentence_does_not_depend_on_its_batch(checkpoint):
    any_model.check_batches(checkpoint)


@pytest.mark.slow
def test_copies_parse_as_one(checkpoint):
    any_model.check_copies(checkpoint)


def test_a_sentence_longer_than_any_position(checkpoint):
    """The encoder has 24: what is further away is like the last."""
    (parse,) = Parser.load(checkpoint).parse([["word"] * 200])
    assert parse.tree.why_invalid() is None


@pytest.mark.slow
def test_an_exported_model_without_its_encoder(data_folder, checkpoint, encoder, tmp_path):
    moved = tmp_path / "encoder"
    run_here("export", checkpoint, "-o", tmp_path / "exported")
    shutil.move(encoder, moved)
    try:
        done = run_here("parse", tmp_path / "exported", SAMPLE, status=2)
        assert "is not on this machine" in done.stderr and "Traceback" not in done.stderr
    finally:
        shutil.move(moved, encoder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "options"),
    [
        ("sentence_transformer_small", ("--read-tags", "--tag-loss", "0.1", "--train-precision", "bf16")),
        ("sentence_transformer_g2g_small", ("--read-tags", "--train-precision", "bf16")),
        ("state_transformer_small", ("--read-tags", "--sampled-states", "2")),
        ("state_transformer_g2g_small", (*STATE[:6], "--sampled-states", "2", "--word-dropout", "0.1")),
        ("state_transformer_g2g_small", (*STATE, "--composition", "--history-layers", "2")),
        ("recursive_g2g_small", ("--refine", "0", "--read-tags", "--tag-loss", "0.1", "--train-precision", "bf16")),
        ("sentence_transformer_g2g_small", ("--oracle", "dynamic", "--explore-after", "0", "--sampled-states", "2")),
    ],
)
def test_from_scratch(data_folder, tmp_path, arch, options):
    done = train(data_folder, tmp_path, arch, *options, "--no-save", updates=3)
    assert '"valid_las"' in done.stdout + done.stderr


def test_options_that_make_no_sense(data_folder, amr_data_folder, tmp_path):
    done = train(data_folder, tmp_path, "state_transformer_small", "--tag-loss", "0.1", status=1)
    assert "InputError: there is no encoder before the decoder" in done.stderr
    done = train(amr_data_folder, tmp_path, "sentence_transformer_small", status=1)
    assert "InputError: the Graph2Graph Transformer reads and writes dependency trees, not amr" in done.stderr
