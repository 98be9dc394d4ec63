"""Training on explored states through the real programs."""

import re

import pytest
import torch

from tests.conftest import SAMPLE, fairseq_preprocess, run, run_here, train
from tests.crosses import mostly_slow

DYNAMIC = ("--oracle", "dynamic", "--explore", "0.2", "--explore-after", "1")
HINGE = ("--action-loss", "hinge", "--hinge-weight", "0.4", "--label-smoothing", "0")


def weights(folder):
    return torch.load(folder / "checkpoint_last.pt", weights_only=False)["model"]


@pytest.mark.parametrize("options", [pytest.param(()), pytest.param(HINGE, marks=pytest.mark.slow)])
def test_resumed_training_goes_on_in_the_same_way(data_folder, tmp_path, options):
    """Exploration begins before training stops, and goes on after it."""
    for name, stops in (("whole", (8,)), ("resumed", (5, 8))):
        for updates in stops:
            train(data_folder, tmp_path / name, *DYNAMIC, *options, updates=updates)
    whole, resumed = (weights(tmp_path / name) for name in ("whole", "resumed"))
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    train(data_folder, tmp_path / "static", *options, updates=8)
    static = weights(tmp_path / "static")
    assert any(not torch.equal(whole[name], static[name]) for name in whole)


@pytest.mark.parametrize("system", mostly_slow(["arc-eager", "arc-standard"], "arc-eager"))
def test_other_systems_train_and_parse(system, tmp_path):
    corpora = [part for split in ("train", "valid", "test") for part in (f"--{split}", SAMPLE)]
    run_here("preprocess", "dependency", *corpora, "--system", system, "--pieces", "400", "--dest", tmp_path / "data")
    fairseq_preprocess(tmp_path / "data")
    done = train(tmp_path / "data", tmp_path, *DYNAMIC, "--explore-after", "0", updates=4)
    (loss,) = re.findall(r'"train_nll_loss": "([\d.]+)"', done.stdout + done.stderr)[-1:]
    assert 0 < float(loss) < 20
    run_here("parse", tmp_path / "checkpoint_last.pt", SAMPLE, "-o", tmp_path / "parsed.conllu")


def test_a_training_that_can_not_be_ends_with_one_line(data_folder, tmp_path):
    done = run(
        "fairseq-train", data_folder, "--user-dir", "transition_parser", "--task", "transition_parsing", "--arch",
        "spa_dp_graph_small", "--criterion", "legal_cross_entropy", "--label-smoothing", "0.1", "--optimizer",
        "adam", "--max-tokens", "600", "--max-update", "2", "--save-dir", tmp_path, *HINGE, status=1,
    )  # fmt: skip
    assert "--action-loss hinge is for models that score actions" in done.stderr.splitlines()[-1]
