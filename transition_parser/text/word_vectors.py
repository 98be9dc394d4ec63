"""Pretrained word vectors: text files of word2vec, fastText or GloVe, and the files of vectors in a data folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from transition_parser.base.errors import input_error
from transition_parser.base.files import open_input
from transition_parser.base.model_files import read_text

WORDS_FILE, VECTORS_FILE = "vectors.txt", "vectors.safetensors"
_TENSOR = "vectors"
_MOST = 4096  # the largest width of a vector


class WordVectors(NamedTuple):
    """Words and their vectors."""

    words: tuple[str, ...]
    vectors: np.ndarray  # (words, width) float16

    def save(self, folder: str | os.PathLike) -> None:
        """Write `vectors.txt`, one word a line, and `vectors.safetensors` into `folder`."""
        _write_lines(self.words, Path(folder, WORDS_FILE))
        save_file({_TENSOR: self.vectors}, Path(folder, VECTORS_FILE))

    @classmethod
    def load(cls, folder: str | os.PathLike) -> WordVectors | None:
        """Read the vectors of a folder, or return None where it has none. Raises `InputError` for invalid files."""
        words_file, vectors_file = Path(folder, WORDS_FILE), Path(folder, VECTORS_FILE)
        if not os.path.lexists(words_file) and not os.path.lexists(vectors_file):
            return None
        words = _read_lines(words_file, "`transition-parser preprocess --vectors` writes it")
        try:
            vectors = load_file(vectors_file)[_TENSOR]
        except (SafetensorError, OSError, KeyError) as error:
            problem = f"no vectors of words: {str(error).partition(chr(10))[0]}"
            raise input_error(problem, vectors_file) from None
        is_table = vectors.dtype == np.float16 and vectors.ndim == 2 and len(vectors) == len(words) and vectors.shape[1]
        if not is_table or not np.isfinite(vectors).all():
            raise input_error(f"is not a table of {len(words)} finite vectors in half precision", vectors_file)
        return cls(words, vectors)


def _write_lines(words: Sequence[str], path: Path) -> None:
    path.write_text("".join(f"{word}\n" for word in words), encoding="utf-8")


def _read_lines(path: Path, missing: str) -> tuple[str, ...]:
    words = tuple(read_text(path, missing).split("\n")[:-1])
    if len(set(words)) < len(words):
        raise input_error("a word is listed twice: preprocess again", path)
    return words


def read_vectors(path: str | os.PathLike, wanted: Collection[str]) -> WordVectors:
    """Read the vectors of the words in `wanted`, as they are and in lower case, from a plain or gzipped text file."""
    wanted = {*wanted, *(word.lower() for word in wanted)}
    found: dict[str, np.ndarray] = {}
    width = None
    with open_input(path) as file:
        for number, raw in enumerate(file, 1):
            word, _, rest = raw.decode("utf-8", "replace").partition(" ")
            numbers = rest.split()
            if number == 1 and len(numbers) == 1 and word.isdecimal():
                continue
            width = width or len(numbers)
            if not 1 <= width <= _MOST:
                raise input_error(f"{width} numbers after the first word: is this a file of vectors?", path, number)
            if word not in wanted or word in found:
                continue
            try:
                with np.errstate(over="ignore"):
                    found[word] = np.array(numbers, dtype=np.float32).astype(np.float16)
            except ValueError:
                found[word] = np.zeros(0, dtype=np.float16)
            if len(found[word]) != width or not np.isfinite(found[word]).all():
                raise input_error(f"{word!r:.40} is not followed by {width} numbers of half precision", path, number)
    if not found:
        raise input_error("the file has no vector of any word of the corpus: is it for another language?", path)
    words = tuple(sorted(found))
    return WordVectors(words, np.stack([found[word] for word in words]))


FILE_NAME = "words.txt"
MOST_WORDS = 100_000  # rarer words are left out


def save_words(words: Sequence[str], folder: str | os.PathLike) -> None:
    """Write up to `MOST_WORDS` words, the most frequent first, one a line."""
    _write_lines(words[:MOST_WORDS], Path(folder, FILE_NAME))


def load_words(folder: str | os.PathLike) -> tuple[str, ...] | None:
    """Return the words in `words.txt`; None if it is missing. Raises `InputError` for an unreadable or invalid file."""
    path = Path(folder, FILE_NAME)
    return _read_lines(path, "`transition-parser preprocess` writes it") if os.path.lexists(path) else None
