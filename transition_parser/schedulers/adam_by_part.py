"""Adam with separate learning rates for parts of a model, such as a pretrained encoder that is fine-tuned."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.optim import FairseqOptimizer, register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import nn

from transition_parser.base.errors import InputError
from transition_parser.modules.options import fairseq_option
from transition_parser.modules.pretrained import LR_SCALE


@dataclass
class AdamByPartConfig(FairseqAdamConfig):
    decay_matrices_only: bool = fairseq_option(False, "weight decay for matrices alone, not for biases and norms")


@register_optimizer("adam_by_part", dataclass=AdamByPartConfig)
class AdamByPart(FairseqAdam):
    """torch's fused AdamW with fairseq's options, and the rate `lr_scale` · learning rate of each parameter."""

    def __init__(self, cfg: AdamByPartConfig, params: Iterable[nn.Parameter]) -> None:
        groups: dict[tuple[float, bool], dict[str, Any]] = {}
        for parameter in params:
            scale, decays = lr_scale(parameter), parameter.dim() > 1 or not cfg.decay_matrices_only
            group = {"params": [], LR_SCALE: scale} | ({} if decays else {"weight_decay": 0.0})
            groups.setdefault((scale, decays), group)["params"].append(parameter)
        parts = [groups[key] for key in sorted(groups, reverse=True)]
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
