"""Attention in search: each hypothesis attends to its own actions so far, and to the words of its sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from transition_parser.kernels import search_kernels
from transition_parser.kernels.amr_search_kernels import Attended
from transition_parser.kernels.search_kernels import LayerStack, Pointers
from transition_parser.models.stack_transformer.cache import KeyValueCache
from transition_parser.models.stack_transformer.rows import LayerRows, StepRows, all_rows, needed_rows
from transition_parser.models.stack_transformer.state_masks import StateHeads, StatePositions
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import Attention, HeadMask, padded
from transition_parser.states.states import States


class SearchAttention(ABC):
    """The attention of all layers in one search, with the keys and values of a batch.

    Each of B sentences has W hypotheses. The hypotheses are R = B · W rows, in the order of the sentences. W is 1 at
    first. A layer reads M input rows and computes N output rows, see `LayerRows`.
    """

    @abstractmethod
    def open(
        self, tokens: Tensor, states: States, legal: Tensor, may_finish: Tensor, alive: Tensor | None = None
    ) -> StepRows:
        """Begin a step, and return the rows that its layers compute.

        tokens: (R,); the actions just taken
        states: (R, …); the configurations after these actions
        legal: (R, U); the legality of the actions, see `Machine.legality`
        may_finish: (R,) bool; see `Machine.may_finish`
        alive: (R,) bool or None; the rows whose scores matter; None: all
        """

    @abstractmethod
    def self_attention(self, layer: int, query: Tensor, key_value: Tensor, rows: LayerRows) -> Tensor:
        """Return the heads' outputs (N, dim) of cached self-attention, and store the newest actions' keys and values.

        query: (N, dim); queries
        key_value: (M, 2 dim); keys and values of the newest actions
        """

    @abstractmethod
    def cross_attention(self, layer: int, query: Tensor, rows: LayerRows) -> Tensor:
        """Return the heads' outputs of cross-attention, (N, dim), for queries (N, dim)."""

    @abstractmethod
    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        """Move the hypotheses' rows, see `SearchState.move_rows`."""


