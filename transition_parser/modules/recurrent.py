"""An encoder whose words see each other through a bidirectional recurrent network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.base.machine import has_fast_bf16
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, WordReader
from transition_parser.modules.layers import gather_rows
from transition_parser.modules.words import WordTensors


class LSTM(nn.LSTM):
    """PyTorch's LSTM, computed in fp32 if autocast asks for bf16 on a CPU without native bf16.

    PyTorch has no LSTM for autocast to bf16 on such a CPU.
    """

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the outputs, and the memory after the last step; see `torch.nn.LSTM`."""
        if input.device.type == "cpu" and torch.is_autocast_enabled("cpu") and not has_fast_bf16(input.device):
            with torch.autocast("cpu", enabled=False):
                return super().forward(input.float(), hx)
        return super().forward(input, hx)


CELLS = {"gru": nn.GRU, "lstm": LSTM}


class RecurrentEncoder(WordReader):
    """An encoder of words, and of the artificial root behind the last word, by a bidirectional GRU or LSTM.

    The first layer reads words of any width (`WordReader.read_width`).

    dim: width of the words, see `WordReader`.
    hidden: width of each direction; the encoded words are twice as wide.
    layers: number of layers.
    cell: `gru` or `lstm`.
    dropout: dropout probability of the inputs of each layer and of the result.
    word_dropout: probability that training zeroes the vector of a word.
    """

    def __init__(
        self,
        reading: ReadingSettings,
        *,
        dim: int,
        hidden: int,
        layers: int,
        cell: str = "gru",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__(reading, dim=dim, any_width=True)
        self.word_dropout, self.dropout = Dropout(word_dropout, whole=True), Dropout(dropout)
        widths = [self.read_width, *[2 * hidden] * (layers - 1)]
        self.ahead, self.back = (
            nn.ModuleList(CELLS[cell](width, hidden, batch_first=True) for width in widths) for _ in range(2)
        )

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> EncoderOut:
        """Return the encoded words. The arguments are those of `WordReader.read`."""
        return self.scan(*self.read_words(src_tokens, words))

    def read_words(self, src_tokens: Tensor, words: WordTensors | None) -> tuple[Tensor, Tensor]:
        """Return the words that the first layer reads, (B, P, read_width), and a mask, (B, P), True at words and roots.

        The arguments are those of `WordReader.read`.
        """
        x, mask = self.read(src_tokens, words)
        return self.word_dropout(x), mask

    def scan(self, x: Tensor, mask: Tensor) -> EncoderOut:
        """Return the encoded words; the arguments are the results of `read_words`."""
        lengths = mask.sum(1)
        mirrored = (lengths[:, None] - 1 - torch.arange(x.size(1), device=x.device)).clamp_min(0)
        for ahead, back in zip(self.ahead, self.back, strict=True):
            x = self.dropout(x)
            # padding is behind the words in both directions, so that no word sees it
            x = torch.cat([ahead(x)[0], gather_rows(back(gather_rows(x, mirrored))[0], mirrored)], -1)
        return EncoderOut(self.dropout(x), mask, lengths - 1)
