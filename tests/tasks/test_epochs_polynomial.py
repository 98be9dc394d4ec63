"""The scheduler whose length is in epochs, and the lengths of trainings in updates."""

import json
import re

import pytest
import torch
from fairseq.logging import metrics
from fairseq.optim.lr_scheduler.polynomial_decay_schedule import (
    PolynomialDecayLRSchedule,
    PolynomialDecayLRScheduleConfig,
)
from fairseq.optim.sgd import SGD

from tests.conftest import train
from transition_parser.base.errors import InputError
from transition_parser.tasks.optimization import EpochsPolynomial, EpochsPolynomialConfig, tell_batches


class Optimizer(SGD):
    """fairseq's, without its options."""

    def __init__(self) -> None:
        self._optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.25)


def config(**options) -> EpochsPolynomialConfig:
    known = {"warmup_epochs": 1.5, "max_epoch": 4, "max_update": 0, "update_freq": [1], "lr": [0.5]}
    return EpochsPolynomialConfig(**(known | options))


@pytest.fixture(autouse=True)
def nothing_told():
    metrics.reset()


@pytest.mark.parametrize(
    ("options", "warmup", "total"),
    [
        ({}, 15, 40),
        ({"warmup_epochs": 0.0}, 0, 40),
        ({"warmup_epochs": 2.5}, 10, 40),  # a short training has a short warm-up
        ({"update_freq": [5]}, 3, 8),
        ({"lr": [0.5, 0.25]}, 15, 40),
        ({"max_update": 25}, 15, 25),
        ({"max_update": 50}, 15, 40),
    ],
)
def test_it_equals_polynomial_decay_with_as_many_updates(options, warmup, total):
    cfg = config(**options)
    ours = EpochsPolynomial(cfg, Optimizer())
    theirs = PolynomialDecayLRSchedule(
        PolynomialDecayLRScheduleConfig(warmup_updates=warmup, total_num_update=total, lr=cfg.lr), Optimizer()
    )
    tell_batches(10)
    for update in range(total + 3):
        if update % 10 == 0:
            ours.step_begin_epoch(update // 10 + 1)
            theirs.step_begin_epoch(update // 10 + 1)
        assert ours.step_update(update) == theirs.step_update(update)
        assert ours.optimizer.get_lr() == theirs.optimizer.get_lr()


def test_before_the_data_are_there_the_learning_rate_stays():
    """fairseq asks for it when it loads a checkpoint, and again when the data are loaded."""
    scheduler = EpochsPolynomial(config(), Optimizer())
    assert scheduler.step_update(7) == 0.25
    with pytest.raises(InputError, match="--task transition_parsing"):
        scheduler.step_begin_epoch(1)
    tell_batches(10)
    assert scheduler.step_update(7) == pytest.approx(0.5 * 7 / 15)
    tell_batches(20)
    assert scheduler.step_update(7) == pytest.approx(0.5 * 7 / 30)


FLAGS = ("--lr-scheduler", "epochs_polynomial", "--max-epoch", "3", "--log-interval", "1", "--disable-validation")


def rates(done) -> dict[int, float]:
    """The learning rate after each update."""
    entries = [json.loads(line) for line in re.findall(r'\{"epoch".*\}', done.stdout + done.stderr)]
    return {int(e["num_updates"]): float(e["lr"]) for e in entries if "lr" in e and "num_updates" in e}


def test_training_resumes_with_the_same_learning_rates(data_folder, tmp_path):
    """Also within an epoch."""
    flags = (*FLAGS, "--warmup-epochs", "1.25", "--save-interval-updates", "1")
    expected = rates(train(data_folder, tmp_path / "whole", *flags, updates=0))
    batches = len(expected) // 3
    assert len(expected) == 3 * batches and max(expected.values()) == pytest.approx(0.005, rel=1e-3)
    assert expected[3 * batches] == 0.0
    (tmp_path / "whole" / f"checkpoint_2_{batches + 2}.pt").rename(tmp_path / "checkpoint_last.pt")
    resumed = train(data_folder, tmp_path, *flags, updates=0)
    assert "Loaded checkpoint" in resumed.stdout + resumed.stderr
    assert min(rates(resumed)) == batches + 3
    assert rates(resumed) == {update: rate for update, rate in expected.items() if update > batches + 2}
