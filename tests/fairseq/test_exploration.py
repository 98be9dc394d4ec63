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


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--oracle", "dynamic", "--explore", "1.5"), "--explore 1.5 is not between 0 and 1"),
        (("--oracle", "dynamic", "--explore-after", "-1"), "--explore-after -1 is negative"),
        (("--explore", "0.2"), "--explore is for --oracle dynamic"),
        (("--explore-after", "0"), "--explore-after is for --oracle dynamic"),
        (("--action-loss", "hinge"), "--action-loss hinge needs --softmax-over legal and --label-smoothing 0"),
        ((*HINGE, "--hinge-weight", "2"), "--hinge-weight 2.0 is not between 0 and 1"),
        ((*HINGE, "--predict-shift-words"), "--action-loss hinge does not train the words of SHIFT"),
        ((*HINGE, "--arch", "spa_dp_graph_small"), "--action-loss hinge is for models that score actions"),
        (
            ("--oracle", "dynamic", "--arch", "spa_dp_graph_small"),
            "--oracle dynamic is for models that score actions, which spa_dp_graph_small does not",
        ),
    ],
)
def test_what_can_not_be_is_said(data_folder, tmp_path, options, problem):
    assert problem in failed(data_folder, tmp_path, *options)


def test_amrs_have_no_costs(amr_data_folder, tmp_path):
    assert "--oracle dynamic is for dependency trees" in failed(amr_data_folder, tmp_path, "--oracle", "dynamic")
    assert "--action-loss hinge is for dependency trees, not for amr" in failed(amr_data_folder, tmp_path, *HINGE)


def failed(data, folder, *options):
    """The last line that training prints before it stops."""
    done = run(
        "fairseq-train", data, "--user-dir", "transition_parser", "--task", "transition_parsing", "--arch",
        "stack_transformer_small", "--criterion", "legal_cross_entropy", "--label-smoothing", "0.1", "--optimizer",
        "adam", "--max-tokens", "600", "--max-update", "2", "--save-dir", folder, *options, status=1,
    )  # fmt: skip
    return done.stderr.splitlines()[-1]
