"""Additive attention in layers over the words of a sentence, which knows what was pushed and what is gone.

Source: Zhang et al. 2017, eqs. 5 to 7
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.linear import linear

_NONE = -1e9  # far below any score; where no word is left (a parse is done), all are alike and nothing is NaN


class Memory(NamedTuple):
    """What attention reads of B sentences. words: (B, P, D). keys: (B, P, A), U h of eq. 6. mask: (B, P), True at words
    and the root."""

    words: Tensor
    keys: Tensor
    mask: Tensor

    def of(self, sentences: Tensor) -> Memory:
        """That of some sentences."""
        return Memory(*(tensor.index_select(0, sentences) for tensor in self))


class StackAttention(nn.Module):
    """Layers of attention: each reads the state of the decoder and what the layer before it found. U, S and v are
    shared by the layers, as eq. 7 has them; each has a W of its own.

    state: width of the decoder's state. words: D, width of words. width: A. layers: l. sees_pushed: False leaves S out.
    """

    def __init__(self, state: int, words: int, width: int, layers: int, sees_pushed: bool = True) -> None:
        super().__init__()
        self.of_words = nn.Linear(words, width, bias=False)
        self.of_pushed = nn.Parameter(torch.empty(width, 1)) if sees_pushed else None
        self.score = nn.Parameter(torch.empty(1, width))
        for weight in (self.of_words.weight, self.of_pushed, self.score):
            if weight is not None:
                nn.init.xavier_uniform_(weight)
        self.of_state = nn.ModuleList(linear(state + (words if layer else 0), width) for layer in range(layers))

    def memory(self, encoder_out: EncoderOut) -> Memory:
        """What is the same for all states of a sentence."""
        return Memory(encoder_out.words, self.of_words(encoder_out.words), encoder_out.mask)

    def forward(self, state: Tensor, memory: Memory, pushed: Tensor | None, gone: Tensor | None) -> Tensor:
        """(B, W, l · D), what the layers find for W states of each sentence, side by side.

        state: (B, W, state). pushed, gone: (B, W, P) bool, s and r of sec. 3; None: of no word.
        """
        keys = memory.keys[:, None]
        if self.of_pushed is not None and pushed is not None:
            keys = keys + pushed[..., None].to(keys.dtype) * self.of_pushed[:, 0].to(keys.dtype)
        seen = memory.mask[:, None] if gone is None else memory.mask[:, None] & ~gone
        found: list[Tensor] = []
        for layer in self.of_state:
            query = layer(torch.cat([state, *found[-1:]], -1))
            scores = torch.tanh(keys + query[:, :, None]) @ self.score[0]
            precise = torch.promote_types(scores.dtype, torch.float)
            weights = scores.to(precise).masked_fill(~seen, _NONE).softmax(-1).to(scores.dtype)
            found.append(weights @ memory.words)
        return torch.cat(found, -1)
