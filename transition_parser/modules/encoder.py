"""The encoder: subword pieces in, one vector a word out."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from transition_parser.compat import padded
from transition_parser.kernels import search_kernels
from transition_parser.modules.attention import HeadMask
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.layers import EncoderLayer, LocalLayer, add_and_normalise, sinusoids


class EncoderOut(NamedTuple):
    """words: (B, P, dim), the words of each sentence and its root. mask: (B, P), True at them.
    lengths: (B,), how many words, the root not counted. features: (B, P, F), see `ActionTable.features`, or None."""

    words: Tensor
    mask: Tensor
    lengths: Tensor
    features: Tensor | None


class WordEncoder(FairseqEncoder):
    """Embeds pieces, pools them to words (mean), and lets the words attend to each other.

    The `</s>` that fairseq appends is the last position: the artificial root.

    opens: (V,) bool, True for the pieces that open a word, and for `</s>`.
    """

    def __init__(self, dictionary, opens: Tensor, args) -> None:
        super().__init__(dictionary)
        dim = args.encoder_embed_dim
        self.padding = dictionary.pad()
        self.register_buffer("opens", opens, persistent=False)
        self.embed = nn.Embedding(len(dictionary), dim, self.padding)
        nn.init.normal_(self.embed.weight, std=dim**-0.5)
        nn.init.zeros_(self.embed.weight[self.padding])
        self.scale = math.sqrt(dim)
        self.head_width = dim // args.encoder_attention_heads
        self.dropout = Dropout(args.dropout)
        self.word_dropout = Dropout(args.word_dropout, whole=True)
        self.local = nn.ModuleList(LocalLayer(dim, args.dropout) for _ in range(args.encoder_local_layers))
        self.layers = nn.ModuleList(
            EncoderLayer(
                dim,
                args.encoder_attention_heads,
                args.encoder_ffn_embed_dim,
                args.dropout,
                args.attention_dropout,
                args.activation_dropout,
            )
            for _ in range(args.encoder_layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(
        self, src_tokens: Tensor, src_lengths: Tensor | None = None, features: Tensor | None = None, **_
    ) -> EncoderOut:
        """src_tokens: (B, S) piece ids, padded on either side."""
        x, mask = self._pool(src_tokens)
        x = self.dropout(self.word_dropout(x) + sinusoids(1, x.size(1), x.size(2), x.device).to(x.dtype))
        lengths = mask.sum(1)
        training = self.training or torch.is_grad_enabled()
        if not training and search_kernels.supports(x, self.head_width):
            return EncoderOut(self._infer(x, mask, lengths), mask, lengths - 1, features)
        for layer in self.local:
            x = layer(x, mask)
        visible = HeadMask.of(mask[:, None, None, :])._replace(alive=None)
        for layer in self.layers:
            x = layer(x, visible)
        return EncoderOut(self.norm(x), mask, lengths - 1, features)

    def _infer(self, x: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """What the layers and the last norm make of x (B, P, dim), by `search_kernels`. mask: (B, P). lengths: (B,)."""
        batch, width, _ = x.shape
        for layer in self.local:
            x = layer.infer(x, mask)
        rows = padded(x.flatten(0, 1))
        sentence = torch.zeros(len(rows), dtype=torch.int32)
        sentence[: batch * width] = torch.arange(batch, dtype=torch.int32).repeat_interleave(width)
        lengths = lengths.int()
        norms = [*(layer.norms[0] for layer in self.layers), self.norm]
        inner = norms[0](rows)
        for layer, norm in zip(self.layers, norms[1:], strict=True):
            added = layer.infer(rows, inner, (batch, width), sentence, lengths)
            inner = add_and_normalise(rows, added, norm)
        return inner[: batch * width].unflatten(0, (batch, width))

    def _pool(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """(B, P, dim) means of the pieces of each word, and which positions are words."""
        real = tokens != self.padding
        word = (self.opens[tokens] & real).long().cumsum(1)  # from 1; 0 before the first word
        count = word.max(1).values
        width = int(count.max())
        real = real & (word > 0)
        first = torch.arange(len(tokens), device=tokens.device)[:, None] * width
        sizes = (first + word - 1)[real].bincount(minlength=len(tokens) * width)
        means = F.embedding_bag(tokens[real], self.embed.weight, sizes.cumsum(0) - sizes, mode="mean")
        mask = torch.arange(width, device=tokens.device) < count[:, None]
        return (means * self.scale).unflatten(0, mask.shape), mask

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        """The rows in a new order."""
        return EncoderOut(*(None if t is None else t.index_select(0, new_order) for t in encoder_out))

    def max_positions(self) -> int:
        """Sentences of any length: positions are computed."""
        return int(1e6)
