"""fairseq's polynomial decay with warm-up, with its length in epochs, so that the same flags fit any corpus size."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from fairseq.optim.lr_scheduler.polynomial_decay_schedule import (
    PolynomialDecayLRSchedule,
    PolynomialDecayLRScheduleConfig,
)

from transition_parser.base.errors import InputError
from transition_parser.schedulers.length import told_batches, updates_in


@dataclass
class EpochsPolynomialConfig(FairseqDataclass):
    """The options of the scheduler."""

    warmup_epochs: float = field(
        default=0.0,
        metadata={"help": "number of epochs over which the learning rate rises; fractions are allowed (1.25)"},
    )
    decay_epochs: Optional[float] = field(
        default=None,
        metadata={
            "help": "epoch at whose end the learning rate has fallen to --end-learning-rate (default: --max-epoch)"
        },
    )
    end_learning_rate: float = field(default=0.0, metadata={"help": "learning rate at the end of the decay"})
    power: float = field(default=1.0, metadata={"help": "exponent of the decay"})
    max_epoch: int = "${optimization.max_epoch}"
    update_freq: list[int] = "${optimization.update_freq}"
    lr: list[float] = "${optimization.lr}"


@register_lr_scheduler("epochs_polynomial", dataclass=EpochsPolynomialConfig)
class EpochsPolynomial(FairseqLRScheduler):
    """fairseq's `polynomial_decay`, with its length converted from epochs to updates.

    The task says how many batches there are (`tell_batches`). The learning rate depends on the number of batches and on
    the number of updates alone, so that it is the same after resuming.
    """

    def __init__(self, cfg: EpochsPolynomialConfig, optimizer) -> None:
        super().__init__(cfg, optimizer)
        self._epochs = check_epochs(cfg.warmup_epochs, cfg.decay_epochs, cfg.max_epoch)
        self._batches = 0
        self._by_updates: PolynomialDecayLRSchedule | None = None

    def step_begin_epoch(self, epoch: int) -> float:
        """Return the learning rate as an epoch begins. Raises `InputError` if the number of batches is unknown."""
        if not self._know_batches():
            raise InputError("--lr-scheduler epochs_polynomial is for --task transition_parsing")
        return self._by_updates.step_begin_epoch(epoch)

    def step_update(self, num_updates: int) -> float:
        """Return the learning rate after some updates.

        The rate does not change while a checkpoint is loaded, because fairseq loads the data, and so learns the number
        of batches, only later.
        """
        return self._by_updates.step_update(num_updates) if self._know_batches() else self.optimizer.get_lr()

    def _know_batches(self) -> bool:
        batches = told_batches()
        if batches is not None and batches != self._batches:
            self._batches, cfg = batches, self.cfg
            warmup, total = (updates_in(epochs, batches, cfg.update_freq) for epochs in self._epochs)
            same = PolynomialDecayLRScheduleConfig(
                warmup_updates=warmup,
                end_learning_rate=cfg.end_learning_rate,
                power=cfg.power,
                total_num_update=max(total, warmup + 1),
                lr=list(cfg.lr),
            )
            self._by_updates = PolynomialDecayLRSchedule(same, self.optimizer)
        return self._by_updates is not None


def check_epochs(warmup: float, decay: Optional[float], length: float) -> tuple[float, float]:
    """Return (the number of epochs until the learning rate has risen, the number until it has fallen).

    Raises `InputError` if no epochs are left in which the rate could fall.

    warmup: `--warmup-epochs`
    decay: `--decay-epochs`; None where it is not given
    length: `--max-epoch`
    """
    end = (length or 0) if decay is None else decay
    if not 0 <= warmup < end:
        raise InputError(
            f"the learning rate can't rise until epoch {warmup:g} and fall until epoch {end:g}: "
            "--lr-scheduler epochs_polynomial needs --warmup-epochs less than --max-epoch (or --decay-epochs)"
        )
    return warmup, end
