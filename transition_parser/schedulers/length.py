"""The length of training and of its warm-up, in updates of the parameters."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics

_BATCHES = "batches_per_epoch"  # the name of the number of batches in fairseq's log
_SHORT = 2  # a training shorter than this multiple of its warm-up is likely to be a mistake

logger = logging.getLogger(__name__)


def updates_in(epochs: float, batches: int, update_freq: Sequence[int] = (1,)) -> int:
    """Return the number of updates in a number of epochs, which may have a fraction.

    batches: the number of batches in an epoch
    update_freq: the number of batches for one update in the first epoch, in the second epoch and so on; the last number
        is for all later epochs

    >>> updates_in(2.5, 10), updates_in(2, 10, [4, 1])
    (25, 13)
    """
    whole = math.floor(epochs)
    sizes = [math.ceil(batches / update_freq[min(i, len(update_freq) - 1)]) for i in range(whole + 1)]
    return round(sum(sizes[:whole]) + (epochs - whole) * sizes[whole])


def tell_batches(batches: int) -> None:
    """Make the number of batches in an epoch known to schedulers of this process.

    fairseq gives a scheduler neither the task nor the data. The task and schedulers both see fairseq's log, which
    checkpoints keep, too.
    """
    metrics.log_scalar(_BATCHES, batches, weight=0)


def told_batches() -> Optional[int]:
    """Return the number that `tell_batches` was given last; None before its first call."""
    meter = metrics.get_meter("default", _BATCHES)
    return None if meter is None else int(meter.val)


@dataclass
class LengthConfig(FairseqDataclass):
    """The options of fairseq and of its schedulers that set the length of training and of its warm-up."""

    max_epoch: int = "${optimization.max_epoch}"
    max_update: int = "${optimization.max_update}"
    update_freq: list[int] = "${optimization.update_freq}"
    warmup_updates: int = "${oc.select:lr_scheduler.warmup_updates,0}"
    warmup_epochs: float = "${oc.select:lr_scheduler.warmup_epochs,0}"


def warn_if_short(cfg: LengthConfig, batches: int) -> None:
    """Log a warning if training ends within its warm-up or soon after, because the model will have learned little.

    batches: the number of batches in an epoch
    """
    ends = [cfg.max_update] if cfg.max_update else []
    ends += [updates_in(cfg.max_epoch, batches, cfg.update_freq)] if cfg.max_epoch else []
    warmup = (cfg.warmup_updates or 0) + updates_in(cfg.warmup_epochs or 0, batches, cfg.update_freq)
    if ends and min(ends) < _SHORT * warmup:
        logger.warning(
            f"training ends after {min(ends)} updates, but the learning rate rises over the first {warmup}: train for "
            "more epochs, or with less warm-up (--lr-scheduler epochs_polynomial --warmup-epochs N fits any corpus)"
        )
