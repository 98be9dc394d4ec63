"""Attention to items with indicators: each step adds a learned vector to an item's key and value (Shaw et al. 2018).

No tensor has a vector for each step and item: with key k_i, value x_i, weight a_i, vector s_v of indicator v, and
w_v the sum of the weights of items with indicator v, q · (k_i + s_v) = q · k_i + q · s_v, and
Σ_i a_i (x_i + s_v) = Σ_i a_i x_i + Σ_v w_v s_v. Shapes: H heads of size d, B sentences, T steps, P items, V indicators.
Used by Mohammadshahi and Henderson 2020, eqs 3 and 4; Ji et al. 2021, eqs 1 and 2.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.modules.layers import summed_exactly


class Content(NamedTuple):
    """The keys and values of the items and indicators that H heads attend to in B sentences."""

    keys: Tensor  # (H, B, P, d); with `item` (H, 1, S, d), for S entries that items share
    values: Tensor  # as `keys`
    key_indicators: Tensor  # (H, V, d)
    value_indicators: Tensor  # (H, V, d)
    item: Tensor | None = None  # (B, P); the index of each item's entry

    @property
    def sentences(self) -> int:
        return self.keys.size(1) if self.item is None else self.item.size(0)

    def rows(self, sentences: Tensor) -> Content:
        return self._replace(keys=self.keys.index_select(1, sentences), values=self.values.index_select(1, sentences))

    def of_indicators(self, rows: slice) -> Content:
        """Return the content with only the indicators that the slice `rows` selects."""
        return self._replace(
            key_indicators=self.key_indicators[:, rows], value_indicators=self.value_indicators[:, rows]
        )

    def kept(self) -> Content:
        """Return the content ready for many steps: contiguous, and in fp32 at least."""
        return Content._make([*(tensor.contiguous() for tensor in self.precise()[:4]), self.item])

    def precise(self) -> Content:
        return Content._make([*map(summed_exactly, self[:4]), self.item])

    def laid_out(self) -> Content:
        """Return the content without `item`, in which keys and values are (H, B, P, d)."""
        if self.item is None:
            return self
        heads, _, stored, _ = self.keys.shape
        place = torch.arange(heads, device=self.item.device)[:, None, None] * stored + self.item
        keys, values = (F.embedding(place, some.flatten(0, 2)) for some in (self.keys, self.values))
        return self._replace(keys=keys, values=values, item=None)


def attend(query: Tensor, content: Content, index: Tensor, unseen: Tensor | None) -> Tensor:
    """Return the weighted mean of the values that each head reads, (H, B, T, d), without items that are `unseen`."""
    heads, batch, steps, _ = query.shape
    dtype = query.dtype
    if not torch.is_grad_enabled():  # search rounds each sum once
        query, content = summed_exactly(query), content.precise()
    content = content.laid_out()
    query = query * query.size(-1) ** -0.5
    by_indicator = (query.flatten(1, 2) @ content.key_indicators.transpose(1, 2)).unflatten(1, (batch, steps))
    index = index.expand(heads, batch, steps, -1)
    scores = query @ content.keys.transpose(2, 3) + by_indicator.gather(3, index)
    if unseen is not None:
        scores = scores.masked_fill(unseen, float("-inf"))
    weights = scores.softmax(-1, dtype=torch.promote_types(scores.dtype, torch.float))
    of_indicator = torch.zeros_like(by_indicator, dtype=weights.dtype).scatter_add(3, index, weights)
    summed = (of_indicator.to(query.dtype).flatten(1, 2) @ content.value_indicators).unflatten(1, (batch, steps))
    return (weights.to(query.dtype) @ content.values + summed).to(dtype)
