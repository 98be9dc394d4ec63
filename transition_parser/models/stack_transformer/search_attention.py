"""Attention in search: each hypothesis attends to its own actions so far, and to the words of its sentence."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.models.stack_transformer.state_masks import StateHeads, StatePositions
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import Attention, HeadMask
from transition_parser.states.states import States

_ROOM = 16  # least number of slots to add at a time
_STEPS_BETWEEN_COUNTS = 8  # for accelerators, where counting the free slots makes the host wait


class KeyValueCache:
    """The keys and values, (B, heads, slots, d) for each layer, that self-attention reads in search.

    An action that several of a sentence's W hypotheses share is stored once, in a slot. `ancestors` (B, W, slots) marks
    the slots of each hypothesis's actions, so that branching copies the mask but no keys. Unused slots are filled
    again.
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
        return self.ancestors.size(1)

    def open(self) -> None:
        """Reserve a slot for the next action of each hypothesis."""
        if self._free < self.width:
            slots, wanted = self.ancestors.size(2), self.width * self._steps_between_counts
            self._free = slots - int(self._taken().sum(1).max()) if slots else 0
            if self._free < wanted:
                more = max(_ROOM, wanted, slots // 4)
                self._free += more
                self.ancestors = F.pad(self.ancestors, (0, more))
                self.keys = [F.pad(keys, (0, 0, 0, more)) for keys in self.keys]
                self.values = [F.pad(values, (0, 0, 0, more)) for values in self.values]
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
        """Store keys and values (B, heads, W, d) of the newest actions, and return all of the layer's."""
        for stored, new in ((self.keys[layer], keys), (self.values[layer], values)):
            stored.flatten(0, 2).index_copy_(0, self._newest, new.reshape(-1, new.size(-1)))
        return self.keys[layer], self.values[layer]

    def reorder_beam(self, origin: Tensor) -> None:
        """Let hypothesis w of sentence b continue the earlier hypothesis `origin[b, w]`, for `origin` (B, W')."""
        sentence = torch.arange(len(origin), device=origin.device)[:, None]
        self.ancestors = self.ancestors[sentence, origin]

    def select_sentences(self, sentences: Tensor) -> None:
        self.ancestors = self.ancestors.index_select(0, sentences)
        self.keys = [keys.index_select(0, sentences) for keys in self.keys]
        self.values = [values.index_select(0, sentences) for values in self.values]

    def _taken(self) -> Tensor:
        """Return (B, slots) uint8: 1 for slots that some hypothesis uses, else 0."""
        return self.ancestors.view(torch.uint8).amax(1)  # many times faster than `any`


class SearchAttention:
    """The attention of all layers in one search; a mask hides the actions of a sentence's other hypotheses."""

    def __init__(
        self,
        attentions: Sequence[Attention],
        encoder_out: EncoderOut,
        state_heads: StateHeads,
        positions: StatePositions | None,
    ) -> None:
        self.attentions, self.state_heads, self.positions = attentions, state_heads, positions
        projected = (attention.keys_values(encoder_out.words) for attention in attentions)
        # contiguous, because each step reads them and would otherwise copy them
        self.memory = [(keys.contiguous(), values.contiguous()) for keys, values in projected]
        self.words = encoder_out.mask
        keys = self.memory[0][0]
        self.cache = KeyValueCache(len(attentions), keys.size(0), keys.size(1), keys.size(3), keys)

    def open(self, states: States) -> None:
        """Begin a step, in the configurations `states` (R, …) after the actions just taken."""
        self.cache.open()
        self._past = HeadMask(self.cache.bias())
        self._mask, self._position_scores = self.state_heads.masks(
            states.at(slice(None), None),  # as derivations of one step
            self.words.repeat_interleave(self.cache.width, 0),
            self.attentions[0].heads,
            self.positions,
            self.cache.keys[0].dtype,
        )

    def self_attention(self, layer: int, query: Tensor, key_value: Tensor) -> Tensor:
        """Return the heads' outputs (R, dim) of attention to the actions so far; stores `key_value` (R, 2 dim)."""
        query, keys, values = (self._beams(layer, x) for x in (query, *key_value.chunk(2, -1)))
        keys, values = self.cache.write(layer, keys, values)
        return self.attentions[layer].weighted_values(query, keys, values, self._past).flatten(0, 1)

    def cross_attention(self, layer: int, query: Tensor) -> Tensor:
        """Return the heads' outputs (R, dim) of attention to words, for queries (R, dim)."""
        attention, mask = self.attentions[layer], self._mask
        if self._position_scores is not None:
            mask = self._position_scores(attention.split(query[:, None]), mask, attention)
        alive = None if mask.alive is None else self._as_steps(mask.alive)
        mask = HeadMask(self._as_steps(mask.bias), alive)
        return attention.weighted_values(self._beams(layer, query), *self.memory[layer], mask).flatten(0, 1)

    def move_rows(self, origin: Tensor | None, sentences: Tensor | None) -> None:
        if origin is not None:
            self.cache.reorder_beam(origin)
        if sentences is not None:
            self.cache.select_sentences(sentences)
            self.memory = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.memory]
            self.words = self.words.index_select(0, sentences)

    def _beams(self, layer: int, x: Tensor) -> Tensor:
        """Reshape x (R, dim) to (B, H, W, d), for H heads of width d: the W hypotheses take the dimension of steps."""
        return self.attentions[layer].split(x.unflatten(0, (-1, self.cache.width)))

    def _as_steps(self, x: Tensor) -> Tensor:
        """Reshape a mask (R, H, 1, S) over S words to (B, H, W, S)."""
        return x.unflatten(0, (-1, self.cache.width)).squeeze(3).transpose(1, 2)
