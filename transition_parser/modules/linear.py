"""Linear layers, and the shapes that they like."""

from __future__ import annotations

import torch
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


def padded_size(count: int, step: int | None = None) -> int:
    """The next multiple of `step`; by default at most a sixteenth more than `count` (or 7), and no more up to
    `FEW_ROWS`.

    oneDNN makes a kernel for each shape of a product in bf16, which takes as long as some products, and keeps 0.2 to
    1 MB of it for ever, also where `keep_few_kernels` drops it: so let products have few numbers of rows.
    """
    if step is None and count <= FEW_ROWS:
        return count
    return count + -count % (step or max(2 ** (count.bit_length() - 5), 8))


def padded(rows: Tensor, step: int | None = None) -> Tensor:
    """(N, ...) with zeros behind, `padded_size` of them all."""
    missing = padded_size(rows.size(0), step) - rows.size(0)
    # faster than `F.pad`
    return torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])]) if missing else rows
