"""Layers of a Transformer whose attention reads the relations of a graph (post-norm, GELU, as BERT's).

N rows of L slots (a word, the root, a special token, or a further piece of a word), K of them wanted.
Source: Mohammadshahi and Henderson 2020, eqs 1 to 4; Devlin et al. 2019
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import encoders, loader
from transition_parser.kernels.encoders import Int8Layer, Int8Product, Int8Stack, Int8Weights
from transition_parser.modules.layers import (
    WIDTHS,
    Content,
    Dropout,
    HeadMask,
    attend,
    gather_rows,
    linear,
    padded,
    rounded_up,
    runs,
    scaled_dot_product_attention,
)

# the relation of slot i to slot j: none; i is the head of j, a dependent of j, the first piece of j's word, or a
# further piece of the word that begins with j
NONE, HEAD_OF, DEPENDENT_OF, FIRST_OF, PIECE_OF = RELATIONS = range(5)


class Sizes(NamedTuple):
    """The sizes of a Transformer layer; `epsilon` is what its norms add to the variance."""

    width: int
    inner: int
    heads: int
    epsilon: float = 1e-12


class Visible(NamedTuple):
    """The slots and relations that attention sees."""

    there: Tensor  # (N, L) bool; False for slots that are left out
    wanted: Tensor  # (N, K); the slots whose vectors the last layer computes
    relations: Tensor | None = None  # (N, L, L); one of `RELATIONS` for each pair; None: no graph


class RowBlock(NamedTuple):
    """A block of R rows of W slots. A slot sees only slots of its row."""

    there: Tensor  # (R, W) bool; False for slots that are left out
    bias: Tensor  # (R, 1, 1, W); see `HeadMask`
    queries: int  # K, the number of slots of each row that are queries
    relations: Tensor | None  # (R, K, W); None: no graph

    @classmethod
    def from_mask(cls, there: Tensor, relations: Tensor | None) -> RowBlock:
        return cls(there, HeadMask.from_visible(there[:, None, None]).bias, there.size(1), relations)


class Windows(NamedTuple):
    """Rows of slots without gaps: first slots and lengths, (N,) int32, and the largest length. A slot sees its row."""

    first: Tensor
    lengths: Tensor
    longest: int


class CellLayout(NamedTuple):
    """The order in which layers compute slots: C slots of a batch in one list, by blocks or windows."""

    cells: Tensor  # (C,); the index of each slot of the list in the flattened (N, L)
    parts: list[RowBlock] | Windows  # for all layers but the last
    last: list[RowBlock] | Windows  # for the last layer, whose blocks may have fewer queries
    asking: Tensor  # (A,); places of the slots that the last layer computes
    found: Tensor  # (N, K); the index in `asking` of each wanted slot

    @classmethod
    def of_all(cls, visible: Visible) -> CellLayout:
        there, wanted, relations = visible
        count, length = there.shape
        cells = torch.arange(count * length, device=there.device)
        part = RowBlock.from_mask(there, relations)
        some = None if relations is None else gather_rows(relations, wanted)
        asking = cells[::length, None] + wanted
        found = torch.arange(wanted.numel(), device=there.device).view_as(wanted)
        return cls(cells, [part], [part._replace(queries=wanted.size(1), relations=some)], asking.flatten(), found)

    @classmethod
    def in_windows(cls, visible: Visible, few_shapes: bool) -> CellLayout:
        """Return a layout without slots left out, for kernels without a graph; `found` of such slots is arbitrary."""
        there, wanted, _ = visible
        cells, lengths = there.flatten().nonzero()[:, 0], there.sum(1)
        place = there.flatten().cumsum(0).view_as(there).sub(1).clamp_min(0).gather(1, wanted)
        if few_shapes:
            cells = padded(cells)
        windows = Windows((lengths.cumsum(0) - lengths).int(), lengths.int(), int(lengths.max()))
        matters = there.gather(1, wanted)
        asks = torch.zeros(len(cells), dtype=torch.bool)
        asks[place[matters]] = True
        asking = asks.nonzero()[:, 0]  # in order, and each once
        found = (asks.cumsum(0)[place] - 1) * matters
        if few_shapes:
            asking = padded(asking)
        return cls(cells, windows, windows, asking, found)

    @classmethod
    def without_gaps(cls, visible: Visible, few_shapes: bool) -> CellLayout:
        """Return a layout in blocks of rows of similar lengths (`runs`); `found` of slots left out is arbitrary."""
        there, wanted, relations = visible
        matters, found = there.gather(1, wanted), torch.zeros_like(wanted)
        order = (~there).byte().argsort(dim=1, stable=True)  # the slots of each row; slots that are left out come last
        place = order.argsort(1).gather(1, wanted)  # the indices of wanted slots in `order`
        if few_shapes:
            order, place = (F.pad(some, (0, -some.size(1) % WIDTHS)) for some in (order, place))
        cells, asking, parts, last, cell, ask = [], [], [], [], 0, 0
        for rows, width in runs(there.sum(1), order.size(1), few_shapes):
            slots, number = order[rows, :width], torch.arange(len(rows))[:, None]
            known = torch.arange(width) < there[rows].sum(1, keepdim=True)
            among = None if relations is None else relations[rows[:, None, None], slots[:, :, None], slots[:, None]]
            matter = matters[rows].any(0).nonzero()  # the columns up to the last one that matters are needed
            needed = int(matter.max()) + 1 if len(matter) else 1
            queries = min(rounded_up(needed, WIDTHS if few_shapes else 1), place.size(1))
            asked = place[rows, :queries].clamp_max(width - 1)
            parts.append(RowBlock.from_mask(known, among))
            last.append(
                parts[-1]._replace(queries=queries, relations=None if among is None else gather_rows(among, asked))
            )
            cells.append((rows[:, None] * there.size(1) + slots).flatten())
            asking.append((cell + number * width + asked).flatten())
            found[rows] = ask + number * queries + torch.arange(wanted.size(1)).clamp_max(queries - 1)
            cell, ask = cell + len(rows) * width, ask + len(rows) * queries
        listed, asked_of = torch.cat(cells), torch.cat(asking)
        if few_shapes:
            listed, asked_of = padded(listed), padded(asked_of)
        return cls(listed, parts, last, asked_of, found)


class Layer(nn.Module):
    """A layer of self-attention and feed-forward, each followed by a norm; eqs 3 and 4 start with zero vectors."""

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

    def forward(self, x: Tensor, parts: Sequence[RowBlock] | Windows, asking: Tensor | None = None) -> Tensor:
        """Return the output, (C, width), or (A, width) for the slots in `asking`; see `CellLayout`."""
        asks = x if asking is None else x.index_select(0, asking)
        if isinstance(parts, Windows):
            keys, values = self.key_value(x).chunk(2, 1)
            read = encoders.self_attention(self.query(x), keys, values, self.heads, *parts)
            read = read if asking is None else read.index_select(0, asking)
        else:
            read = self._read_blocks(asks, x, parts)
        x = self.norms[0](asks + self.dropout(self.out(read)))
        inner = self.inner(x)
        if not self.activation_in_product:
            inner = F.gelu(inner)
        return self.norms[1](x + self.dropout(self.outer(inner)))

    def int8(self) -> Int8Layer:
        attention = Int8Product(Int8Weights.together([self.query.int8, self.key_value.int8]))
        return Int8Layer(attention, self.out.product, self.inner.product, self.outer.product, self.norms)

    def _read_blocks(self, asks: Tensor, x: Tensor, parts: Sequence[RowBlock]) -> Tensor:
        """Return (A, width), what the heads read for the slots that are queries, `asks`."""
        query, key_value = self.query(asks), self.key_value(x)
        read, cell, ask = [], 0, 0
        for part in parts:
            rows, width = part.there.shape
            seen = key_value[cell : cell + rows * width].unflatten(0, (rows, width))
            by = query[ask : ask + rows * part.queries].unflatten(0, (rows, part.queries))
            read.append(self._attention(by, seen, part).flatten(0, 1))
            cell, ask = cell + rows * width, ask + rows * part.queries
        if ask < len(query):
            read.append(query.new_zeros(len(query) - ask, query.size(1)))
        return torch.cat(read)

    def _attention(self, query: Tensor, key_value: Tensor, part: RowBlock) -> Tensor:
        """Return (R, K, width), what the heads read for queries (R, K, width) of keys and values (R, W, 2 · width)."""
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
    """A Transformer over the sum of embeddings of words, positions (the last for all farther ones) and segments."""

    def __init__(self, sizes: Sizes, layers: int, positions: int, segments: int, dropout: float, graph: bool) -> None:
        super().__init__()
        self.width = sizes.width
        self.positions, self.segments = nn.Embedding(positions, sizes.width), nn.Embedding(segments, sizes.width)
        for table in (self.positions, self.segments):
            nn.init.normal_(table.weight, std=0.02)
        self.norm = nn.LayerNorm(sizes.width, sizes.epsilon)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(Layer(sizes, dropout, graph) for _ in range(layers))
        self._sizes = sizes
        self._int8: Int8Stack | None = None  # set if one kernel computes all layers

    def use_int8(self) -> None:
        """Let one kernel compute all layers, if it can. `packing.quantize` calls this method."""
        if encoders.supports_int8(self.width, self._sizes.inner, self._sizes.heads):
            self._int8 = Int8Stack([layer.int8() for layer in self.layers], self._sizes.heads)

    def forward(self, words: Tensor, position: Tensor, segment: Tensor, visible: Visible) -> Tensor:
        """Return (N, K, width), the vectors of the wanted slots, for embeddings, positions and segments (N, L, …)."""
        layout = self._layout(words, visible)
        x, position, segment = (some.flatten(0, 1).index_select(0, layout.cells) for some in (words, position, segment))
        place = self.positions(position.clamp(0, self.positions.num_embeddings - 1))
        x = self.dropout(self.norm(x + place + self.segments(segment)))
        if self._int8 is not None and isinstance(layout.parts, Windows):
            x = encoders.int8_layers(x.float(), self._int8, *layout.parts, layout.asking).to(x.dtype)
        else:
            for layer in self.layers[:-1]:
                x = layer(x, layout.parts)
            x = self.layers[-1](x, layout.last, layout.asking)
        return x.index_select(0, layout.found.flatten()).unflatten(0, layout.found.shape)

    def _layout(self, words: Tensor, visible: Visible) -> CellLayout:
        if words.device.type != "cpu":  # elsewhere counting slots makes the host wait
            return CellLayout.of_all(visible)
        casts = torch.is_autocast_enabled("cpu")
        kernels = loader.supports(words, self.width // self.layers[0].heads)
        if kernels and not (casts or torch.is_grad_enabled() or self.training) and visible.relations is None:
            return CellLayout.in_windows(visible, words.dtype is torch.bfloat16 and self._int8 is None)
        return CellLayout.without_gaps(visible, casts)
