"""The file `words.txt`: the words of the training data, most frequent first, for models with word embeddings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.model_files import read_text

FILE_NAME = "words.txt"
MOST_WORDS = 100_000  # rarer words are left out


def save_words(words: Sequence[str], folder: str | os.PathLike) -> None:
    """Write up to `MOST_WORDS` words, one a line.

    words: each word once, the most frequent first
    """
    Path(folder, FILE_NAME).write_text("".join(f"{word}\n" for word in words[:MOST_WORDS]), encoding="utf-8")


def load_words(folder: str | os.PathLike) -> tuple[str, ...] | None:
    """Return the words in `words.txt`; None if it is missing. Raises `InputError` for an unreadable or invalid file."""
    path = Path(folder, FILE_NAME)
    if not os.path.lexists(path):
        return None
    words = tuple(read_text(path, "`transition-parser preprocess` writes it").split("\n")[:-1])
    if len(set(words)) < len(words):
        raise input_error("a word is listed twice: preprocess again", path)
    return words


def check_has_words(words: Sequence[str] | None) -> Sequence[str]:
    """Return `words`. Raises `InputError` for None, which means that the data has no `words.txt`."""
    if words is None:
        raise InputError(f"the data has no {FILE_NAME}: preprocess it again with `transition-parser preprocess`")
    return words
