"""The Transformer's input before the first action: slots (words, root, special tokens, pieces) with embeddings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from transition_parser.models.graph2graph.layers import Transformer, Visible
from transition_parser.models.graph2graph.pretrained_layers import PieceInput
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, WordReader
from transition_parser.modules.layers import Dropout
from transition_parser.modules.words import WordTensors

PIECES = "pieces"  # the name of `PieceInput` among the inputs of words
CLS, SEP, SECOND_SEP = SPECIAL_TOKENS = range(3)


@dataclass(frozen=True, eq=False, kw_only=True)
class Slots(EncoderOut):
    """The L slots of each of B sentences.

    The first P slots are the words and the root, which stands behind the last word. Then come CLS, SEP and another SEP,
    then the further pieces of words (all but the first piece of each). The order of slots does not matter; order comes
    from position embeddings alone.

    words: (B, P, dim); embeddings, or the result of the first reading (`FirstReading`)
    slots: (B, L, dim); embeddings
    there: (B, L) bool; False at padding and at the second SEP, which only `StateTransformerDecoder` may set to True
    position: (B, L); positions in the written sentence, where CLS has 0
    owner: (B, L − P − 3); the word that each further piece belongs to, −1 at padding
    """

    slots: Tensor
    there: Tensor
    position: Tensor
    owner: Tensor


class SlotEncoder(WordReader):
    """An encoder that embeds words and root as `WordReader` does, and adds the other slots.

    marks: (3, dim); the embeddings of CLS and the two SEPs
    """

    def __init__(self, reading: ReadingSettings, *, dim: int, word_dropout: float) -> None:
        super().__init__(reading, dim=dim)
        self.word_dropout = Dropout(word_dropout, whole=True)
        self.marks = nn.Parameter(torch.randn(len(SPECIAL_TOKENS), dim))

    @property
    def pieces(self) -> PieceInput | None:
        """The input that reads the pieces of a pretrained encoder, or None."""
        return None if self.inputs is None or PIECES not in self.inputs else self.inputs[PIECES]

    def slots(self, src_tokens: Tensor, words: WordTensors | None) -> Slots:
        """Return the slots of sentences. The arguments are as in `WordEncoder.forward`."""
        x, mask = self.read(src_tokens, words)
        x = self.word_dropout(x)
        batch, wide, _ = x.shape
        lengths = mask.sum(1) - 1
        special = self.marks.to(x.dtype).expand(batch, -1, -1)
        there = torch.tensor([True, True, False], device=x.device).expand(batch, -1)
        cls = torch.zeros(batch, 1, dtype=torch.long, device=x.device)
        if self.pieces is None:
            places = torch.arange(1, wide + 1, device=x.device).expand(batch, -1)
            position = torch.cat([places, cls, lengths[:, None] + 2, cls], 1)
            owner = cls[:, :0]
            slots, there = torch.cat([x, special], 1), torch.cat([mask, there], 1)
        else:
            assert words is not None
            read = words[PIECES]
            owner, places = read["owner"], read["position"]
            more = self.pieces.embed(read["more"]).to(x.dtype)
            sep = places.gather(1, lengths[:, None] + 1)
            position = torch.cat([places[:, :wide], cls, sep, cls, read["more_position"]], 1)
            slots, there = torch.cat([x, special, more], 1), torch.cat([mask, there, owner >= 0], 1)
        return Slots(x, mask, lengths, slots=slots, there=there, position=position, owner=owner)

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> EncoderOut:
        """Return the slots of sentences. The arguments are as in `WordEncoder.forward`."""
        return self.slots(src_tokens, words)


class SentenceEncoder(SlotEncoder):
    """The encoder of the plain Sentence Transformer: words are read once, before the first action (eq. 9)."""

    def __init__(self, reading: ReadingSettings, transformer: Transformer, *, dim: int, word_dropout: float) -> None:
        super().__init__(reading, dim=dim, word_dropout=word_dropout)
        self.transformer = transformer

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> EncoderOut:
        slots = self.slots(src_tokens, words)
        return EncoderOut(self.read_words(slots, slots.slots), slots.mask, slots.lengths)

    def read_words(self, slots: Slots, x: Tensor, relations: Tensor | None = None) -> Tensor:
        """Return (B, P, dim), the Transformer's output for the words and the root.

        x: (B, L, dim); the embeddings of slots
        relations: (B, L, L) or None; the relations of a graph
        """
        segment = torch.zeros_like(slots.position)
        wanted = torch.arange(slots.words.size(1), device=segment.device).expand(len(segment), -1)
        return self.transformer(x, slots.position, segment, Visible(slots.there, wanted, relations))


class FirstReading(SentenceEncoder):
    """An encoder that reads the words once, so that a decoder can read them again.

    In the `Slots` that it returns, `words` are the result of this reading, not embeddings.
    """

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> Slots:
        slots = self.slots(src_tokens, words)
        return replace(slots, words=self.read_words(slots, slots.slots))
