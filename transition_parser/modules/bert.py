"""BERT (Devlin et al. 2019) with low-rank adapters (Hu et al. 2022).

Attention may read the relations of a graph (Mohammadshahi and Henderson 2020, eqs 3 and 4). Without one, parsing on
CPUs computes attention by kernels, which need no padding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.kernels import encoders, loader
from transition_parser.kernels.encoders import Int8Layer, Int8Product, Int8Weights
from transition_parser.modules.layers import (
    Content,
    Dropout,
    HeadMask,
    attend,
    linear,
    padded,
    replace_layers,
    scaled_dot_product_attention,
)

# the relation of slot i to slot j: none; i is the head of j, a dependent of j, the first piece of j's word, or a
# further piece of the word that begins with j
NONE, HEAD_OF, DEPENDENT_OF, FIRST_OF, PIECE_OF = RELATIONS = range(5)


WIDTHS = 8  # with `few_shapes`, widths are multiples of this number
_CELLS = 128  # with `few_shapes`, the row count of a run is a multiple of `_CELLS` // width, or of 1 if that is 0
_OVERHEAD = 64  # the cost of an additional run, on one core, as a number of cells of padding


class SequenceRun(NamedTuple):
    """A group of sequences of similar lengths."""

    rows: Tensor  # (R,); indices of sequences; the last may be repeated, so that there are few shapes
    width: int  # at least the largest length


def runs(lengths: Tensor, longest: int, few_shapes: bool = False) -> list[SequenceRun]:
    """Divide sequences into runs of similar lengths, each as long as its padding has at most `_OVERHEAD` cells.

    `longest` is an upper bound of lengths and widths; `few_shapes` is for bf16 products with unpacked weights (see
    `layers.padded_size`).

    >>> [(run.rows.tolist(), run.width) for run in runs(torch.tensor([3, 90, 4, 80]), 90)]
    [([0, 2], 4), ([3, 1], 90)]
    """
    ascending, order = lengths.sort(stable=True)
    widths = [min(rounded_up(length, WIDTHS if few_shapes else 1), longest) for length in ascending.tolist()]
    found, first, cells = [], 0, 0
    for stop, (width, following) in enumerate(zip(widths, [*widths, math.inf][1:], strict=True), 1):
        cells += width
        if (stop - first) * following - cells <= _OVERHEAD:  # the padding if the next sequence joins the run
            continue
        more = -(stop - first) % max(_CELLS // max(width, 1), 1) if few_shapes else 0
        found.append(SequenceRun(torch.cat([order[first:stop], order[stop - 1 : stop].expand(more)]), width))
        first, cells = stop, 0
    return found


def rounded_up(count: int, step: int) -> int:
    return count + -count % step


class Visible(NamedTuple):
    """The slots and relations that attention sees."""

    there: Tensor  # (N, L) bool; False for slots that are left out
    wanted: Tensor  # (N, K); the slots whose vectors the last layer computes
    relations: Tensor | None = None  # (N, L, L); one of `RELATIONS` for each pair; None: no graph


class RowBlock(NamedTuple):
    """A block of R rows of W slots. A slot sees only slots of its row."""

    there: Tensor  # (R, W) bool; False for slots that are left out
    bias: Tensor  # (R, 1, 1, W); see `HeadMask`
    relations: Tensor | None  # (R, W, W); None: no graph

    @classmethod
    def from_mask(cls, there: Tensor, relations: Tensor | None) -> RowBlock:
        return cls(there, HeadMask.from_visible(there[:, None, None]).bias, relations)


class Windows(NamedTuple):
    """Rows of slots without gaps: first slots and lengths, (N,) int32, and the largest length. A slot sees its row."""

    first: Tensor
    lengths: Tensor
    longest: int


class CellLayout(NamedTuple):
    """The order in which layers compute slots: C slots of a batch in one list, by blocks or windows."""

    cells: Tensor  # (C,); the index of each slot of the list in the flattened (N, L)
    parts: list[RowBlock] | Windows
    asking: Tensor  # (A,); places of the slots that the last layer computes
    found: Tensor  # (N, K); the index in `asking` of each wanted slot; arbitrary for slots that are left out

    @classmethod
    def of_all(cls, visible: Visible) -> CellLayout:
        there, wanted, relations = visible
        cells = torch.arange(there.numel(), device=there.device)
        asking = cells[:: there.size(1), None] + wanted
        found = torch.arange(wanted.numel(), device=there.device).view_as(wanted)
        return cls(cells, [RowBlock.from_mask(there, relations)], asking.flatten(), found)

    @classmethod
    def in_windows(cls, visible: Visible, few_shapes: bool) -> CellLayout:
        """Return a layout without slots left out, for kernels without a graph."""
        there, lengths = visible.there, visible.there.sum(1)
        windows = Windows((lengths.cumsum(0) - lengths).int(), lengths.int(), int(lengths.max()))
        place = there.flatten().cumsum(0).view_as(there) - 1
        return cls._of(visible, there.flatten().nonzero()[:, 0], windows, place, few_shapes)

    @classmethod
    def without_gaps(cls, visible: Visible, few_shapes: bool) -> CellLayout:
        """Return a layout in blocks of rows of similar lengths (`runs`)."""
        there, _, relations = visible
        order = (~there).byte().argsort(dim=1, stable=True)  # the slots of each row; slots that are left out come last
        place = order.argsort(1)
        if few_shapes:
            order = F.pad(order, (0, -order.size(1) % WIDTHS))
        cells, parts, cell, first = [], [], 0, torch.zeros_like(place[:, :1])
        for rows, width in runs(there.sum(1), order.size(1), few_shapes):
            slots = order[rows, :width]
            known = torch.arange(width) < there[rows].sum(1, keepdim=True)
            among = None if relations is None else relations[rows[:, None, None], slots[:, :, None], slots[:, None]]
            parts.append(RowBlock.from_mask(known, among))
            cells.append((rows[:, None] * there.size(1) + slots).flatten())
            first[rows, 0] = cell + width * torch.arange(len(rows))
            cell += len(rows) * width
        return cls._of(visible, torch.cat(cells), parts, first + place, few_shapes)

    @classmethod
    def _of(
        cls, visible: Visible, cells: Tensor, parts: list[RowBlock] | Windows, place: Tensor, few_shapes: bool
    ) -> CellLayout:
        """Return the layout of a list of cells where each slot that is there has the given place, (N, L)."""
        matters = visible.there.gather(1, visible.wanted)
        place = place.gather(1, visible.wanted)
        asks = torch.zeros(len(cells), dtype=torch.bool)
        asks[place[matters]] = True
        asking = asks.nonzero()[:, 0]  # in order, and each once
        found = (asks.cumsum(0)[place * matters] - 1) * matters
        if few_shapes:
            cells, asking = padded(cells), padded(asking)
        return cls(cells, parts, asking, found)


class BertConfig(NamedTuple):
    """The options of a BERT, under their names in its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    hidden_act: str = "gelu"
    model_type: str = "bert"

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> BertConfig | None:
        """Return the configuration; None for another kind of encoder. Raises `TypeError` where a number is missing."""
        if (
            values.get("model_type") != "bert"
            or values.get("hidden_act") != "gelu"
            or values.get("position_embedding_type", "absolute") != "absolute"
            or values.get("is_decoder")
        ):
            return None
        config = cls(**{name: values[name] for name in cls._fields if name in values})
        if config.hidden_size % config.num_attention_heads:
            raise ValueError("config.json has no valid num_attention_heads")
        return config


