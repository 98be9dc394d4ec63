"""The parser state as masks and positions of decoder cross-attention heads.

Source: Fernandez Astudillo et al. 2020, sec. 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transition_parser.modules.attention import Attention, HeadMask, summed_exactly
from transition_parser.states.states import States


@dataclass(frozen=True)
class StateHeads:
    """Which cross-attention heads see what.

    stack, buffer: how many heads see the stack, how many the buffer; the others see all words.
    window: `all` for the whole of it, `top2` for the two words on top (in front).
    positions: add state position embeddings to what those heads see (variant d of the paper).
    top_ranks: how many ranks the two on top of the stack take, see `BatchedMachine`.
    """

    stack: int = 1
    buffer: int = 1
    window: str = "all"
    positions: bool = False
    top_ranks: int = 2

    @property
    def count(self) -> int:
        """How many heads see the state."""
        return self.stack + self.buffer

    def within_window(self, stack: Tensor, buffer: Tensor) -> tuple[Tensor, Tensor]:
        """The ranks, (..., P) each, that the window shows; 0 for others."""
        if self.window == "all":
            return stack, buffer
        return stack * (stack <= self.top_ranks), buffer * (buffer <= 2)

    def ranks(self, stack: Tensor, buffer: Tensor) -> Tensor:
        """(B, state heads, T, P): the ranks that each state head sees, 0 for nothing, from (B, T, P) each."""
        stack, buffer = self.within_window(stack, buffer)
        return torch.stack([stack] * self.stack + [buffer] * self.buffer, 1)

    def masks(
        self,
        states: States,
        words: Tensor,
        heads: int,
        positions: StatePositions | None,
        dtype: torch.dtype,
    ) -> tuple[HeadMask, PositionScores | None]:
        """The mask of all heads (see `mask`), and with `positions` what makes the state heads' part of it.

        states: (B, T, …). words: (B, P), True at words and root.
        """
        if not self.count or states.stack is None or states.buffer is None:
            return HeadMask.of(words[:, None, None, :])._replace(alive=None), None
        ranks = self.ranks(states.stack, states.buffer)
        mask = self.mask(ranks, words, heads, dtype)
        return mask, PositionScores(positions, ranks, mask) if positions else None

    def mask(self, ranks: Tensor, words: Tensor, heads: int, dtype: torch.dtype = torch.float) -> HeadMask:
        """The mask of all heads: `ranks` (B, state heads, T, P), `words` (B, P) True at words and root.

        With `positions` its bias is that of the free heads alone: `PositionScores` makes the others'.
        """
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
    """Scores q·(p W^K) of state position embeddings, gathered by rank: no (T, P, dim) tensor is made.

    Source: Fernandez Astudillo et al. 2020, sec. 3.1, the term p_ti of the score function.
    """

    def __init__(self, dim: int, heads: StateHeads, largest: int = 32) -> None:
        super().__init__()
        self.largest = largest
        self.table = nn.Parameter(torch.randn(2, largest + 1, dim) * dim**-0.5)
        role = [0] * heads.stack + [1] * heads.buffer
        self.register_buffer("role", torch.tensor(role), persistent=False)

    def index(self, ranks: Tensor) -> Tensor:
        """Which embedding each rank has."""
        return ranks.clamp_max(self.largest).long()

    def keys(self, attention: Attention) -> Tensor:
        """(2, largest + 1, dim): p W^K, of the stack and of the buffer."""
        return self.table @ attention.key_value.weight[: self.table.size(2)].t()

    def forward(self, query: Tensor, index: Tensor, attention: Attention, nowhere: Tensor | None = None) -> Tensor:
        """(B, state heads, T, P) scores to be added before the softmax.

        query: (B, heads, T, d), the state heads first. index: (B, state heads, T, P), from `index`. attention: which
        has W^K. nowhere: (B, state heads, T, 1), the score of rank 0; by default it has an embedding too.
        """
        state_heads, width = len(self.role), query.size(-1)
        keys = self.keys(attention).unflatten(-1, (-1, width))  # (2, largest + 1, heads, d)
        heads = torch.arange(state_heads, device=query.device)
        keys = keys[self.role, :, heads]  # (state heads, largest + 1, d)
        query = query[:, :state_heads]
        if not torch.is_grad_enabled():  # not rounded, as in attention
            query, keys = summed_exactly(query), summed_exactly(keys)
        scores = torch.einsum("bhtd,hpd->bhtp", query, keys) * width**-0.5
        if nowhere is not None:
            scores[..., :1] = nowhere
        return scores.gather(-1, index)


class PositionScores:
    """State positions of one batch, which stand in the cross-attention mask of each layer.

    ranks: (B, state heads, T, P). mask: that of the free heads, from `StateHeads.mask`.
    """

    def __init__(self, positions: StatePositions, ranks: Tensor, mask: HeadMask) -> None:
        assert mask.alive is not None
        self.positions, self.index = positions, positions.index(ranks)
        alive = mask.alive[:, : ranks.size(1)]
        self.nowhere = _bias(alive > 0, alive.dtype)  # 0 where there is nothing to see: all −inf would give NaN

    def __call__(self, query: Tensor, mask: HeadMask, attention: Attention) -> HeadMask:
        """The mask of all heads in one layer."""
        scores = self.positions(query, self.index, attention, self.nowhere)
        return mask._replace(bias=torch.cat([scores, mask.bias.to(scores.dtype)], 1))