def search_attention(
    attentions: Sequence[Attention],
    encoder_out: EncoderOut,
    state_heads: StateHeads,
    positions: StatePositions | None,
) -> SearchAttention:
    """Return the attention of a search before the first action.

    attentions: the cross-attention of each layer
    """
    like, heads = encoder_out.words, attentions[0].heads
    kind = KernelAttention if search_kernels.supports(like, like.size(2) // heads) else MaskedAttention
    return kind(attentions, encoder_out, state_heads, positions)


class KernelAttention(SearchAttention):
    """Attention in search on CPUs, by the kernels of `search_kernels.c`.

    The keys and values of a step stay in the rows where the step computed them. `_origin` holds, for each step, the row
    of the previous step that each row continues. So a hypothesis finds the keys and values of its own actions.
    """

    def __init__(
        self,
        attentions: Sequence[Attention],
        encoder_out: EncoderOut,
        state_heads: StateHeads,
        positions: StatePositions | None,
    ) -> None:
        self.heads = attentions[0].heads
        shape = encoder_out.words.shape[:2]
        words = padded(encoder_out.words.flatten(0, 1))
        self.memory = [attention.key_value(words)[: shape.numel()].unflatten(0, shape) for attention in attentions]
        self.roles = torch.full((self.heads,), -1, dtype=torch.int32)
        self.roles[: state_heads.stack] = 0
        self.roles[state_heads.stack : state_heads.count] = 1
        self.state_heads = state_heads
        self.positions = [None if positions is None else positions.keys(attention) for attention in attentions]
        self.lengths = (encoder_out.lengths + 1).int()  # the root included
        self._sentence_of_row = torch.arange(len(self.lengths), dtype=torch.int32)
        self._cache = [Pointers() for _ in attentions]
        self._cache_row = [Pointers() for _ in attentions]
        self._origin = Pointers()
        self._moved: Tensor | None = None  # (R,); the previous step's row that each row continues; None: the same row
        self._ranks: tuple[Tensor, ...] = ()

    def open(
        self, tokens: Tensor, states: States, legal: Tensor, may_finish: Tensor, alive: Tensor | None = None
    ) -> StepRows:
        self._origin.append(_ints(self._moved))
        self._moved = None
        if states.stack is not None and states.buffer is not None:
            self._ranks = self.state_heads.within_window(states.stack, states.buffer)
        return needed_rows(tokens, len(self.memory), legal, may_finish, alive)

    def self_attention(self, layer: int, query: Tensor, key_value: Tensor, rows: LayerRows) -> Tensor:
        self._cache[layer].append(key_value.contiguous())
        if rows.sources is not None:
            self._cache_row[layer].append(_ints(rows.sources))
        cache_row = None if rows.sources is None else self._cache_row[layer]
        return search_kernels.cached_self_attention(
            query, self.heads, self._cache[layer], self._origin, cache_row, _ints(rows.queries)
        )

    def cross_attention(self, layer: int, query: Tensor, rows: LayerRows) -> Tensor:
        return search_kernels.cross_attention(
            query,
            self.heads,
            self.memory[layer],
            self._sentence_of_row,
            self.lengths,
            self.roles,
            self._ranks,
            self.positions[layer],
            _ints(rows.queries),
        )

    def all_layers(self, x: Tensor, stack: LayerStack) -> Tensor:
        """Return the normalised output of the last layer, (R, dim), and store the keys and values of all layers.

        x: (R, dim); the input of the first layer; changes in place
        """
        every = torch.arange(len(x), dtype=torch.int32)
        for cache, cache_row in zip(self._cache, self._cache_row, strict=True):
            cache.append(x.new_empty(len(x), 2 * x.size(1)))
            cache_row.append(every)
        return search_kernels.decoder_layers(
            x,
            search_kernels.add_and_normalise(x, torch.zeros_like(x), stack.first_norm),  # as `search_at_once` does
            stack,
            self._cache,
            self._origin,
            self._cache_row,
            self.memory,
            self._sentence_of_row,
            self.lengths,
            self.roles,
            self._ranks,
            self.positions,
        )

    def attended(self) -> Attended:
        """Return the inputs of cross-attention, for a kernel that searches whole derivations."""
        return Attended(self.memory, self.lengths, self.roles, self.positions, self.state_heads.windows)

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self._moved = rows if self._moved is None else self._moved[rows]
        self._sentence_of_row = self._sentence_of_row[rows]


class MaskedAttention(SearchAttention):
    """Attention in search on any device, by matrix products over the actions of all hypotheses of a sentence.

    A mask hides the actions that a hypothesis has not taken itself, see `KeyValueCache`.
    """

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

    def open(
        self, tokens: Tensor, states: States, legal: Tensor, may_finish: Tensor, alive: Tensor | None = None
    ) -> StepRows:
        self.cache.open()
        self._past = HeadMask(self.cache.bias())
        self._mask, self._position_scores = self.state_heads.masks(
            states.as_one_step(),
            self.words.repeat_interleave(self.cache.width, 0),
            self.attentions[0].heads,
            self.positions,
            self.cache.keys[0].dtype,
        )
        return all_rows(tokens, len(self.attentions))

    def self_attention(self, layer: int, query: Tensor, key_value: Tensor, rows: LayerRows) -> Tensor:
        query, keys, values = (self._beams(layer, x) for x in (query, *key_value.chunk(2, -1)))
        keys, values = self.cache.write(layer, keys, values)
        return self.attentions[layer].weighted_values(query, keys, values, self._past).flatten(0, 1)

    def cross_attention(self, layer: int, query: Tensor, rows: LayerRows) -> Tensor:
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
        return self.attentions[layer].split(x.unflatten(0, (-1, self.cache.width)))

    def _as_steps(self, x: Tensor) -> Tensor:
        """Reshape a mask (R, H, 1, S) over S words to (B, H, W, S)."""
        return x.unflatten(0, (-1, self.cache.width)).squeeze(3).transpose(1, 2)


def _ints(rows: Tensor | None) -> Tensor | None:
    return None if rows is None else rows.int()
