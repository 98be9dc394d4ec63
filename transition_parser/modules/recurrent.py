"""An encoder whose words see each other through a bidirectional recurrent network."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transition_parser.modules.dropout import Dropout
from transition_parser.modules.encoder import EncoderOut, WordReader
from transition_parser.modules.words import WordInputs, WordTensors

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}


class RecurrentEncoder(WordReader):
    """Words, with the artificial root behind the last, through layers of a bidirectional GRU or LSTM.

    dim: width of the words that it reads. hidden: of each direction; what it returns is twice as wide. cell: `gru` or
    `lstm`. dropout: of what each layer reads. word_dropout: of whole words. Others as of `WordReader`.
    """

    def __init__(
        self,
        opens: Tensor,
        padding: int,
        *,
        dim: int,
        hidden: int,
        layers: int,
        cell: str = "gru",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        inputs: WordInputs | None = None,
        read_pieces: bool = True,
    ) -> None:
        super().__init__(opens, padding, dim=dim, inputs=inputs, read_pieces=read_pieces)
        self.word_dropout, self.dropout = Dropout(word_dropout, whole=True), Dropout(dropout)
        widths = [dim, *[2 * hidden] * (layers - 1)]
        options = {"batch_first": True, "bidirectional": True}
        self.layers = nn.ModuleList(CELLS[cell](width, hidden, **options) for width in widths)

    def forward(
        self, src_tokens: Tensor, features: Tensor | None = None, words: WordTensors | None = None
    ) -> EncoderOut:
        """src_tokens: (B, S) piece ids, padded on either side. words: what the further inputs read of the words."""
        x, mask = self.read(src_tokens, words)
        x = self.word_dropout(x)
        lengths = mask.sum(1)
        on_host = lengths.cpu()
        for layer in self.layers:
            packed = pack_padded_sequence(self.dropout(x), on_host, batch_first=True, enforce_sorted=False)
            x = pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
        return EncoderOut(self.dropout(x), mask, lengths - 1, features)
