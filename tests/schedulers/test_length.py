import logging

import pytest
from fairseq.logging import metrics

from transition_parser.schedulers.length import LengthConfig, tell_batches, told_batches, updates_in, warn_if_short


@pytest.mark.parametrize(
    ("epochs", "update_freq", "expected"),
    [(0, [1], 0), (1.25, [1], 9), (3, [2], 12), (2, [4, 1], 9), (2.5, [4, 1], 12), (3, [1, 2, 7], 12)],
)
def test_updates_of_epochs_of_seven_batches(epochs, update_freq, expected):
    assert updates_in(epochs, 7, update_freq) == expected


def test_schedulers_come_to_know_the_batches():
    metrics.reset()
    assert told_batches() is None
    tell_batches(7)
    tell_batches(9)
    assert told_batches() == 9
    kept = metrics.state_dict()
    metrics.reset()
    metrics.load_state_dict(kept)  # as a checkpoint does
    assert told_batches() == 9


@pytest.mark.parametrize(
    ("options", "ends", "warmup"),
    [
        ({"max_update": 30, "warmup_updates": 300}, 30, 300),
        ({"max_epoch": 10, "warmup_updates": 300}, 70, 300),
        ({"max_epoch": 10, "max_update": 50, "warmup_epochs": 4.0}, 50, 28),
        ({"max_epoch": 10, "warmup_updates": 40}, 70, 40),
        ({"max_epoch": 10, "warmup_updates": 35}, None, None),
        ({"max_epoch": 10, "warmup_epochs": 1.3}, None, None),
        ({"warmup_updates": 4000}, None, None),
        ({"max_epoch": 1}, None, None),
    ],
)
def test_training_within_its_warmup_is_warned_of(options, ends, warmup, caplog):
    cfg = LengthConfig(
        **({"max_epoch": 0, "max_update": 0, "update_freq": [1], "warmup_updates": 0, "warmup_epochs": 0} | options)
    )
    with caplog.at_level(logging.WARNING):
        warn_if_short(cfg, batches=7)
    expected = [] if ends is None else [f"training ends after {ends} updates, but the learning rate rises over"]
    assert [m[: len(expected[0])] for m in caplog.messages] == expected if expected else not caplog.messages
    assert warmup is None or f"the first {warmup}:" in caplog.text
