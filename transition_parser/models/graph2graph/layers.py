"""Layers of a Transformer whose attention is told the relations of a graph.

Source: Mohammadshahi and Henderson 2020, eqs 1 to 4; Devlin et al. 2019 (post-norm, GELU)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.modules.attention import HeadMask, scaled_dot_product_attention
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.indicated_attention import Content, attend
from transition_parser.modules.linear import linear
from transition_parser.modules.places import at
from transition_parser.modules.runs import WIDTHS, rounded_up, runs

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


class Part(NamedTuple):
    """R rows of W slots that see no others. there: (R, W) bool. bias: (R, 1, 1, W), see `HeadMask`. queries: K, how
    many slots of a row ask. relations: (R, K, W); None: no graph."""

    there: Tensor
    bias: Tensor
    queries: int
    relations: Tensor | None

    @classmethod
    def of(cls, there: Tensor, relations: Tensor | None) -> Part:
        """One where all slots ask."""
        return cls(there, HeadMask.of(there[:, None, None]).bias, there.size(1), relations)


class Layout(NamedTuple):
    """Which slots are computed with: C of them, part by part and row by row.

    cells: (C,), indices into the flat (N · L). parts: as all layers but the last see them. last: as that one does.
    asking: (A,), indices into the C, the slots whose vectors the last layer makes; None: all. found: (N, K), where
    among those A the wanted ones are; None: as they come.
    """

    cells: Tensor
    parts: list[Part]
    last: list[Part]
    asking: Tensor | None = None
    found: Tensor | None = None

    @classmethod
    def of_all(cls, visible: Visible) -> Layout:
        """All slots, in one part."""
        there, wanted, relations = visible
        count, length = there.shape
        cells = torch.arange(count * length, device=there.device)
        part = Part.of(there, relations)
        if wanted is None:
            return cls(cells, [part], [part])
        some = None if relations is None else at(relations, wanted)
        asking = cells[::length, None] + wanted
        found = torch.arange(wanted.numel(), device=there.device).view_as(wanted)
        return cls(cells, [part], [part._replace(queries=wanted.size(1), relations=some)], asking.flatten(), found)

    @classmethod
    def without_gaps(cls, visible: Visible, few_shapes: bool) -> Layout:
        """The slots that are there, rows with about as many of them in a part (see `runs`). A wanted slot that is not
        there becomes any other."""
        there, wanted, relations = visible
        assert wanted is not None
        matters, found = there.gather(1, wanted), torch.zeros_like(wanted)
        order = (~there).byte().argsort(dim=1, stable=True)  # the slots of a row, those that are there first
        place = order.argsort(1).gather(1, wanted)  # of the wanted ones in that order
        if few_shapes:
            order, place = (F.pad(some, (0, -some.size(1) % WIDTHS)) for some in (order, place))
        cells, asking, parts, last, cell, ask = [], [], [], [], 0, 0
        for rows, width in runs(there.sum(1), order.size(1), few_shapes):
            slots, number = order[rows, :width], torch.arange(len(rows))[:, None]
            known = torch.arange(width) < there[rows].sum(1, keepdim=True)
            among = None if relations is None else relations[rows[:, None, None], slots[:, :, None], slots[:, None]]
            queries = min(_needed(matters[rows], WIDTHS if few_shapes else 1), place.size(1))
            asked = place[rows, :queries].clamp_max(width - 1)
            parts.append(Part.of(known, among))
            last.append(parts[-1]._replace(queries=queries, relations=None if among is None else at(among, asked)))
            cells.append((rows[:, None] * there.size(1) + slots).flatten())
            asking.append((cell + number * width + asked).flatten())
            found[rows] = ask + number * queries + torch.arange(wanted.size(1)).clamp_max(queries - 1)
            cell, ask = cell + len(rows) * width, ask + len(rows) * queries
        return cls(torch.cat(cells), parts, last, torch.cat(asking), found)


def _needed(matters: Tensor, step: int) -> int:
    """How many columns of (R, K) are as far as the last one that matters in any row: 1 at the least, a multiple of
    `step`."""
    columns = matters.any(0).nonzero()
    count = int(columns.max()) + 1 if len(columns) else 1
    return rounded_up(count, step)


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

    def forward(self, x: Tensor, parts: Sequence[Part], asking: Tensor | None = None) -> Tensor:
        """(C, width) of x, the slots of all parts, or (A, width) of those that ask."""
        asks = x if asking is None else x.index_select(0, asking)
        query, key_value = self.query(asks), self.key_value(x)
        read, cell, ask = [], 0, 0
        for part in parts:
            rows, width = part.there.shape
            seen = key_value[cell : cell + rows * width].unflatten(0, (rows, width))
            by = query[ask : ask + rows * part.queries].unflatten(0, (rows, part.queries))
            read.append(self._attention(by, seen, part).flatten(0, 1))
            cell, ask = cell + rows * width, ask + rows * part.queries
        x = self.norms[0](asks + self.dropout(self.out(torch.cat(read))))
        inner = self.inner(x)
        if not self.activation_in_product:
            inner = F.gelu(inner)
        return self.norms[1](x + self.dropout(self.outer(inner)))

    def _attention(self, query: Tensor, key_value: Tensor, part: Part) -> Tensor:
        """(R, K, width) of queries (R, K, width), and keys and values (R, W, 2 · width)."""
        query = query.unflatten(2, (self.heads, -1)).transpose(1, 2)
        keys, values = key_value.unflatten(2, (2 * self.heads, -1)).transpose(1, 2).chunk(2, 1)
        of_keys, of_values = self.relation_keys, self.relation_values
        if part.relations is None or of_keys is None or of_values is None:
            found = scaled_dot_product_attention(query, keys, values, part.bias)
        else:
            tables = (table.to(keys.dtype).expand(self.heads, -1, -1) for table in (of_keys, of_values))
            content = Content(keys.transpose(0, 1), values.transpose(0, 1), *tables)
            found = attend(query.transpose(0, 1), content, part.relations[None], ~part.there[:, None]).transpose(0, 1)
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
        if self.closes_gaps and visible.wanted is not None and words.device.type == "cpu":
            layout = Layout.without_gaps(visible, torch.is_autocast_enabled("cpu"))
        else:  # elsewhere the host would wait for the number of slots
            layout = Layout.of_all(visible)
        x, position, segment = (some.flatten(0, 1).index_select(0, layout.cells) for some in (words, position, segment))
        place = self.positions(position.clamp(0, self.positions.num_embeddings - 1))
        x = self.dropout(self.norm(x + place + self.segments(segment)))
        for layer in self.layers[:-1]:
            x = layer(x, layout.parts)
        x = self.layers[-1](x, layout.last, layout.asking)
        if layout.found is None:
            return x.unflatten(0, words.shape[:2])
        return x.index_select(0, layout.found.flatten()).unflatten(0, layout.found.shape)
