"""Layers of a Transformer whose attention is told the relations of a graph.

Source: Mohammadshahi and Henderson 2020, eqs 1 to 4; Devlin et al. 2019 (post-norm, GELU)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.attention import HeadMask, scaled_dot_product_attention
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.indicated_attention import Content, attend
from transition_parser.modules.linear import linear

# how slot i is related to slot j: not at all, as its head, as its dependent, as the first piece of its word, as a
# further piece of the word that j is the first piece of
NONE, HEAD_OF, DEPENDENT_OF, FIRST_OF, PIECE_OF = RELATIONS = range(5)


class Sizes(NamedTuple):
    """width of the slots, feed-forward width, heads, and what norms add to the variance."""

    width: int
    inner: int
    heads: int
    epsilon: float = 1e-12


class Visible(NamedTuple):
    """What attention sees. there: (N, L) bool, the slots that are not left out. wanted: (N, K), the slots whose vectors
    the last layer makes; None: all. relations: (N, L, L), one of `RELATIONS` for each pair; None: no graph."""

    there: Tensor
    wanted: Tensor | None = None
    relations: Tensor | None = None

    def before_the_last(self) -> Visible:
        """What all layers but the last see."""
        return self._replace(wanted=None)

    def in_the_last(self) -> Visible:
        """What the last layer sees: of relations, those of the wanted slots."""
        if self.wanted is None or self.relations is None:
            return self
        return self._replace(relations=at(self.relations, self.wanted))

    def without_gaps(self) -> tuple[Tensor, Visible]:
        """(N, L'), of each row the slots that are there, and others behind them, as many as the row with the most has;
        and what is seen of these. A wanted slot that is not there becomes any other. Without relations."""
        assert self.wanted is not None and self.relations is None
        order = (~self.there).byte().argsort(dim=1, stable=True)
        most = int(self.there.sum(1).max()) if len(self.there) else 0
        wanted = order.argsort(1).gather(1, self.wanted).clamp_max(max(most - 1, 0))
        order = order[:, :most]
        return order, Visible(self.there.gather(1, order), wanted)


def at(x: Tensor, slots: Tensor) -> Tensor:
    """(N, K, d), of x (N, L, d) the slots (N, K)."""
    return x.gather(1, slots[..., None].expand(-1, -1, x.size(2)))


class Layer(nn.Module):
    """Self-attention and feed-forward, each with a norm behind it.

    relation_keys, relation_values: (5, d), W_1 and W_2 of eqs 3 and 4, the same for all heads of d each; they start at
    zero, so that a pretrained layer computes at first what it was trained for. Those of "no relation" stay part of the
    sum, as in the paper. activation, activation_in_product: see `packing.pack`.
    """

    activation, activation_in_product = "gelu", False

    def __init__(self, sizes: Sizes, dropout: float, graph: bool) -> None:
        super().__init__()
        width, inner, self.heads, epsilon = sizes
        self.query, self.key_value = linear(width, width), linear(width, 2 * width)
        self.out = linear(width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width, epsilon) for _ in range(2))
        self.inner, self.outer = linear(width, inner), linear(inner, width)
        self.dropout = Dropout(dropout)
        shape = (len(RELATIONS), width // self.heads)
        self.relation_keys, self.relation_values = (
            nn.Parameter(torch.zeros(shape)) if graph else None for _ in range(2)
        )

    def forward(self, x: Tensor, visible: Visible) -> Tensor:
        """(N, L, width) of x, or (N, K, width) of the slots that are wanted."""
        asking = x if visible.wanted is None else at(x, visible.wanted)
        found = self._attention(asking, x, visible)
        x = self.norms[0](asking + self.dropout(self.out(found)))
        inner = self.inner(x)
        if not self.activation_in_product:
            inner = F.gelu(inner)
        return self.norms[1](x + self.dropout(self.outer(inner)))

    def _attention(self, asking: Tensor, x: Tensor, visible: Visible) -> Tensor:
        query = self.query(asking).unflatten(2, (self.heads, -1)).transpose(1, 2)
        keys, values = self.key_value(x).unflatten(2, (2 * self.heads, -1)).transpose(1, 2).chunk(2, 1)
        of_keys, of_values = self.relation_keys, self.relation_values
        if visible.relations is None or of_keys is None or of_values is None:
            bias = HeadMask.of(visible.there[:, None, None]).bias
            found = scaled_dot_product_attention(query, keys, values, bias)
        else:
            tables = (table.to(keys.dtype).expand(self.heads, -1, -1) for table in (of_keys, of_values))
            content = Content(keys.transpose(0, 1), values.transpose(0, 1), *tables)
            found = attend(query.transpose(0, 1), content, visible.relations[None], ~visible.there[:, None]).transpose(
                0, 1
            )
        return found.transpose(1, 2).flatten(2)


class Transformer(nn.Module):
    """Layers over the sum of embeddings of words, positions and segments.

    sizes, layers: how wide and how many. positions, segments: how many of them have embeddings; what is further away
    is like the last. graph: attention is told relations.
    """

    reads_words = True  # see `packing.quantised`
    closes_gaps = True  # what is not there is left out, not masked; False: to find out what that saves

    def __init__(self, sizes: Sizes, layers: int, positions: int, segments: int, dropout: float, graph: bool) -> None:
        super().__init__()
        self.width = sizes.width
        self.positions, self.segments = nn.Embedding(positions, sizes.width), nn.Embedding(segments, sizes.width)
        for table in (self.positions, self.segments):
            nn.init.normal_(table.weight, std=0.02)
        self.norm = nn.LayerNorm(sizes.width, sizes.epsilon)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(Layer(sizes, dropout, graph) for _ in range(layers))

    def forward(self, words: Tensor, position: Tensor, segment: Tensor, visible: Visible) -> Tensor:
        """(N, L, width), or (N, K, width) of the slots that are wanted.

        words: (N, L, width), their embeddings. position, segment: (N, L).
        """
        gaps = self.closes_gaps and visible.wanted is not None and visible.relations is None
        if gaps and words.device.type == "cpu":
            # elsewhere the host would wait for the number of slots
            order, visible = visible.without_gaps()
            words, position, segment = at(words, order), position.gather(1, order), segment.gather(1, order)
        place = self.positions(position.clamp(0, self.positions.num_embeddings - 1))
        x = self.dropout(self.norm(words + place + self.segments(segment)))
        for layer in self.layers[:-1]:
            x = layer(x, visible.before_the_last())
        return self.layers[-1](x, visible.in_the_last())
