"""The attention of the decoder: masks and positions by which heads see the parser state, and attention in search.

Heads see ranks on the stack and in the buffer (Fernandez Astudillo et al. 2020, sec. 3.1). In search each hypothesis
attends to its own actions so far, and to the words of its sentence. B derivations of T steps, P words and root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.contract import SearchState
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import Attention, HeadMask, sinusoids, summed_exactly
from transition_parser.states.machine import Machine
from transition_parser.states.states import States


@dataclass(frozen=True)
class StateHeads:
    """The cross-attention heads that see only the stack or only the buffer. The other heads see all words."""

    stack: int = 1  # the number of heads that see the stack
    buffer: int = 1  # likewise
    window: str = "all"  # `all`, or `top2` for the first two words of each
    positions: bool = False  # True to add embeddings of ranks to keys (variant d)
    top_ranks: int = 2  # ranks that the top two words take, see `BatchedMachine`

    @property
    def count(self) -> int:
        return self.stack + self.buffer

    @property
    def windows(self) -> tuple[int, int]:
        """The number of stack ranks, and of buffer ranks, that the heads see; 0 for all ranks."""
        return (0, 0) if self.window == "all" else (self.top_ranks, 2)

    def within_window(self, stack: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
        """Return the ranks, (..., P) each, with 0 for words outside the window."""
        of_stack, of_buffer = self.windows
        if not of_stack and not of_buffer:
            return stack, buffer
        return stack * (stack <= of_stack), buffer * (buffer <= of_buffer)

    def ranks(self, stack: Tensor, buffer: Tensor) -> Tensor:
        """Return the ranks that each state head sees, (B, state heads, T, P), 0 for unseen words."""
        stack, buffer = self.within_window(stack, buffer)
        return torch.stack([stack] * self.stack + [buffer] * self.buffer, 1)

    def masks(
        self, states: States, words: Tensor, heads: int, positions: StatePositions | None, dtype: torch.dtype
    ) -> tuple[HeadMask, PositionScores | None]:
        """Return the mask of all heads (see `mask`) in states (B, T, …), and what adds the scores of `positions`."""
        if not self.count or states.stack is None or states.buffer is None:
            return HeadMask.from_visible(words[:, None, None, :])._replace(alive=None), None
        ranks = self.ranks(states.stack, states.buffer)
        mask = self.mask(ranks, words, heads, dtype)
        return mask, PositionScores(positions, ranks, mask) if positions else None

    def mask(self, ranks: Tensor, words: Tensor, heads: int, dtype: torch.dtype = torch.float) -> HeadMask:
        """Return the mask of all heads, with `positions` of free heads alone: `PositionScores` adds the others."""
        batch, state_heads, steps, width = ranks.shape
        shape = (batch, heads - state_heads, steps, width)
        free = _bias(~words[:, None, None, :], dtype).expand(shape)
        alive = ranks.amax(-1, keepdim=True) > 0
        bias = free if self.positions else torch.cat([_bias(alive & (ranks == 0), dtype), free], 1)
        ones = torch.ones(1, 1, 1, 1, dtype=dtype, device=words.device)
        return HeadMask(bias, torch.cat([alive.to(dtype), ones.expand(*shape[:3], 1)], 1))


def _bias(unseen: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(unseen.shape, dtype=dtype, device=unseen.device).masked_fill_(unseen, float("-inf"))


class StatePositions(nn.Module):
    """Embeddings p of ranks, learned or sinusoidal (sec. 5); all ranks above `ranks` share one.

    Their scores q·(p W^K), the term p_ti of sec. 3.1, are gathered by rank, so that no (T, P, dim) tensor is made.
    """

    def __init__(self, dim: int, heads: StateHeads, ranks: int, sinusoidal: bool) -> None:
        super().__init__()
        self.largest = ranks + 1
        if sinusoidal:
            table = sinusoids(0, self.largest + 1, dim, torch.device("cpu"))
            self.register_buffer("table", table.expand(2, -1, -1).contiguous(), persistent=False)
        else:
            self.table = nn.Parameter(torch.randn(2, self.largest + 1, dim) * dim**-0.5)
        role = [0] * heads.stack + [1] * heads.buffer
        self.register_buffer("role", torch.tensor(role), persistent=False)

    def keys(self, attention: Attention) -> Tensor:
        """Return (2, largest + 1, dim), the keys p W^K of the stack and of the buffer."""
        return self.table @ attention.key_value.weight[: self.table.size(2)].t()

    def forward(self, query: Tensor, index: Tensor, attention: Attention, nowhere: Tensor | None = None) -> Tensor:
        """Return (B, state heads, T, P), the scores to add before the softmax, for queries with the state heads first.

        nowhere: (B, state heads, T, 1), the score of words of rank 0; None: the score of their embedding
        """
        state_heads, width = len(self.role), query.size(-1)
        keys = self.keys(attention).unflatten(-1, (-1, width))  # (2, largest + 1, heads, d)
        heads = torch.arange(state_heads, device=query.device)
        keys = keys[self.role, :, heads]  # (state heads, largest + 1, d)
        query = query[:, :state_heads]
        if not torch.is_grad_enabled():  # sums are not rounded, as in attention
            query, keys = summed_exactly(query), summed_exactly(keys)
        scores = torch.einsum("bhtd,hpd->bhtp", query, keys) * width**-0.5
        if nowhere is not None:
            scores[..., :1] = nowhere
        return scores.gather(-1, index)


class PositionScores:
    """The scores of state positions in one batch, as a part of the cross-attention mask of each layer."""

    def __init__(self, positions: StatePositions, ranks: Tensor, mask: HeadMask) -> None:
        assert mask.alive is not None
        self.positions, self.index = positions, ranks.clamp_max(positions.largest).long()
        alive = mask.alive[:, : ranks.size(1)]
        self.nowhere = _bias(alive > 0, alive.dtype)  # 0 for heads that see no word: all −inf would give NaN

    def __call__(self, query: Tensor, mask: HeadMask, attention: Attention) -> HeadMask:
        """Return the mask of all heads in one layer, for queries (B, heads, T, d) with the state heads first."""
        scores = self.positions(query, self.index, attention, self.nowhere)
        return mask._replace(bias=torch.cat([scores, mask.bias.to(scores.dtype)], 1))


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
        return _bias(~self.ancestors[:, None], self.keys[0].dtype)

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


class StackTransformerSearch(SearchState):
    """The state of a search, with the attention of all layers. A mask hides the actions of other hypotheses."""

    def __init__(
        self,
        machine: Machine,
        encoder_out: EncoderOut,
        attentions: Sequence[Attention],
        state_heads: StateHeads,
        positions: StatePositions | None,
    ) -> None:
        super().__init__(machine, encoder_out)
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
            self.words.repeat_interleave(self.width, 0),
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

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        if origin is not None:
            self.cache.reorder_beam(origin)
        if sentences is not None:
            self.cache.select_sentences(sentences)
            self.memory = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.memory]
            self.words = self.words.index_select(0, sentences)

    def _beams(self, layer: int, x: Tensor) -> Tensor:
        """Reshape x (R, dim) to (B, H, W, d), for H heads of width d: the W hypotheses take the dimension of steps."""
        return self.attentions[layer].split(x.unflatten(0, (-1, self.width)))

    def _as_steps(self, x: Tensor) -> Tensor:
        """Reshape a mask (R, H, 1, S) over S words to (B, H, W, S)."""
        return x.unflatten(0, (-1, self.width)).squeeze(3).transpose(1, 2)
