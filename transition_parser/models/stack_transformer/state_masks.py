"""Masks and positions by which cross-attention heads see the parser state, by ranks on the stack and in the buffer.

B derivations of T steps, P words and root. Source: Fernandez Astudillo et al. 2020, sec. 3.1
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transition_parser.modules.layers import Attention, HeadMask, sinusoids, summed_exactly
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
