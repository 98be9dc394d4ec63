"""What the hypotheses of search attend to: the actions that they descend from, and the words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from transition_parser.compat import padded
from transition_parser.kernels import search_kernels
from transition_parser.kernels.search_kernels import Pointers
from transition_parser.modules.attention import Attention, HeadMask
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.history import History
from transition_parser.modules.state_masks import StateHeads, StatePositions


class SearchAttention(ABC):
    """Keys and values of one batch, of all layers.

    Each of B sentences has W hypotheses, which are R = B · W rows, in the order of the sentences. One at first.
    """

    can_choose = False  # whether it can look for some rows only

    def __init__(self) -> None:
        self.width = 1

    @abstractmethod
    def open(self, stack: Tensor | None, buffer: Tensor | None) -> None:
        """A step begins. stack, buffer: (R, P), what state heads may see, from the machine; None without such heads."""

    @abstractmethod
    def look_back(
        self, layer: int, query: Tensor, now: Tensor, which: Tensor | None = None, asked: Tensor | None = None
    ) -> Tensor:
        """(R, dim) that self-attention finds, from query (R, dim) and now (R, 2 dim), keys and values of the newest
        actions.

        which: (R,), which row of `now`, (any number, 2 dim) then, each row has; of one layer either always or never
        None. asked: (N,), where `can_choose`: the rows that the query (N, dim) is of, and the result.
        """

    @abstractmethod
    def look_at_words(self, layer: int, query: Tensor, asked: Tensor | None = None) -> Tensor:
        """(R, dim) that cross-attention finds, from query (R, dim); with `asked` (N, dim) for both."""

    @abstractmethod
    def branch(self, origin: Tensor) -> None:
        """Hypothesis w of sentence b goes on from what was its hypothesis `origin[b, w]`, (B, W')."""

    @abstractmethod
    def keep(self, sentences: Tensor) -> None:
        """Sentence i becomes what was sentence `sentences[i]`, with all its hypotheses."""

    def rows_of(self, origin: Tensor) -> Tensor:
        """(B · W',): `origin` (B, W') as rows."""
        first = torch.arange(len(origin), device=origin.device)[:, None] * self.width
        return (first + origin).flatten()

    def rows_in(self, sentences: Tensor) -> Tensor:
        """(N · W,): all rows of the sentences (N,)."""
        return (sentences[:, None] * self.width + torch.arange(self.width, device=sentences.device)).flatten()


def search_attention(
    attentions: Sequence[Attention],
    encoder_out: EncoderOut,
    state_heads: StateHeads,
    positions: StatePositions | None,
) -> SearchAttention:
    """Before the first action. attentions: the cross-attention of each layer."""
    like, heads = encoder_out.words, attentions[0].heads
    kind = KernelAttention if search_kernels.supports(like, like.size(2) // heads) else MaskedAttention
    return kind(attentions, encoder_out, state_heads, positions)


class KernelAttention(SearchAttention):
    """On CPUs: each hypothesis reads what it descends from where it is stored (`search_kernels.c`).

    Keys and values of a step stay as the step computed them; `_origin` says which row of the step before each row
    goes on from.
    """

    can_choose = True

    def __init__(
        self,
        attentions: Sequence[Attention],
        encoder_out: EncoderOut,
        state_heads: StateHeads,
        positions: StatePositions | None,
    ) -> None:
        super().__init__()
        self.heads = attentions[0].heads
        shape = encoder_out.words.shape[:2]
        words = padded(encoder_out.words.flatten(0, 1))
        self.memory = [attention.key_value(words)[: shape.numel()].unflatten(0, shape) for attention in attentions]
        self.roles = torch.full((self.heads,), -1, dtype=torch.int32)
        self.roles[: state_heads.stack] = 0
        self.roles[state_heads.stack : state_heads.stack + state_heads.buffer] = 1
        self.largest = state_heads.largest
        self.positions = [None if positions is None else positions.keys(attention) for attention in attentions]
        self.lengths = (encoder_out.lengths + 1).int()  # and the root
        self.sentences = torch.arange(len(self.lengths), dtype=torch.int32)
        self._stored = [Pointers() for _ in attentions]
        self._which = [Pointers() for _ in attentions]
        self._origin = Pointers()
        self._moved: Tensor | None = None  # which row of the step before each row goes on from; None: its own
        self._sentence_of_row = self.sentences
        self._places: tuple[Tensor, ...] = ()

    def open(self, stack: Tensor | None, buffer: Tensor | None) -> None:
        self._origin.append(_ints(self._moved))
        self._moved = None
        self._places = () if stack is None or buffer is None else (stack, buffer)
        self._sentence_of_row = self.sentences.repeat_interleave(self.width)

    def look_back(
        self, layer: int, query: Tensor, now: Tensor, which: Tensor | None = None, asked: Tensor | None = None
    ) -> Tensor:
        self._stored[layer].append(now.contiguous())
        if which is not None:
            self._which[layer].append(_ints(which))
        places = None if which is None else self._which[layer]
        return search_kernels.cached_self_attention(
            query, self.heads, self._stored[layer], self._origin, places, _ints(asked)
        )

    def look_at_words(self, layer: int, query: Tensor, asked: Tensor | None = None) -> Tensor:
        return search_kernels.cross_attention(
            query,
            self.heads,
            self.memory[layer],
            self._sentence_of_row,
            self.lengths,
            self.roles,
            self._places,
            self.largest,
            self.positions[layer],
            _ints(asked),
        )

    def branch(self, origin: Tensor) -> None:
        self._move(self.rows_of(origin))
        self.width = origin.size(1)

    def keep(self, sentences: Tensor) -> None:
        self._move(self.rows_in(sentences))
        self.sentences = self.sentences[sentences]

    def _move(self, rows: Tensor) -> None:
        self._moved = rows if self._moved is None else self._moved[rows]


class MaskedAttention(SearchAttention):
    """Anywhere: products of matrices over all that the hypotheses of a sentence descend from, and masks."""

    def __init__(
        self,
        attentions: Sequence[Attention],
        encoder_out: EncoderOut,
        state_heads: StateHeads,
        positions: StatePositions | None,
    ) -> None:
        super().__init__()
        self.attentions, self.state_heads, self.positions = attentions, state_heads, positions
        projected = (attention.keys_values(encoder_out.words) for attention in attentions)
        # read in every step: in one piece, or each step would copy them
        self.memory = [(keys.contiguous(), values.contiguous()) for keys, values in projected]
        self.words = encoder_out.mask
        keys = self.memory[0][0]
        self.history = History(len(attentions), *keys.shape[:2], keys.size(3), keys)

    def open(self, stack: Tensor | None, buffer: Tensor | None) -> None:
        self.history.open()
        self._past = HeadMask(self.history.bias())
        words = self.words.repeat_interleave(self.width, 0)
        self._mask, self._scores = self.state_heads.see(
            None if stack is None else stack[:, None],
            None if buffer is None else buffer[:, None],
            words,
            self.attentions[0].heads,
            self.positions,
            self.history.keys[0].dtype,
        )

    def look_back(
        self, layer: int, query: Tensor, now: Tensor, which: Tensor | None = None, asked: Tensor | None = None
    ) -> Tensor:
        assert asked is None
        if which is not None:
            now = now.index_select(0, which)
        query, keys, values = (self._beams(layer, x) for x in (query, *now.chunk(2, -1)))
        keys, values = self.history.write(layer, keys, values)
        return self.attentions[layer].look(query, keys, values, self._past).flatten(0, 1)

    def look_at_words(self, layer: int, query: Tensor, asked: Tensor | None = None) -> Tensor:
        assert asked is None
        attention, mask = self.attentions[layer], self._mask
        if self._scores is not None:
            mask = self._scores(attention.split(query[:, None]), mask, attention)
        alive = None if mask.alive is None else self._as_steps(mask.alive)
        mask = HeadMask(self._as_steps(mask.bias), alive)
        return attention.look(self._beams(layer, query), *self.memory[layer], mask).flatten(0, 1)

    def branch(self, origin: Tensor) -> None:
        self.history.branch(origin)
        self.width = origin.size(1)

    def keep(self, sentences: Tensor) -> None:
        self.history.keep(sentences)
        self.memory = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.memory]
        self.words = self.words.index_select(0, sentences)

    def _beams(self, layer: int, x: Tensor) -> Tensor:
        """(R, dim) to (B, H, W, d): the hypotheses of a sentence look like as many steps."""
        return self.attentions[layer].split(x.unflatten(0, (-1, self.width)))

    def _as_steps(self, x: Tensor) -> Tensor:
        """(R, H, 1, S) to (B, H, W, S)."""
        return x.unflatten(0, (-1, self.width)).squeeze(3).transpose(1, 2)


def _ints(rows: Tensor | None) -> Tensor | None:
    return None if rows is None else rows.int()
