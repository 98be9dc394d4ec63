"""The parser state as masks and positions of decoder cross-attention heads.

Source: Fernandez Astudillo et al. 2020, sec. 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transition_parser.modules.attention import Attention, HeadMask


@dataclass(frozen=True)
class StateHeads:
    """Which cross-attention heads see what.

    stack, buffer: how many heads see the stack, how many the buffer; the others see all words.
    window: `all` for the whole of it, `top2` for the two words on top (in front).
    positions: add state position embeddings to what those heads see (variant d of the paper).
    """

    stack: int = 1
    buffer: int = 1
    window: str = "all"
    positions: bool = False

    def places(self, stack: Tensor, buffer: Tensor) -> Tensor:
        """(B, stack + buffer heads, T, P): what each state head sees, 0 for nothing, from (B, T, P) each."""
        places = torch.stack([stack] * self.stack + [buffer] * self.buffer, 1)
        if self.largest:
            places = places * (places <= self.largest)
        return places

    @property
    def largest(self) -> int:
        """The largest place that is seen, 0 for any."""
        return 2 if self.window == "top2" else 0

    def see(
        self,
        stack: Tensor | None,
        buffer: Tensor | None,
        words: Tensor,
        heads: int,
        positions: StatePositions | None,
        dtype: torch.dtype,
    ) -> tuple[HeadMask, StateScores | None]:
        """What the heads see: the mask of all (see `mask`), and what makes the state heads' part with `positions`.

        stack, buffer: (B, T, P) places; None where no head asks for them.
        """
        if stack is None or buffer is None:
            return HeadMask.of(words[:, None, None, :])._replace(alive=None), None
        places = self.places(stack, buffer)
        mask = self.mask(places, words, heads, dtype)
        return mask, StateScores(positions, places, mask) if positions else None

    def mask(self, places: Tensor, words: Tensor, heads: int, dtype: torch.dtype = torch.float) -> HeadMask:
        """The mask of all heads: `places` (B, state heads, T, P), `words` (B, P) True at words and root.

        With `positions` its bias is that of the free heads alone: `StateScores` makes the others'.
        """
        batch, state_heads, steps, width = places.shape
        shape = (batch, heads - state_heads, steps, width)
        free = _bias(~words[:, None, None, :], dtype).expand(shape)
        alive = places.amax(-1, keepdim=True) > 0
        bias = free if self.positions else torch.cat([_bias(alive & (places == 0), dtype), free], 1)
        ones = torch.ones(1, 1, 1, 1, dtype=dtype, device=words.device)
        return HeadMask(bias, torch.cat([alive.to(dtype), ones.expand(*shape[:3], 1)], 1))


def _bias(unseen: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(unseen.shape, dtype=dtype, device=unseen.device).masked_fill_(unseen, float("-inf"))


class StatePositions(nn.Module):
    """Scores q·(p W^K) of state position embeddings, gathered by place: no (T, P, dim) tensor is made.

    Source: Fernandez Astudillo et al. 2020, sec. 3.1, the term p_ti of the score function.
    """

    def __init__(self, dim: int, heads: StateHeads, largest: int = 32) -> None:
        super().__init__()
        self.largest = largest
        self.table = nn.Parameter(torch.randn(2, largest + 1, dim) * dim**-0.5)
        role = [0] * heads.stack + [1] * heads.buffer
        self.register_buffer("role", torch.tensor(role), persistent=False)

    def index(self, places: Tensor) -> Tensor:
        """Which embedding each place has."""
        return places.clamp_max(self.largest).long()

    def keys(self, attention: Attention) -> Tensor:
        """(2, largest + 1, dim): p W^K, of the stack and of the buffer."""
        return self.table @ attention.key_value.weight[: self.table.size(2)].t()

    def forward(self, query: Tensor, places: Tensor, attention: Attention, nowhere: Tensor | None = None) -> Tensor:
        """(B, state heads, T, P) scores to be added before the softmax.

        query: (B, heads, T, d), the state heads first. places: (B, state heads, T, P), from `index`. attention: which
        has W^K. nowhere: (B, state heads, T, 1), the score of place 0; by default it has an embedding too.
        """
        state_heads, width = len(self.role), query.size(-1)
        keys = self.keys(attention).unflatten(-1, (-1, width))  # (2, largest + 1, heads, d)
        keys = keys[self.role, :, torch.arange(state_heads)]  # (state heads, largest + 1, d)
        scores = torch.einsum("bhtd,hpd->bhtp", query[:, :state_heads], keys) * width**-0.5
        if nowhere is not None:
            scores[..., :1] = nowhere
        return scores.gather(-1, places)


class StateScores:
    """State positions of one batch, which stand in the cross-attention mask of each layer.

    places: (B, state heads, T, P). mask: that of the free heads, from `StateHeads.mask`.
    """

    def __init__(self, positions: StatePositions, places: Tensor, mask: HeadMask) -> None:
        self.positions, self.places = positions, positions.index(places)
        alive = mask.alive[:, : places.size(1)]
        self.nowhere = _bias(alive > 0, alive.dtype)  # 0 where there is nothing to see: all −inf would give NaN

    def __call__(self, query: Tensor, mask: HeadMask, attention: Attention) -> HeadMask:
        """The mask of all heads in one layer."""
        found = self.positions(query, self.places, attention, self.nowhere)
        return mask._replace(bias=torch.cat([found, mask.bias.to(found.dtype)], 1))
