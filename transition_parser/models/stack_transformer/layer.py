"""The decoder layer of the Stack-Transformer, for training and for search."""

from __future__ import annotations

from torch import Tensor, nn

from transition_parser.models.stack_transformer.search_attention import SearchAttention
from transition_parser.models.stack_transformer.state_masks import PositionScores
from transition_parser.modules.layers import (
    BESIDE,
    BESIDE_PACKED,
    Attention,
    Dropout,
    FeedForward,
    HeadMask,
    keep_weight,
)


class DecoderLayer(nn.Module):
    """Self-attention over actions, cross-attention to words, feed-forward (pre-norm), for training and search."""

    def __init__(
        self, dim: int, heads: int, inner: int, dropout: float, attention_dropout: float, relu_dropout: float
    ) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.self_attention = Attention(dim, heads, attention_dropout)
        self.cross_attention = Attention(dim, heads, attention_dropout)
        keep_weight(self.cross_attention.key_value, BESIDE)  # state positions are projected by this weight too
        self.feed_forward = FeedForward(dim, inner, relu_dropout)
        self.dropout = Dropout(dropout)
        for one in self.linears():
            keep_weight(one, BESIDE_PACKED)

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
        """Return the layer's output (B, T, dim) for all actions at once.

        memory: keys and values of the words, (B, heads, P, dim / heads) each; mask: the words that each head may see
        """
        inner = self.norms[0](x)
        x = x + self.dropout(self.self_attention(inner, inner, None, causal=True))
        query = self.cross_attention.split(self.cross_attention.query(self.norms[1](x)))
        if position_scores is not None and mask is not None:
            mask = position_scores(query, mask, self.cross_attention)
        x = x + self.dropout(self.cross_attention.attend(query, *memory, mask))
        return x + self.dropout(self.feed_forward(self.norms[2](x)))

    def step(self, x: Tensor, number: int, attention: SearchAttention) -> Tensor:
        """Return the output (R, dim) of this layer, number `number`, for one action of each hypothesis in search."""
        block, words = self.self_attention, self.cross_attention
        inner = self.norms[0](x)
        x = x + block.out(attention.self_attention(number, block.query(inner), block.key_value(inner)))
        x = x + words.out(attention.cross_attention(number, words.query(self.norms[1](x))))
        return x + self.feed_forward(self.norms[2](x))
