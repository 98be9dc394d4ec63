"""The division of words into subword pieces, of which the first begins with `▁`, windows, and a list of words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import sentencepiece
from sentencepiece import SentencePieceProcessor

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import read_bytes, read_text
from transition_parser.text.characters import without_hidden


class BpeDropout:
    """A splitter of words that applies the merges of a sentencepiece model of the type `bpe`, with dropout."""

    def __init__(self, model: SentencePieceProcessor) -> None:
        ids = range(model.get_piece_size())
        special = (model.is_control, model.is_unknown, model.is_unused, model.is_byte)
        merged = (i for i in ids if not any(is_special(i) for is_special in special))
        self._ranks = {model.id_to_piece(i): -model.get_score(i) for i in merged}
        self._has_bytes = any(map(model.is_byte, ids))

    def split(self, text: str, p: float, draws: Iterator[float]) -> list[str]:
        """Return the pieces of `▁` and a word after merges, each of which is left out with probability `p`."""
        pieces: list[str] = []
        for symbol in self._merged(text, p, draws):
            known = symbol in self._ranks or not self._has_bytes
            pieces += [symbol] if known else [f"<0x{byte:02X}>" for byte in symbol.encode()]
        return pieces

    def _merged(self, text: str, p: float, draws: Iterator[float]) -> list[str]:
        """Return the letters after merges of neighbors, the merge with the lowest rank first."""
        symbols, left_out = [*text], set[tuple[int, ...]]()  # start, middle and end of each merge that was left out
        while True:
            places, merges = [0, *accumulate(map(len, symbols))], []
            for i, pair in enumerate(pairwise(symbols)):
                rank = self._ranks.get("".join(pair))
                if rank is not None and (*places[i : i + 3],) not in left_out:
                    merges.append((rank, i))
            if not merges:
                return symbols
            _, i = min(merges)
            if next(draws) < p:
                left_out.add((*places[i : i + 3],))
            else:
                symbols[i : i + 2] = ["".join(symbols[i : i + 2])]


Value = TypeVar("Value")

_MOST, _LONGEST = 50_000, 50  # the maximum number of cached words, and of letters of a cached word


class WordCache(Generic[Value]):
    """A cache of the values of the first 50,000 words of up to 50 letters, for any thread. Copies start empty."""

    def __init__(self) -> None:
        self._known: dict[str, Value] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of an empty object: other threads may be adding words while a copy is made."""
        return {"_known": {}}

    def values(self, words: Collection[str], compute: Callable[[list[str]], Iterable[Value]]) -> dict[str, Value]:
        """Return the value of each word."""
        known = self._known
        new = [word for word in words if word not in known]
        found = dict(zip(new, compute(new), strict=True)) if new else {}
        if len(known) + len(found) <= _MOST:
            known.update((word, value) for word, value in found.items() if len(word) <= _LONGEST)
        return {word: found[word] if word in found else known[word] for word in words}


FILE_NAME = "spm.model"
OPEN = "▁"
_ANY_WORD = "a"
_SPACE = re.compile(r"\s")


@lru_cache(maxsize=1 << 16)
def normalize(word: str) -> str:
    """Return the word as the network sees it: no `▁`, white space as `␣`, and no characters that do not show."""
    shown = word if word.isascii() else without_hidden(word)
    return _SPACE.sub("␣", shown or " ").replace(OPEN, "_")


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
        ids = [*range(self.model.get_piece_size())]
        others = zip(self.model.is_control(ids), self.model.is_unknown(ids), strict=True)
        return [piece for piece, kinds in zip(self.model.id_to_piece(ids), others, strict=True) if not any(kinds)]

    def encode(self, words: Iterable[str]) -> list[list[str]]:
        """Return the pieces of each word, at least one for each word."""
        return self.split([normalize(word) for word in words])

    def split(self, forms: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each normalized word, at least one for each word, by one thread: more take longer."""
        return [pieces or [OPEN] for pieces in self.model.encode(list(forms), out_type=str, num_threads=1)]

    def sample(self, forms: Iterable[str], p: float, draws: Iterator[float]) -> list[list[str]]:
        """Return the pieces of each normalized word by BPE-dropout, at least one for each word."""
        return [self._dropout.split(OPEN + form, p, draws) for form in forms]

    @cached_property
    def _dropout(self) -> BpeDropout:
        return BpeDropout(self.model)

    def words(self, pieces: Sequence[str]) -> list[str]:
        """Return the normalized words that a flat list of pieces spells."""
        groups: list[list[str]] = []
        for piece in pieces:
            if piece.startswith(OPEN) or not groups:
                groups.append([])
            groups[-1].append(piece)
        return [self.model.decode_pieces(group) for group in groups]


class Window(NamedTuple):
    """A window over the words `first` ≤ i < `stop`; the encodings of `kept_from` ≤ i < `kept_stop` come from it."""

    first: int
    stop: int
    kept_from: int
    kept_stop: int

    def keeps(self, word: int) -> bool:
        return self.kept_from <= word < self.kept_stop


def windows(sizes: Sequence[int], longest: int) -> list[Window]:
    """Return overlapping windows over a sentence; exactly one keeps each word, with context on both sides."""
    if any(size > longest for size in sizes):
        raise ValueError(f"a word of more than {longest} pieces")
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        stop, left = first, longest
        while stop < len(sizes) and sizes[stop] <= left:
            left -= sizes[stop]
            stop += 1
        spans.append((first, stop))
        if stop == len(sizes):
            break
        half, after = 0, first + 1  # the next window begins about half of the pieces later, and at least one word later
        while after < stop and half + sizes[after - 1] < longest // 2:
            half += sizes[after - 1]
            after += 1
        first = after
    borders = [0, *((later[0] + earlier[1]) // 2 for earlier, later in pairwise(spans)), len(sizes)]
    return [Window(*span, *kept) for span, kept in zip(spans, pairwise(borders), strict=True)]


WORD_LIST = "words.txt"
MOST_WORDS = 100_000  # rarer words are left out


def load_words(folder: str | os.PathLike) -> tuple[str, ...] | None:
    """Return the words in `words.txt`; None if it is missing. Raises `InputError` for an unreadable or invalid file."""
    path = Path(folder, WORD_LIST)
    if not os.path.lexists(path):
        return None
    words = tuple(read_text(path, "`transition-parser preprocess` writes it").split("\n")[:-1])
    if len(set(words)) < len(words):
        raise input_error("a word is listed twice: preprocess again", path)
    return words