class Bert(nn.Module):
    """The layers of a BERT, which read a graph if `graph`. Its weights are random until they are loaded."""

    def __init__(self, config: BertConfig, graph: bool = False) -> None:
        super().__init__()
        self.config, width = config, config.hidden_size
        tables = nn.ModuleDict()
        if config.vocab_size:
            tables["word_embeddings"] = nn.Embedding(config.vocab_size, width, config.pad_token_id)
        tables["position_embeddings"] = nn.Embedding(config.max_position_embeddings, width)
        tables["token_type_embeddings"] = nn.Embedding(config.type_vocab_size, width)
        tables["LayerNorm"] = nn.LayerNorm(width, config.layer_norm_eps)
        tables["dropout"] = Dropout(config.hidden_dropout_prob)
        self.embeddings = tables
        layers = nn.ModuleList(BertLayer(config, graph) for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Load weights by their names in a file, which may have a prefix, and gamma and beta in norms."""
        old = {"gamma": "weight", "beta": "bias"}
        given = {
            re.sub("(gamma|beta)$", lambda end: old[end[0]], name.removeprefix("bert.")): value.float()
            for name, value in weights.items()
        }
        self.load_state_dict({name: given[name] for name in self.state_dict()})

    def get_input_embeddings(self) -> nn.Module:
        return self.embeddings["word_embeddings"]

    def states(self, ids: Tensor, mask: Tensor) -> tuple[list[Tensor], Tensor]:
        """Return the embeddings and the hidden states of each layer, (C, width), and the row in them of each piece.

        ids, mask: (W, L); the pieces of W windows, padded. The row of padding, in the result (W, L), is arbitrary.
        """
        wide = ids.size(1)
        layout = self.layout(Visible(mask, torch.arange(wide, device=ids.device).expand_as(ids)))
        words = self.embeddings["word_embeddings"](ids.flatten().index_select(0, layout.cells))
        states = [self.embed(words, layout.cells % wide, torch.zeros_like(layout.cells))]
        for layer in self.encoder["layer"]:
            states.append(layer(states[-1], layout.parts))
        return states, layout.asking[layout.found]

    def embed(self, words: Tensor, positions: Tensor, segments: Tensor) -> Tensor:
        """Return what the first layer reads, (C, width), for embeddings of words, (C, width), and numbers, (C,)."""
        tables = self.embeddings
        places = tables["position_embeddings"](positions)
        x = words.to(places.dtype) + places + tables["token_type_embeddings"](segments)
        return tables["dropout"](tables["LayerNorm"](x))

    def layout(self, visible: Visible, all_int8: bool = False) -> CellLayout:
        """Return the order in which the layers compute slots; `all_int8`: one kernel computes all layers."""
        if visible.there.device.type != "cpu":  # elsewhere counting slots makes the host wait
            return CellLayout.of_all(visible)
        like, casts = self.embeddings["position_embeddings"].weight, torch.is_autocast_enabled("cpu")
        fits = loader.supports(like, self.config.hidden_size // self.config.num_attention_heads)
        in_search = not (torch.is_grad_enabled() or self.training)
        if fits and in_search and visible.relations is None and not casts:
            return CellLayout.in_windows(visible, like.dtype is torch.bfloat16 and not all_int8)
        return CellLayout.without_gaps(visible, casts)


class BertLayer(nn.Module):
    """A layer of self-attention and feed-forward, each followed by a norm; eqs 3 and 4 start with zero vectors."""

    def __init__(self, config: BertConfig, graph: bool = False) -> None:
        super().__init__()
        width, inner, self.heads = config.hidden_size, config.intermediate_size, config.num_attention_heads

        def added(size: int) -> nn.ModuleDict:  # what adds a result to its input
            norm = nn.LayerNorm(width, config.layer_norm_eps)
            return nn.ModuleDict({"dense": linear(size, width), "LayerNorm": norm})

        of_words = nn.ModuleDict({name: linear(width, width) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": of_words, "output": added(width)})
        self.intermediate, self.output = Intermediate(width, inner), added(inner)
        self.dropout, self.attention_dropout = Dropout(config.hidden_dropout_prob), config.attention_probs_dropout_prob
        shape = (len(RELATIONS), width // self.heads)
        self.relation_keys, self.relation_values = (
            nn.Parameter(torch.zeros(shape)) if graph else None for _ in range(2)
        )

    def forward(self, x: Tensor, parts: Sequence[RowBlock] | Windows, asking: Tensor | None = None) -> Tensor:
        """Return the output, (C, width), or (A, width) for the slots in `asking`; see `CellLayout`."""
        query, key, value = (self.attention["self"][name](x) for name in ("query", "key", "value"))
        if isinstance(parts, Windows):
            read = encoders.self_attention(query, key, value, self.heads, *parts)
        else:
            read = self._read_blocks(query, key, value, parts)
        if asking is not None:
            x, read = x.index_select(0, asking), read.index_select(0, asking)
        x = self._added(self.attention["output"], read, x)
        return self._added(self.output, self.intermediate(x), x)

    def _added(self, parts: Any, x: Tensor, before: Tensor) -> Tensor:
        return parts["LayerNorm"](self.dropout(parts["dense"](x)) + before)

    def _read_blocks(self, query: Tensor, keys: Tensor, values: Tensor, parts: Sequence[RowBlock]) -> Tensor:
        """Return (C, width), what the heads read for each of C slots; the blocks divide queries, keys and values."""
        sizes = [part.there.numel() for part in parts]
        *of_parts, rest = zip(*(x.split([*sizes, len(x) - sum(sizes)]) for x in (query, keys, values)), strict=True)
        read = [
            self._read_block(part, *(x.unflatten(0, part.there.shape) for x in of_part)).flatten(0, 1)
            for part, of_part in zip(parts, of_parts, strict=True)
        ]
        return torch.cat([*read, torch.zeros_like(rest[0])])  # the rest are padding

    def _read_block(self, part: RowBlock, query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Return (R, W, width), what the heads read, from queries, keys and values (R, W, width)."""
        query, keys, values = (x.unflatten(2, (self.heads, -1)).transpose(1, 2) for x in (query, keys, values))
        of_keys, of_values = self.relation_keys, self.relation_values
        if part.relations is None or of_keys is None or of_values is None:
            dropout = self.attention_dropout if self.training else 0.0
            found = scaled_dot_product_attention(query, keys, values, part.bias, dropout)
        else:
            tables = (table.to(keys.dtype).expand(self.heads, -1, -1) for table in (of_keys, of_values))
            content = Content(keys.transpose(0, 1), values.transpose(0, 1), *tables)
            found = attend(query.transpose(0, 1), content, part.relations[None], ~part.there[:, None]).transpose(0, 1)
        return found.transpose(1, 2).flatten(2)

    def int8(self) -> Int8Layer:
        """Return the weights of a layer whose linear layers have integers, for one kernel that computes all layers."""
        of_words, read = self.attention["self"], self.attention["output"]
        attention = Int8Product(Int8Weights.together([of_words[name].int8 for name in ("query", "key", "value")]))
        out, inner, outer = (layer.product for layer in (read["dense"], self.intermediate.dense, self.output["dense"]))
        return Int8Layer(attention, out, inner, outer, (read["LayerNorm"], self.output["LayerNorm"]))


class Intermediate(nn.Module):
    """The inner part of a feed-forward; `pack` computes its product and GELU in one."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.dense, self.intermediate_act_fn = linear(width, inner), nn.GELU()

    def forward(self, x: Tensor) -> Tensor:
        return self.intermediate_act_fn(self.dense(x))


class Adapted(nn.Module):
    """A linear layer with a low-rank adapter, at first 0 (Hu et al. 2022, sec. 4.1, α = r; names as in peft)."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base_layer = layer
        self.lora_A = nn.ModuleDict({"default": nn.Linear(layer.in_features, rank, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(rank, layer.out_features, bias=False)})
        nn.init.zeros_(self.lora_B["default"].weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base_layer(x) + self.lora_B["default"](self.lora_A["default"](x))

    def merged(self) -> nn.Linear:
        with torch.no_grad():
            self.base_layer.weight += self.lora_B["default"].weight @ self.lora_A["default"].weight
        return self.base_layer


def add_adapters(network: nn.Module, rank: int) -> None:
    replace_layers(network, nn.Linear, lambda layer: Adapted(layer, rank))
