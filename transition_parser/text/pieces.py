"""The division of words into subword pieces. A piece that opens a word begins with `▁`."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import sentencepiece

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import read_bytes
from transition_parser.text.bpe_dropout import BpeDropout
from transition_parser.text.clusters import without_hidden

FILE_NAME = "spm.model"
OPEN = "▁"
_ANY_WORD = "a"
_SPACE = re.compile(r"\s")


def normalise(word: str) -> str:
    """Return the word as the network sees it.

    It has no white space and no `▁`, which would look like borders of words, and no characters that do not show.

    >>> normalise("1 000")
    '1␣000'
    """
    return _SPACE.sub("␣", without_hidden(word) or " ").replace(OPEN, "_")


class Pieces:
    """A sentencepiece model that splits each word by itself. Raises `InputError` for a file without a usable model."""

    def __init__(self, path: str | os.PathLike) -> None:
        content = read_bytes(path, "`transition-parser preprocess` writes this sentencepiece model")
        if not content:  # sentencepiece takes empty bytes for a missing argument
            raise input_error("is empty", path)
        try:
            self.model = sentencepiece.SentencePieceProcessor(model_proto=content)
            opens_words = self.model.encode(_ANY_WORD, out_type=str)[0].startswith(OPEN)
            self.inventory()
        except (RuntimeError, ValueError, IndexError):
            raise input_error("not a sentencepiece model, or a damaged one", path) from None
        if not opens_words:
            raise input_error(f"the sentencepiece model does not mark with {OPEN} where a word begins", path)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Pieces:
        """Read the model `spm.model` of a folder."""
        return cls(Path(folder, FILE_NAME))

    def inventory(self) -> list[str]:
        """Return all pieces that `encode` can return."""
        model = self.model
        ids = range(model.get_piece_size())
        usable = (i for i in ids if not (model.is_control(i) or model.is_unknown(i)))
        return [model.id_to_piece(i) for i in usable]

    def encode(self, words: Iterable[str]) -> list[list[str]]:
        """Return the pieces of each word, at least one for each word."""
        return self.split([normalise(word) for word in words])

    def split(self, forms: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each normalised word, at least one for each word.

        Only one thread is used, because starting threads takes longer than splitting the words of a sentence.
        """
        return [pieces or [OPEN] for pieces in self.model.encode(list(forms), out_type=str, num_threads=1)]

    def sample(self, forms: Iterable[str], p: float, draws: Iterator[float]) -> list[list[str]]:
        """Return the pieces of each normalised word by BPE-dropout, at least one for each word.

        p: the probability that a merge is left out
        draws: uniform random numbers in [0, 1); one is taken for each possible merge
        """
        return [self._dropout.split(OPEN + form, p, draws) for form in forms]

    @cached_property
    def _dropout(self) -> BpeDropout:
        return BpeDropout(self.model)

    def words(self, pieces: Sequence[str]) -> list[str]:
        """Return the normalised words that a flat list of pieces spells."""
        groups: list[list[str]] = []
        for piece in pieces:
            if piece.startswith(OPEN) or not groups:
                groups.append([])
            groups[-1].append(piece)
        return [self.model.decode_pieces(group) for group in groups]


def make_pieces(
    sentences: Iterable[Sequence[str]], folder: str | os.PathLike, size: int, source: str | os.PathLike | None = None
) -> Pieces:
    """Write `spm.model` into `folder`. It is copied from the folder `source`, or trained if `source` is None.

    Raises `InputError` for a missing or invalid file, and where `train_pieces` does.
    """
    if source is None:
        return train_pieces(sentences, folder, size)
    pieces = Pieces.load(source)
    shutil.copyfile(Path(source, FILE_NAME), Path(folder, FILE_NAME))
    return pieces


def train_pieces(sentences: Iterable[Sequence[str]], folder: str | os.PathLike, size: int, seed: int = 1) -> Pieces:
    """Train a byte-pair model with byte fallback on the words of sentences and write `spm.model` into `folder`.

    size: the largest number of pieces; a small corpus gets fewer

    Raises `InputError` where `size` is too small for the bytes and the frequent characters.

    Source: Sennrich et al. 2016; Kudo and Richardson 2018.
    """
    # The lines are whole sentences, not words, because sentencepiece draws its first candidates from the distinct
    # lines. With words as lines, a frequent word would weigh no more than a rare one.
    # The lines are a list, because sentencepiece would turn an interrupt inside a generator into an error of its own.
    text = [" ".join(map(normalise, words)) for words in sentences]
    path = Path(folder, FILE_NAME)
    sentencepiece.set_random_generator_seed(seed)
    try:
        with open(path, "wb") as file:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(text),
                model_writer=file,
                model_type="bpe",
                vocab_size=size,
                hard_vocab_limit=False,
                byte_fallback=True,
                character_coverage=0.9995,
                normalization_rule_name="identity",
                num_threads=1,  # the same pieces on every machine
                minloglevel=2,
            )
    except RuntimeError as error:  # `size` is smaller than the number of bytes and frequent characters
        needed = re.search(r"required_chars\. \d+ vs (\d+)", str(error))
        reason = f"at least {needed[1]} are needed here" if needed else str(error)
        raise input_error(f"{size} subword pieces can't be made: {reason}") from None
    return Pieces(path)
