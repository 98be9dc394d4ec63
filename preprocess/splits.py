"""The files of a split: pieces and actions, one sentence a line."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.text.pieces import Pieces, normalise
from transition_parser.text.word_vectors import read_vectors

SPLITS = ("train", "valid", "test")
# files of an earlier run, and of fairseq-preprocess after it; they may belong to another system or to other splits
STALE = (
    *(f"{split}.{suffix}" for split in SPLITS for suffix in ("src", "act", "upos", "lemma", "domain", "amr")),
    *("lexicon.json", "columns.json", "vectors.txt", "vectors.safetensors", "dict.*.txt", "*.src-act.*"),
)


def data_folder(dest: str | os.PathLike, inputs: Iterable[str | os.PathLike]) -> AbstractContextManager[Path]:
    """Return a context manager for a temporary folder whose files move into `dest` at the end of the block.

    The files of an earlier run in `dest` are removed then. Raises `InputError` if one of the inputs would be
    replaced.
    """
    ours = {Path(dest, name).resolve() for name in STALE}
    for path in inputs:
        if Path(path).resolve() in ours:
            raise input_error("would be replaced by a file of the same name: give --dest another folder", path)
    return new_files(dest, STALE)


def source_line(pieces: Pieces, words: Iterable[str]) -> str:
    """Return the pieces of a sentence, separated by spaces."""
    return " ".join(piece for word in pieces.encode(words) for piece in word)


def keep_vectors(path: str | os.PathLike | None, sentences: Iterable[Iterable[str]], folder: Path) -> None:
    """Write the vectors of the words of some sentences into `folder`.

    path: the file with the vectors, None to write nothing
    """
    if path is not None:
        words = {normalise(form) for forms in sentences for form in forms}
        read_vectors(path, words).save(folder)


def by_frequency(items: Iterable[str], least: int = 1) -> tuple[str, ...]:
    """Return the different items that occur at least `least` times, most frequent first.

    Items with equal frequencies are in alphabetical order.
    """
    counts = sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(item for item, count in counts if count >= least)
