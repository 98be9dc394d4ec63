"""The encoder of SPA-DP: a scan, then a rescan for each word. It does not depend on the parser state."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.models.spa_dp.options import NONE, TO_BOUNDARY, VANILLA, SpaDpOptions
from transition_parser.models.spa_dp.rescans import SequencePreservedAttention, VanillaAttention
from transition_parser.modules.encoder import EncoderOut, Reading
from transition_parser.modules.recurrent import RecurrentEncoder
from transition_parser.modules.words import WordTensors


class SpaEncoder(RecurrentEncoder):
    """A bidirectional LSTM over the words (the scan, eq. 11), with the result of each word's rescan beside it (eq. 27).

    Source: SPA-DP, sec. Sequence-Preserved Attention.

    The paper puts a vector of the tag, 50 wide, beside the vector of the word. Here a word has as many inputs as
    `WordOptions` ask for, and their vectors are added up. Dropout of embeddings is as in the paper. Dropout of the
    scan's layers and of rescans is our addition.
    """

    def __init__(self, resources: Resources, options: SpaDpOptions) -> None:
        super().__init__(
            Reading.of(resources, options, options.word_width),
            dim=options.word_width,
            hidden=options.scan_width,
            layers=options.scan_layers,
            cell="lstm",
            dropout=options.dropout,
            word_dropout=options.word_dropout,
        )
        scanned = 2 * options.scan_width
        self.rescan = _rescan(options, scanned)
        self.output_width = scanned + (self.rescan.output_width if self.rescan is not None else 0)

    def forward(
        self, src_tokens: Tensor, features: Tensor | None = None, words: WordTensors | None = None
    ) -> EncoderOut:
        """Return words of width `output_width`. The arguments are as in `RecurrentEncoder.forward`."""
        scanned = super().forward(src_tokens, features, words)
        if self.rescan is None:
            return scanned
        found = self.dropout(self.rescan(scanned.words, scanned.mask))
        return scanned._replace(words=torch.cat([scanned.words, found.to(scanned.words.dtype)], -1))


def _rescan(options: SpaDpOptions, dim: int) -> nn.Module | None:
    if options.spa == NONE:
        return None
    if options.spa == VANILLA:
        return VanillaAttention(dim, options.spa_width)
    return SequencePreservedAttention(dim, options.spa_width, options.spa == TO_BOUNDARY)
