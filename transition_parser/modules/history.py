"""Keys and values of the actions that a beam has taken, stored once however many hypotheses share them."""

from __future__ import annotations

import torch
from torch import Tensor

_STEPS = 8  # for so many there is room after slots were moved


class History:
    """What self-attention sees in search.

    The hypotheses of a sentence grow as a tree: those that live share most of their actions. Each action is
    stored once a sentence, and a mask says which ones each hypothesis descends from, so that choosing among
    hypotheses moves the mask and no keys. Slots that no living hypothesis descends from are used again.

    keys, values: for each layer (B, heads, slots, d). ancestors: (B, W, slots) bool for the W hypotheses of each of
    B sentences, False behind the first `used` slots.
    """

    def __init__(self, layers: int, sentences: int, heads: int, dim: int, like: Tensor) -> None:
        shape = (sentences, heads, _STEPS, dim)
        self.keys = [like.new_zeros(shape) for _ in range(layers)]
        self.values = [like.new_zeros(shape) for _ in range(layers)]
        self.ancestors = torch.zeros(sentences, 1, _STEPS, dtype=torch.bool, device=like.device)
        self.used = 0

    @property
    def width(self) -> int:
        """W, how many hypotheses a sentence has."""
        return self.ancestors.size(1)

    def open(self) -> None:
        """A slot for the next action of each hypothesis."""
        if self.used + self.width > self.ancestors.size(2):
            self._make_room()
        for hypothesis in range(self.width):
            self.ancestors[:, hypothesis, self.used + hypothesis] = True
        self.used += self.width

    def bias(self) -> Tensor:
        """(B, 1, W, used): 0 for the actions that a hypothesis descends from, −inf for the others."""
        seen = self.ancestors[:, None, :, : self.used]
        return torch.zeros(seen.shape, dtype=self.keys[0].dtype, device=seen.device).masked_fill_(~seen, float("-inf"))

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Stores keys and values of the newest actions, (B, heads, W, d) each; returns all, (B, heads, used, d)."""
        self.keys[layer][:, :, self.used - self.width : self.used] = keys
        self.values[layer][:, :, self.used - self.width : self.used] = values
        return self.keys[layer][:, :, : self.used], self.values[layer][:, :, : self.used]

    def branch(self, origin: Tensor) -> None:
        """Hypothesis w of sentence b goes on from what was hypothesis `origin[b, w]`, (B, W')."""
        index = origin[..., None].expand(-1, -1, self.ancestors.size(2))
        self.ancestors = self.ancestors.gather(1, index)

    def keep(self, sentences: Tensor) -> None:
        """Sentence i becomes what was sentence `sentences[i]`."""
        self.ancestors = self.ancestors.index_select(0, sentences)
        self.keys = [keys.index_select(0, sentences) for keys in self.keys]
        self.values = [values.index_select(0, sentences) for values in self.values]

    def _make_room(self) -> None:
        """Moves the slots that are needed to the front, and adds new ones behind them."""
        needed = self.ancestors.any(1)
        self.used = int(needed.sum(1).max())
        # a stable sort keeps the order of the actions; what is not needed comes last
        order = needed.logical_not().byte().argsort(dim=1, stable=True)[:, : self.used]
        self.ancestors = self._moved(self.ancestors, order, 2)
        self.keys = [self._moved(keys, order, 2) for keys in self.keys]
        self.values = [self._moved(values, order, 2) for values in self.values]

    def _moved(self, array: Tensor, order: Tensor, dim: int) -> Tensor:
        shape = list(array.shape)
        # alone, a hypothesis needs all its slots: moving them must be rare
        shape[dim] = self.used + _STEPS * self.width + (self.used if self.width == 1 else 0)
        index = order.view(order.size(0), *(1 for _ in shape[1:dim]), -1, *(1 for _ in shape[dim + 1 :]))
        index = index.expand(*array.shape[:dim], -1, *array.shape[dim + 1 :])
        new = array.new_zeros(shape)
        new.narrow(dim, 0, self.used).copy_(array.gather(dim, index))
        return new
