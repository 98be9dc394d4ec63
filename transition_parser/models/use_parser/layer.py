"""A layer of the Unified Structure Encoder.

Each structure (stack, …) has its own queries and heads, which read words or actions. A hidden layer joins the results.

Source: Ji et al. 2021, secs. 4.1 and 4.2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.models.use_parser.options import UseOptions
from transition_parser.models.use_parser.structure_heads import StructureHeads
from transition_parser.models.use_parser.structures import (
    ACTIONS,
    STRUCTURES,
    Structures,
    structure_numbers,
)
from transition_parser.modules.indicated_attention import Content, attend
from transition_parser.modules.layers import Dropout, FeedForward, keep_weight, linear

WORDS = "words"  # a kind of items that heads read, beside `ACTIONS`


class IndicatorIndex(NamedTuple):
    """The indicators (see `StructureHeads`) that the words, or the actions, have. They are the same in all layers.

    index, unseen: as in `attend`, but `index` counts from the start of `rows`
    rows: the rows of the tables of indicators that may be used
    """

    index: Tensor
    unseen: Tensor | None
    rows: slice


class UseLayer(nn.Module):
    """A layer that maps the vectors c of configurations to new vectors c. The first layer has no c to read.

    The query is W_Q (m_t + m_structure + c), where m are learned markers and + is concatenation. W_Q is stored in three
    parts. The paper says only that there are residual connections and layer norms "on MLP and USE modules". Here, as in
    the Transformers of `modules.layers`, the heads' results are added to c, which has the same width. The hidden layer
    reads the norm of that sum, and its result is added to the sum. The queries read the norm of c. The results of
    structures without heads, and of structures that are left out, are zeros.

    words, actions: widths of the vectors of words and of actions
    first: True for the first layer
    """

    def __init__(self, options: UseOptions, structures: Structures, words: int, actions: int, first: bool) -> None:
        super().__init__()
        self.structures, width, marker = structures, options.use_width, options.marker_width
        self.head_width = width // options.heads
        of_head = structures.of_head
        self.width, queries = width, len(of_head) * self.head_width
        self.time = nn.Embedding(options.marker_steps, marker)
        self.marker = nn.Parameter(torch.randn(len(STRUCTURES), marker))
        self.query_of_time = nn.Linear(marker, queries, bias=False)
        self.query_of_marker = keep_weight(nn.Linear(marker, queries, bias=False))
        for part in (self.query_of_time, self.query_of_marker):
            nn.init.xavier_uniform_(part.weight)
        self.query_of_configuration = None if first else linear(width, queries)
        self.query_norm = None if first else nn.LayerNorm(width)
        self.register_buffer("structure", structure_numbers(STRUCTURES, of_head), persistent=False)
        self.heads = nn.ModuleDict()
        count = structures.heads[ACTIONS]
        if count:
            numbers = torch.zeros(count, dtype=torch.long)
            self.heads[ACTIONS] = StructureHeads(actions, numbers, structures.bound + 1, self.head_width)
        if structures.of_words:
            numbers = structure_numbers(structures.of_words, of_head[count:])
            self.heads[WORDS] = StructureHeads(words, numbers, structures.word_values, self.head_width)
        self.norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, options.mlp_width, options.dropout)
        self.dropout = Dropout(options.dropout)

    def forward(
        self,
        c: Tensor | None,
        place: Tensor,
        shape: tuple[int, int],
        contents: Mapping[str, Content],
        indices: Mapping[str, IndicatorIndex],
    ) -> Tensor:
        """Return (B, T, width), the new vectors c.

        c: (B, T, width) or None; the vectors of the layer below
        place: (T, heads · d), or (1, heads · d) for all steps; see `places`
        shape: (B, T); sentences, and the steps in training or the hypotheses of a sentence in search
        contents: `WORDS` → content of B sentences; `ACTIONS` → content of B derivations with T queries each, or in
            search of B · T derivations with one query each
        indices: the indicators of each kind of items
        """
        query = self._query(c, place).expand(-1, *shape, -1)
        read, done = [], 0
        for name, heads in self.heads.items():
            content, count = contents[name], len(heads.structure)
            some = query[done : done + count].reshape(count, content.sentences, -1, self.head_width)
            index, unseen, rows = indices[name]
            found = attend(some, content.of_indicators(rows), index, unseen)
            read.append(found.reshape(count, *shape, self.head_width))
            done += count
        found = torch.cat(read).permute(1, 2, 0, 3).flatten(2)
        found = self.dropout(F.pad(found, (0, self.width - found.size(2))))
        c = found if c is None else c + found
        return c + self.dropout(self.feed_forward(self.norm(c)))

    def places(self, time: Tensor) -> Tensor:
        """Return (T, heads · d), the part of the queries that depends on step and structure alone; heads are d wide.

        time: (T,); the steps
        """
        marker = self.marker.index_select(0, self.structure)
        of_head = self.query_of_marker.weight.unflatten(0, (len(self.structure), -1))
        of_time = self.query_of_time(self.time(time.clamp_max(self.time.num_embeddings - 1)))
        return of_time + (of_head @ marker[..., None]).flatten()

    def _query(self, c: Tensor | None, place: Tensor) -> Tensor:
        """Return (heads, B or 1, T, d), the queries."""
        query = place[None]
        if c is not None and self.query_of_configuration is not None and self.query_norm is not None:
            query = query + self.query_of_configuration(self.query_norm(c))
        return query.unflatten(-1, (len(self.structure), -1)).permute(2, 0, 1, 3)
