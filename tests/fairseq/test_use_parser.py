"""The Unified Structure Encoder through the real programs: trained, generated from, averaged, exported, parsed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from tests.crosses import mostly_slow
from tests.fairseq import any_model
from transition_parser import Parser

SIZES = ("--encoder-embed-dim", "64", "--encoder-ffn-embed-dim", "64", "--use-width", "64", "--mlp-width", "64",
         "--action-width", "16", "--marker-width", "16", "--relation-width", "16")  # fmt: skip


def train(data: Path, checkpoints: Path, *options: str, updates: int = 6, status: int = 0):
    return any_model.train(data, checkpoints, "use_parser_small", *SIZES, *options, updates=updates, status=status)


@pytest.fixture(scope="module")
def checkpoint(data_folder, tmp_path_factory) -> Path:
    """A model of some updates, stopped and resumed."""
    folder = tmp_path_factory.mktemp("use_parser")
    return any_model.train_twice(data_folder, folder, "use_parser_small", *SIZES, updates=(40, 60))


@pytest.mark.parametrize("beam", mostly_slow([1, 2], 1))
def test_generate_finds_the_trees_of_parse(data_folder, checkpoint, beam):
    """Greedily, too, where the kind of an action is taken first."""
    any_model.check_generate(data_folder, checkpoint, beam)


@pytest.mark.slow
def test_average_and_export_parse_alike(checkpoint, tmp_path):
    assert any_model.check_average_and_export(checkpoint, tmp_path)["architecture"] == "use_parser_small"


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_other_precisions_find_about_the_same(checkpoint, precision):
    exact, other = (Parser.load(checkpoint, precision=name, threads=1).parse(SAMPLE) for name in ("fp32", precision))
    same = [ours.tree == theirs.tree for ours, theirs in zip(exact, other, strict=True)]
    assert len(same) == 64 and sum(same) > len(same) / 2


def test_a_sentence_does_not_depend_on_its_batch(checkpoint):
    any_model.check_batches(checkpoint)


@pytest.mark.slow
def test_copies_parse_as_one(checkpoint):
    any_model.check_copies(checkpoint)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        (
            "--read-tags",
            "--tag-loss",
            "0.1",
            "--character-width",
            "8",
            "--character-windows",
            "1,2",
            "--train-precision",
            "bf16",
        ),
        ("--action-dropout", "0.1", "--word-dropout", "0.1", "--encoder-local-layers", "1"),
        ("--lexical-encoder", "lstm", "--tag-loss", "0.1", "--train-precision", "bf16"),
        ("--stack-heads", "1", "--buffer-heads", "1", "--arc-heads", "0", "--relation-heads", "0"),
    ],
)
def test_variants_train(data_folder, tmp_path, options):
    done = train(data_folder, tmp_path, *options, "--no-save", updates=3)
    said = done.stdout + done.stderr
    assert '"valid_las"' in said
    losses = [float(loss) for loss in re.findall(r'"(?:train|valid)_loss": "([\d.]+)"', said)]
    assert losses and max(losses) < 20


@pytest.mark.slow
def test_amrs(amr_data_folder, tmp_path):
    train(amr_data_folder, tmp_path)
    run_here("export", tmp_path / "checkpoint_last.pt", "-o", tmp_path / "exported")
    for beam in ("1", "3"):
        run_here("parse", tmp_path / "exported", SAMPLE_AMR, "--beam", beam, "-o", tmp_path / "out.amr")
        run_here("score", SAMPLE_AMR, tmp_path / "out.amr")


def test_sizes_that_make_no_sense(data_folder, tmp_path):
    done = train(data_folder, tmp_path, "--use-width", "100", status=1)
    assert "InputError: the 8 heads of structures do not divide --use-width 100" in done.stderr
    done = train(data_folder, tmp_path, "--lexical-encoder", "lstm", "--encoder-layers", "0", status=1)
    assert "InputError: --lexical-encoder lstm needs --encoder-layers 1 or more" in done.stderr
    done = train(data_folder, tmp_path, "--softmax-over", "all", status=1)  # the data's SHIFTs have words
    assert "InputError: --softmax-over all is not for models that give all SHIFTs one score" in done.stderr
