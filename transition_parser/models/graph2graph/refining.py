"""The Recursive Non-Autoregressive Graph-to-Graph Transformer, which reads again with the tree that it found.

Source: Mohammadshahi and Henderson 2021 (TACL 9)
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from transition_parser.models.graph2graph.encoder import FirstReading, Slots, add_graph_inputs, label_embeddings
from transition_parser.models.graph2graph.options import RefiningOptions
from transition_parser.modules.biaffine import BiaffineHeads, RelationsOfHeads
from transition_parser.modules.contract import only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.tree_decoder import TreeDecoder, other_words
from transition_parser.states.table import ActionTable


class RefiningDecoder(TreeDecoder):
    """A decoder that finds whole trees and refines them by reading the sentence again, `refine` times (0: SynTr).

    A further reading has as its graph the best head of each word and the best relation by the previous reading, perhaps
    with a cycle. All readings are trained; no gradient goes through a graph. The paper also starts from other parsers'
    trees.
    """

    encoder: FirstReading | None

    def __init__(self, table: ActionTable, encoder: FirstReading, options: RefiningOptions) -> None:
        dim, count = encoder.transformer.width, len(table.relations)
        super().__init__(
            table,
            BiaffineHeads(dim, options.arc_width, options.classifier_dropout),
            RelationsOfHeads(dim, options.relation_width, count),
        )
        self.refine = options.refine
        self.__dict__["encoder"] = encoder if self.refine else None  # no submodule: the model has it already
        self.labels = label_embeddings(count, dim) if self.refine else None

    def readings(self, encoder_out: EncoderOut) -> Iterator[Tensor]:
        assert isinstance(encoder_out, Slots)
        slots, words = encoder_out, encoder_out.words
        yield words
        for _ in range(self.refine):
            assert self.labels is not None and self.encoder is not None
            words = self.encoder.read_words(
                slots, *add_graph_inputs(slots.slots, slots, self.labels, *self._graph(words, slots))
            )
            yield words

    @torch.no_grad()
    def _graph(self, words: Tensor, slots: Slots) -> tuple[Tensor, Tensor]:
        """Return (B, P) twice: offsets from words to their best heads, and the arcs' best relations; else 0."""
        heads = only_legal(self.heads(words), other_words(slots.mask)).argmax(-1)
        relations = only_legal(self.relations(words, heads), self.carried(heads, slots.lengths)).argmax(-1)
        positions = torch.arange(words.size(1), device=words.device)
        is_word = (positions < slots.lengths[:, None]).long()
        return is_word * (heads - positions), is_word * relations
