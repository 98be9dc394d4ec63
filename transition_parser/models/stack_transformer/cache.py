"""The key/value cache of a beam: each action is stored once, even if several hypotheses share it."""

from __future__ import annotations

import torch
from torch import Tensor

_ROOM = 16  # least number of slots to add at a time
_STEPS_BETWEEN_COUNTS = 8  # for accelerators, where counting the free slots makes the host wait


class KeyValueCache:
    """The keys and values that self-attention reads in search when there are no kernels.

    The W hypotheses of each of B sentences share most of their actions. An action that several hypotheses share is
    stored once, in a slot. A mask marks the slots of each hypothesis's actions, so that branching copies the mask but
    no keys. Slots that no current hypothesis uses are filled again.

    keys, values: for each layer (B, heads, slots, d), where d is the width of a head
    ancestors: (B, W, slots) bool; True at the slots of the actions that each hypothesis has taken
    """

    def __init__(self, layers: int, sentences: int, heads: int, dim: int, like: Tensor) -> None:
        shape = (sentences, heads, 0, dim)
        self.keys = [like.new_zeros(shape) for _ in range(layers)]
        self.values = [like.new_zeros(shape) for _ in range(layers)]
        self.ancestors = torch.zeros(sentences, 1, 0, dtype=torch.bool, device=like.device)
        self._newest = torch.zeros(0, dtype=torch.long, device=like.device)  # indices in the flat (B · heads · slots)
        self._free = 0  # lower bound of the number of free slots of each sentence
        self._steps_between_counts = 1 if like.device.type == "cpu" else _STEPS_BETWEEN_COUNTS

    @property
    def width(self) -> int:
        """W, the number of hypotheses of each sentence."""
        return self.ancestors.size(1)

    def open(self) -> None:
        """Reserve a slot for the next action of each hypothesis."""
        if self._free < self.width:
            self._make_room()
        self._free -= self.width
        # free slots have 0 and taken ones 1, so the smallest values are free slots
        newest = self._taken().topk(self.width, 1, largest=False, sorted=False).indices
        self.ancestors.scatter_(2, newest[..., None], True)
        sentences, heads, slots, _ = self.keys[0].shape
        first = torch.arange(sentences * heads, device=newest.device).view(sentences, heads, 1) * slots
        self._newest = (first + newest[:, None]).flatten()

    def bias(self) -> Tensor:
        """Return the attention mask (B, 1, W, slots): 0 for a hypothesis's own actions, −inf for other slots."""
        seen = self.ancestors[:, None]
        return torch.zeros(seen.shape, dtype=self.keys[0].dtype, device=seen.device).masked_fill_(~seen, float("-inf"))

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store keys and values of the newest actions, and return all keys and values, (B, heads, slots, d) each.

        keys, values: (B, heads, W, d)
        """
        for stored, new in ((self.keys[layer], keys), (self.values[layer], values)):
            stored.flatten(0, 2).index_copy_(0, self._newest, new.reshape(-1, new.size(-1)))
        return self.keys[layer], self.values[layer]

    def reorder_beam(self, origin: Tensor) -> None:
        """Let hypothesis w of sentence b continue the earlier hypothesis `origin[b, w]`.

        origin: (B, W'); the earlier hypothesis that each of the W' new hypotheses continues
        """
        sentence = torch.arange(len(origin), device=origin.device)[:, None]
        self.ancestors = self.ancestors[sentence, origin]

    def select_sentences(self, sentences: Tensor) -> None:
        """Let sentence i become the earlier sentence `sentences[i]`, for `sentences` (B',)."""
        self.ancestors = self.ancestors.index_select(0, sentences)
        self.keys = [keys.index_select(0, sentences) for keys in self.keys]
        self.values = [values.index_select(0, sentences) for values in self.values]

    def _taken(self) -> Tensor:
        """Return (B, slots) uint8: 1 for slots that some hypothesis uses, else 0."""
        return self.ancestors.view(torch.uint8).amax(1)  # many times faster than `any`

    def _make_room(self) -> None:
        slots = self.ancestors.size(2)
        self._free = slots - int(self._taken().sum(1).max()) if slots else 0
        wanted = self.width * self._steps_between_counts
        if self._free < wanted:
            self._add_slots(max(_ROOM, wanted, slots // 4))

    def _add_slots(self, count: int) -> None:
        self._free += count
        self.ancestors = _longer(self.ancestors, count)
        self.keys = [_longer(keys, count) for keys in self.keys]
        self.values = [_longer(values, count) for values in self.values]


def _longer(array: Tensor, count: int) -> Tensor:
    """Return `array` with `count` more slots (the third dimension) of zeros."""
    old = array.size(2)
    longer = array.new_empty(*array.shape[:2], old + count, *array.shape[3:])
    longer[:, :, :old] = array
    longer[:, :, old:] = 0
    return longer
