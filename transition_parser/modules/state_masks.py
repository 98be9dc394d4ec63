"""The parser state as masks and positions of decoder cross-attention heads.

Source: Fernandez Astudillo et al. 2020, sec. 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transition_parser.modules.attention import HeadMask


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
        if self.window == "top2":
            places = places * (places <= 2)
        return places

    def mask(self, places: Tensor, words: Tensor, heads: int) -> HeadMask:
        """The mask of all heads: `places` (B, state heads, T, P), `words` (B, P) True at words and root."""
        batch, state_heads, steps, width = places.shape
        free = words[:, None, None, :].expand(batch, heads - state_heads, steps, width)
        return HeadMask.of(torch.cat([places > 0, free], 1))


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

    def forward(self, query: Tensor, places: Tensor, key_weight: Tensor) -> Tensor:
        """(B, state heads, T, P) scores to be added before the softmax.

        query: (B, heads, T, d), the state heads first. places: (B, state heads, T, P). key_weight: (dim, dim), W^K.
        """
        state_heads, width = len(self.role), query.size(-1)
        keys = (self.table @ key_weight.t()).unflatten(-1, (-1, width))  # (2, largest + 1, heads, d)
        keys = keys[self.role, :, torch.arange(state_heads)]  # (state heads, largest + 1, d)
        scores = torch.einsum("bhtd,hpd->bhtp", query[:, :state_heads], keys) * width**-0.5
        return scores.gather(-1, places.clamp_max(self.largest).long())
