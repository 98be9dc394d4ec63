"""Linear layers, and sizes that make their products fast."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def linear(inputs: int, outputs: int) -> nn.Linear:
    """Return a linear layer with Xavier-initialised weights and zero biases."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def keep_weight(layer: nn.Linear) -> nn.Linear:
    """Mark a layer that `packing` must not replace, because other modules read its weight. Return the layer."""
    layer.weight_is_read = True
    return layer


def keep_weight_beside(layer: nn.Linear) -> nn.Linear:
    """Mark a layer that may be packed or quantised, but keeps its plain weight for other modules. Return the layer."""
    layer.kept_beside = True
    return layer


def keep_weight_beside_packed(layer: nn.Linear) -> nn.Linear:
    """Mark a layer that keeps its plain weight if it is packed, but not if it is quantised. Return the layer."""
    layer.kept_if_packed = True
    return layer


FEW_ROWS = 8  # products of fewer rows are hardly faster, so selecting or padding rows does not pay


def padded_size(count: int, step: int | None = None) -> int:
    """Return the least multiple of `step` that is not less than `count`.

    By default `step` depends on `count`: the result exceeds `count` by at most a sixteenth of `count`, or by 7, and
    counts up to `FEW_ROWS` stay as they are.

    oneDNN makes a kernel for each shape of a product in bf16, which takes as long as several products. Each kernel
    leaves 0.2 to 1 MB in memory, even after `keep_few_kernels` drops it. So products should have few different numbers
    of rows.
    """
    if step is None and count <= FEW_ROWS:
        return count
    return count + -count % (step or max(2 ** (count.bit_length() - 5), 8))


def padded(rows: Tensor, step: int | None = None) -> Tensor:
    """Append zeros to `rows` (N, ...), up to `padded_size` rows."""
    missing = padded_size(rows.size(0), step) - rows.size(0)
    # `cat` is faster than `F.pad`
    return torch.cat([rows, rows.new_zeros(missing, *rows.shape[1:])]) if missing else rows
