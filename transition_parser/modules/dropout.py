"""Dropout with cheap random numbers on CPUs."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    """Zero each element of `x` with probability `p` and scale the others by 1 / (1 − p).

    On CPUs one 64-bit random number decides about eight elements, so `p` is rounded to a multiple of 1/256, but never
    to 0. torch draws a number for each element, one after the other, which took 15 % of a training step.
    """
    if not training or p == 0.0:
        return x
    if x.device.type != "cpu":
        return F.dropout(x, p, True)
    dropped = max(1, round(p * 256))
    count = x.numel()
    draws = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    kept = draws.view(torch.uint8)[:count].view(x.shape) >= dropped
    return x * kept.to(x.dtype).mul_(256 / (256 - dropped))


class Dropout(nn.Module):
    """The function `dropout` as a layer.

    whole: True zeroes whole vectors (the last dimension), not single elements.
    """

    def __init__(self, p: float, whole: bool = False) -> None:
        super().__init__()
        self.p, self.whole = p, whole

    def forward(self, x: Tensor) -> Tensor:
        if not self.whole or not self.training or self.p == 0.0:
            return dropout(x, self.p, self.training)
        return x * dropout(torch.ones_like(x[..., :1]), self.p, True)

    def extra_repr(self) -> str:
        return f"p={self.p}, whole={self.whole}"
