"""fairseq's polynomial decay with warm-up, with its length in epochs, so that the same flags fit any corpus size."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from fairseq.optim.lr_scheduler.polynomial_decay_schedule import (
    PolynomialDecayLRSchedule,
    PolynomialDecayLRScheduleConfig,
)

from transition_parser.base.errors import InputError
from transition_parser.modules.options import fairseq_option

_BATCHES = "batches_per_epoch"  # the name of the number of batches in fairseq's log


def updates_in(epochs: float, batches: int, update_freq: Sequence[int] = (1,)) -> int:
    """Return the number of updates in a number of epochs, of the last number in `update_freq` for all later epochs.

    >>> updates_in(2.5, 10), updates_in(2, 10, [4, 1])
    (25, 13)
    """
    whole = math.floor(epochs)
    sizes = [math.ceil(batches / update_freq[min(i, len(update_freq) - 1)]) for i in range(whole + 1)]
    return round(sum(sizes[:whole]) + (epochs - whole) * sizes[whole])


def tell_batches(batches: int) -> None:
    """Tell schedulers the number of batches in an epoch, by fairseq's log, which they see and checkpoints keep."""
    metrics.log_scalar(_BATCHES, batches, weight=0)


@dataclass
class EpochsPolynomialConfig(FairseqDataclass):
    warmup_epochs: float = fairseq_option(0.0, "number of epochs, such as 1.25, over which the learning rate rises")
    max_epoch: int = "${optimization.max_epoch}"
    max_update: int = "${optimization.max_update}"
    update_freq: list[int] = "${optimization.update_freq}"
    lr: list[float] = "${optimization.lr}"


@register_lr_scheduler("epochs_polynomial", dataclass=EpochsPolynomialConfig)
class EpochsPolynomial(FairseqLRScheduler):
    """fairseq's `polynomial_decay` to 0 at the end of training; `tell_batches` converts epochs to updates."""

    def __init__(self, cfg: EpochsPolynomialConfig, optimizer) -> None:
        super().__init__(cfg, optimizer)
        check_epochs(cfg.warmup_epochs, cfg.max_epoch)
        self._batches = 0
        self._by_updates: PolynomialDecayLRSchedule | None = None

    def step_begin_epoch(self, epoch: int) -> float:
        """Return the learning rate as an epoch begins. Raises `InputError` if the number of batches is unknown."""
        if not self._know_batches():
            raise InputError("--lr-scheduler epochs_polynomial is for --task transition_parsing")
        return self._by_updates.step_begin_epoch(epoch)

    def step_update(self, num_updates: int) -> float:
        """Return the learning rate; unchanged while a checkpoint is loaded, before the data are."""
        return self._by_updates.step_update(num_updates) if self._know_batches() else self.optimizer.get_lr()

    def _know_batches(self) -> bool:
        meter, cfg = metrics.get_meter("default", _BATCHES), self.cfg
        batches = self._batches if meter is None else int(meter.val)
        if batches != self._batches:
            self._batches = batches
            length = cfg.warmup_epochs, cfg.max_epoch
            warmup, total = (updates_in(epochs, batches, cfg.update_freq) for epochs in length)
            total = max(min(total, cfg.max_update or total), warmup + 1)
            same = PolynomialDecayLRScheduleConfig(warmup_updates=warmup, total_num_update=total, lr=list(cfg.lr))
            self._by_updates = PolynomialDecayLRSchedule(same, self.optimizer)
        return self._by_updates is not None


def check_epochs(warmup: float, length: float) -> None:
    """Raise `InputError` if no epochs are left after the warm-up in which the learning rate could fall."""
    if not 0 <= warmup < (length or 0):
        raise InputError(
            f"the learning rate can't rise until epoch {warmup:g} and fall until epoch {length or 0:g}: "
            "--lr-scheduler epochs_polynomial needs --warmup-epochs less than --max-epoch"
        )
