"""The decoder layer of the Stack-Transformer, for training and for search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from transition_parser.models.stack_transformer.rows import LayerRows
from transition_parser.models.stack_transformer.state_masks import PositionScores
from transition_parser.modules.layers import (
    Attention,
    Dropout,
    FeedForward,
    HeadMask,
    add_and_normalise,
    keep_weight_beside,
    keep_weight_beside_packed,
)

if TYPE_CHECKING:
    from transition_parser.models.stack_transformer.search_attention import SearchAttention


class DecoderLayer(nn.Module):
    """Self-attention over the actions so far, cross-attention to the words, and feed-forward (pre-norm).

    The same layer serves training (all T actions at once) and search (one action a row).
    """

    def __init__(
        self, dim: int, heads: int, inner: int, dropout: float, attention_dropout: float, relu_dropout: float
    ) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.self_attention = Attention(dim, heads, attention_dropout)
        self.cross_attention = Attention(dim, heads, attention_dropout)
        keep_weight_beside(self.cross_attention.key_value)  # state positions are projected by this weight too
        self.feed_forward = FeedForward(dim, inner, relu_dropout)
        self.dropout = Dropout(dropout)
        for one in self.linears():
            keep_weight_beside_packed(one)

    def linears(self) -> list[nn.Linear]:
        """Return the linear layers in the order in which `LayerStack` reads them."""
        block, words, inner = self.self_attention, self.cross_attention, self.feed_forward
        return [block.key_value, block.query, block.out, words.query, words.out, inner.inner, inner.outer]

    def forward(
        self,
        x: Tensor,
        memory: tuple[Tensor, Tensor],
        mask: HeadMask | None,
        position_scores: PositionScores | None = None,
    ) -> Tensor:
        """Return the layer's output (B, T, dim).

        x: (B, T, dim)
        memory: keys and values of the words, (B, heads, P, dim / heads) each
        mask: the words that each head of cross-attention may see
        position_scores: the object that adds the scores of state positions to the mask; None if the model has none
        """
        inner = self.norms[0](x)
        x = x + self.dropout(self.self_attention(inner, inner, None, causal=True))
        query = self.cross_attention.split(self.cross_attention.query(self.norms[1](x)))
        if position_scores is not None and mask is not None:
            mask = position_scores(query, mask, self.cross_attention)
        x = x + self.dropout(self.cross_attention.attend(query, *memory, mask))
        return x + self.dropout(self.feed_forward(self.norms[2](x)))

    def step(
        self, x: Tensor, normed: Tensor, layer: int, attention: SearchAttention, rows: LayerRows
    ) -> tuple[Tensor, Tensor]:
        """Compute this layer for one action of each hypothesis in search.

        Return two tensors (N, dim) for the N rows that `rows` selects: x with the output of attention added, and the
        output of feed-forward. The caller adds the second tensor to the first.

        x: (M, dim); may change in place
        normed: (M, dim); `norms[0]` of x
        layer: the index of this layer in the decoder
        rows: the N of the M rows to compute
        """
        block, (_, cross_norm, inner_norm) = self.self_attention, self.norms
        key_value = block.key_value(normed)
        fewer = rows.inputs is not None and len(rows.inputs) < len(normed)
        query = block.query(rows.select(normed)) if fewer else rows.select(block.query(normed))
        x = rows.select(x)
        added = block.out(attention.self_attention(layer, query, key_value, rows))
        normed = add_and_normalise(x, added, cross_norm)
        block = self.cross_attention
        added = block.out(attention.cross_attention(layer, block.query(normed), rows))
        normed = add_and_normalise(x, added, inner_norm)
        return x, self.feed_forward(normed)
