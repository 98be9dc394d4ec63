"""The parts of `preprocess` that trees and AMRs share: the data folder, its pieces, and lists of labels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.text.columns import KNOWN, labels_of
from transition_parser.text.pieces import Pieces

SPLITS = ("train", "valid", "test")
_OTHERS = ("lexicon.json", "columns.json", "words.txt", "dict.*.txt", "*.src-act.*")


def stale() -> tuple[str, ...]:
    """Return patterns of the files that earlier runs of `preprocess` and fairseq-preprocess leave in a data folder."""
    return (*(f"{split}.{suffix}" for split in SPLITS for suffix in ("src", "act", *KNOWN, "amr")), *_OTHERS)


def data_folder(dest: str | os.PathLike, inputs: Iterable[str | os.PathLike]) -> AbstractContextManager[Path]:
    """Return a context manager for a temporary folder whose files replace those of an earlier run in `dest`.

    Raises `InputError` if fairseq would read the path of `dest` as several, or if one of the inputs would be replaced.
    """
    check_undivided(dest)
    ours = {Path(dest, name).resolve() for name in stale()}
    for path in inputs:
        if Path(path).resolve() in ours:
            raise input_error("would be replaced by a file of the same name: give --dest another folder", path)
    return new_files(dest, stale())


def check_undivided(folder: str | os.PathLike) -> None:
    """Raise `InputError` if fairseq would read the path of a data folder as several paths."""
    if dividing := [mark for mark in (",", os.pathsep) if mark in str(folder)]:
        raise input_error(f"fairseq divides a path at {dividing[0]!r}: give a folder without it", folder)


def source_line(pieces: Pieces, words: Iterable[str]) -> str:
    """Return the pieces of a sentence, separated by spaces."""
    return " ".join(piece for word in pieces.encode(words) for piece in word)


def values_of(
    sentences: Sequence[Any], columns: Collection[str], path: str | os.PathLike
) -> dict[str, tuple[str, ...]]:
    """Return for each column the labels that a model learns, the most frequent first."""
    found = {}
    for name in columns:
        column = KNOWN[name]
        found[name] = by_frequency(labels_of(name, sentences), column.least)
        if not found[name] and not any(labels_of(name, sentences)):
            problem = f"the column {name.upper()} is empty: there is nothing to learn from"
            raise input_error(f"{problem}; leave out --{column.flag}", path)
    return found


def by_frequency(items: Iterable[str], least: int = 1) -> tuple[str, ...]:
    """Return the different items that occur at least `least` times, most frequent first."""
    counts = sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(item for item, count in counts if count >= least)
