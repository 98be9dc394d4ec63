"""What a model needs beside its weights: dictionaries, `spm.model` and `parser.json` of one folder."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from transition_parser.data.vocabulary import Vocabulary
from transition_parser.states.table import ActionTable
from transition_parser.text import pieces as pieces_file
from transition_parser.text.pieces import OPEN, Pieces
from transition_parser.transitions import config as config_file
from transition_parser.transitions import lexicon as lexicon_file
from transition_parser.transitions.config import ParserConfig

SOURCE, TARGET = "src", "act"
FILES = (f"dict.{SOURCE}.txt", f"dict.{TARGET}.txt", pieces_file.FILE_NAME, config_file.FILE_NAME)
OPTIONAL_FILES = (lexicon_file.FILE_NAME,)  # of AMR


@dataclass(frozen=True)
class Resources:
    """The two dictionaries, the word splitter and the transition system of one data folder or model.

    `source_dictionary`, `target_dictionary` and `table` are what a model is built from.
    """

    source_dictionary: Vocabulary
    target_dictionary: Vocabulary
    parser: ParserConfig
    pieces: Pieces
    table: ActionTable
    fingerprint: str  # of the files, to know them again

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Resources:
        """Reads a folder. Raises `InputError` for a missing or unfit file."""
        parser = ParserConfig.load(folder)
        source, target = (Vocabulary.load(Path(folder, name)) for name in FILES[:2])
        table = ActionTable(parser.transition_system(), target.symbols)
        pieces = Pieces.load(folder)
        contents = b"".join(path.read_bytes() for path in _files(folder))
        return cls(source, target, parser, pieces, table, hashlib.sha256(contents).hexdigest())

    @staticmethod
    def copy(folder: str | os.PathLike, dest: str | os.PathLike) -> None:
        """Copies the files that `load` reads."""
        for path in _files(folder):
            shutil.copyfile(path, Path(dest, path.name))

    def encode(self, words: list[str], alpha: float | None = None) -> Tensor:
        """The piece ids of a sentence with `</s>`; alpha as in `Pieces.encode`."""
        return self.encode_pieces([piece for word in self.pieces.encode(words, alpha) for piece in word])

    def encode_all(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """`encode` of each sentence, by one call of sentencepiece: most of its time goes into the call itself."""
        words = iter(self.pieces.encode([word for sentence in sentences for word in sentence]))
        return [
            self.encode_pieces([piece for pieces in islice(words, len(sentence)) for piece in pieces])
            for sentence in sentences
        ]

    def encode_pieces(self, pieces: list[str]) -> Tensor:
        """The ids of pieces, with `</s>`. No pieces at all are one empty word."""
        return torch.tensor([*map(self._piece_id, pieces or [OPEN]), self.source_dictionary.eos()])

    def _piece_id(self, piece: str) -> int:
        dictionary = self.source_dictionary
        unknown = dictionary.index(piece) == dictionary.unk()
        # an unknown piece that opens a word still opens one
        return dictionary.index(OPEN if unknown and piece.startswith(OPEN) else piece)

    def words(self, tokens: list[int]) -> list[str]:
        """The normalised words that the piece ids of a sentence spell; padding and `</s>` spell none."""
        dictionary = self.source_dictionary
        special = (dictionary.pad(), dictionary.eos())
        return self.pieces.words([dictionary[i] for i in tokens if i not in special])

    def features(self, tokens: Tensor) -> Tensor | None:
        """(B, P, F): `ActionTable.features` of a batch of piece ids (B, S), 0 at padding; None where the machine
        needs none."""
        if not self.table.has_features:
            return None
        rows = [torch.tensor(self.table.features(self.words(row)), device=tokens.device) for row in tokens.tolist()]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def opens_word(self) -> Tensor:
        """(V,) bool: which piece ids open a word."""
        return torch.tensor([symbol.startswith(OPEN) for symbol in self.source_dictionary.symbols])


def _files(folder: str | os.PathLike) -> list[Path]:
    optional = (Path(folder, name) for name in OPTIONAL_FILES)
    return [*(Path(folder, name) for name in FILES), *(path for path in optional if path.is_file())]
