"""Adam with separate learning rates for parts of a model, and a schedule whose length is in epochs."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.optim import FairseqOptimizer, register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from fairseq.optim.lr_scheduler.polynomial_decay_schedule import (
    PolynomialDecayLRSchedule,
    PolynomialDecayLRScheduleConfig,
)
from torch import nn

from transition_parser.base.errors import InputError
from transition_parser.modules.options import fairseq_option
from transition_parser.modules.pretrained import LR_SCALE


@register_optimizer("adam_by_part", dataclass=FairseqAdamConfig)
class AdamByPart(FairseqAdam):
    """torch's fused AdamW with fairseq's options, and the rate `lr_scale` · learning rate of each parameter."""

    def __init__(self, cfg: FairseqAdamConfig, params: Iterable[nn.Parameter]) -> None:
        groups: dict[float, list[nn.Parameter]] = {}
        for parameter in params:
            groups.setdefault(lr_scale(parameter), []).append(parameter)
        parts = [{"params": groups[scale], LR_SCALE: scale} for scale in sorted(groups, reverse=True)]
        super().__init__(cfg, parts)
        self._optimizer = torch.optim.AdamW(parts, **self.optimizer_config, fused=True)
        self.set_lr(self.optimizer_config["lr"])

    def get_lr(self) -> float:
        group = self.param_groups[0]
        return group["lr"] / group[LR_SCALE]

    def set_lr(self, lr: float) -> None:
        for group in self.param_groups:
            group["lr"] = lr * group[LR_SCALE]

    def load_state_dict(self, state_dict: dict[str, Any], optimizer_overrides: dict[str, Any] | None = None) -> None:
        super().load_state_dict(state_dict, optimizer_overrides)
        for group in self.param_groups:
            group["fused"] = True


def lr_scale(parameter: nn.Parameter) -> float:
    return getattr(parameter, LR_SCALE, 1.0)


def check_optimizer(optimizer: FairseqOptimizer, parameters: Iterable[nn.Parameter]) -> None:
    """Raise `InputError` where a part of the model needs a learning rate that the optimizer does not give it."""
    known = {group.get(LR_SCALE, 1.0) for group in optimizer.param_groups}
    if not {lr_scale(parameter) for parameter in parameters} <= known:
        raise InputError(
            "--pretrained-lr-scale and --tag-lr-scale need --optimizer adam_by_part: others give all parts one rate, "
            "and so do the copies of the weights that --bf16 and --fp16 train (use --train-precision bf16)"
        )


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
    warmup_epochs: float = fairseq_option(
        0.0,
        "number of epochs, such as 1.25, over which the learning rate rises; a quarter of --max-epoch if it is more "
        "than half of it",
    )
    max_epoch: int = "${optimization.max_epoch}"
    max_update: int = "${optimization.max_update}"
    update_freq: list[int] = "${optimization.update_freq}"
    lr: list[float] = "${optimization.lr}"


@register_lr_scheduler("epochs_polynomial", dataclass=EpochsPolynomialConfig)
class EpochsPolynomial(FairseqLRScheduler):
    """fairseq's `polynomial_decay` to 0 at the end of training; `tell_batches` converts epochs to updates."""

    def __init__(self, cfg: EpochsPolynomialConfig, optimizer) -> None:
        super().__init__(cfg, optimizer)
        self._warmup = fitting_warmup(cfg.warmup_epochs, cfg.max_epoch)
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
            length = self._warmup, cfg.max_epoch
            warmup, total = (updates_in(epochs, batches, cfg.update_freq) for epochs in length)
            total = max(min(total, cfg.max_update or total), warmup + 1)
            same = PolynomialDecayLRScheduleConfig(warmup_updates=warmup, total_num_update=total, lr=list(cfg.lr))
            self._by_updates = PolynomialDecayLRSchedule(same, self.optimizer)
        return self._by_updates is not None


def fitting_warmup(warmup: float, length: float) -> float:
    """Return the number of epochs in which the learning rate rises: a quarter of a short training.

    Raises `InputError` for a training without a length in epochs.
    """
    if not length or warmup < 0:
        raise InputError("--lr-scheduler epochs_polynomial needs --max-epoch, and --warmup-epochs of 0 or more")
    return warmup if 2 * warmup <= length else length / 4
