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
# what an earlier run, and fairseq-preprocess after it, left: of another system or other splits, perhaps
STALE = (
    *(f"{split}.{suffix}" for split in SPLITS for suffix in ("src", "act", "upos", "lemma", "domain", "amr")),
    *("lexicon.json", "columns.json", "vectors.txt", "vectors.safetensors", "dict.*.txt", "*.src-act.*"),
)


def data_folder(dest: str | os.PathLike, inputs: Iterable[str | os.PathLike]) -> AbstractContextManager[Path]:
    """A temporary folder whose files replace those of an earlier run in `dest` at the end.

    Raises `InputError` where one of the inputs would be replaced.
    """
    ours = {Path(dest, name).resolve() for name in STALE}
    for path in inputs:
        if Path(path).resolve() in ours:
            raise input_error("would be replaced by a file of the same name: give --dest another folder", path)
    return new_files(dest, STALE)


def source_line(pieces: Pieces, words: Iterable[str]) -> str:
    """The pieces of a sentence."""
    return " ".join(piece for word in pieces.encode(words) for piece in word)


def keep_vectors(path: str | os.PathLike | None, sentences: Iterable[Iterable[str]], folder: Path) -> None:
    """Writes the vectors of the words of some sentences into `folder`, from a file where there is one."""
    if path is not None:
        words = {normalise(form) for forms in sentences for form in forms}
        read_vectors(path, words).save(folder)


def by_frequency(items: Iterable[str], least: int = 1) -> tuple[str, ...]:
    """The different items that are there `least` times, most frequent first; in alphabetical order where frequencies
    are equal."""
    counts = sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(item for item, count in counts if count >= least)
