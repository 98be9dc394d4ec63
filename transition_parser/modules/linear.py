"""Linear layers, and the shapes that they like."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer with Xavier's weights and zero biases."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def keep_weight(layer: nn.Linear) -> nn.Linear:
    """Marks a layer whose weight is read by others, so that it must stay a plain tensor; returns it."""
    layer.weight_is_read = True
    return layer


FEW_ROWS = 8  # products of fewer rows are hardly faster, so that selecting or padding them does not pay


def padded(rows: Tensor, step: int | None = None) -> Tensor:
    """(N, ...) with zeros behind up to a multiple of `step`; by default at most a sixteenth more (or 7), and
    nothing up to `FEW_ROWS`.

    oneDNN makes a kernel for each shape of a product in bf16, which takes as long as some products, and keeps 0.2 to
    1 MB of it for ever, also where `keep_few_kernels` drops it: so let products have few numbers of rows.
    """
    count = rows.size(0)
    if step is None and count <= FEW_ROWS:
        return rows
    missing = -count % (step or max(2 ** (count.bit_length() - 5), 8))
    return F.pad(rows, (*(0, 0) * (rows.dim() - 1), 0, missing)) if missing else rows
