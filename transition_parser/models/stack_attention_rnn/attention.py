"""Layers of additive attention over words, which see pushed words and ignore gone words (see `decoder`).

In shapes, B counts sentences, W the states of each sentence, and P the words and the root of the longest sentence.
Source: Zhang et al. 2017, eqs. 5 to 7
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import linear

_NONE = -1e9  # far below any score, but finite, so that a row without a word (a parse that is done) does not give NaN


class AttentionMemory(NamedTuple):
    """The words of B sentences as attention reads them.

    words: (B, P, D); the words h
    keys: (B, P, A); U h of eq. 6
    mask: (B, P) bool; True at words and root
    """

    words: Tensor
    keys: Tensor
    mask: Tensor

    def rows(self, sentences: Tensor) -> AttentionMemory:
        """Return the tensors of the given sentences, (B',)."""
        return AttentionMemory(*(tensor.index_select(0, sentences) for tensor in self))


class StackAttention(nn.Module):
    """Layers of attention. Each layer reads the decoder's state and the result of the layer before.

    The layers share U, S and v, as in eq. 7. Each layer has its own W.

    state: width of the decoder's state
    words: D, width of words
    width: A, width of keys
    layers: l, number of layers
    sees_pushed: False leaves out S, the weight of the mark of pushed words
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

    def memory(self, encoder_out: EncoderOut) -> AttentionMemory:
        """Return the tensors that are the same for all states of a sentence."""
        return AttentionMemory(encoder_out.words, self.of_words(encoder_out.words), encoder_out.mask)

    def forward(self, state: Tensor, memory: AttentionMemory, pushed: Tensor | None, gone: Tensor | None) -> Tensor:
        """Return (B, W, l · D), the layers' results side by side, for W states of each sentence.

        state: (B, W, state)
        pushed, gone: (B, W, P) bool or None; True for pushed words (s of sec. 3), and for gone words (r); None: no word
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
