"""The parts of `preprocess` that trees and AMRs share: the data folder, its pieces, and lists of labels."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import sentencepiece

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.text.columns import KNOWN, labels_of
from transition_parser.text.pieces import FILE_NAME, MOST_WORDS, WORD_LIST, Pieces, normalize

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
            raise input_error(f"{problem}; leave {name} out of --columns", path)
    return found


def by_frequency(items: Iterable[str], least: int = 1) -> tuple[str, ...]:
    """Return the different items that occur at least `least` times, most frequent first."""
    counts = sorted(Counter(items).items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(item for item, count in counts if count >= least)


# --- pieces and words -------------------------------------------------------------------------


def make_pieces(
    sentences: Iterable[Sequence[str]], folder: str | os.PathLike, size: int, source: str | os.PathLike | None = None
) -> Pieces:
    """Write `spm.model` into `folder`. It is copied from the folder `source`, or trained if `source` is None."""
    if source is None:
        return train_pieces(sentences, folder, size)
    pieces = Pieces.load(source)
    shutil.copyfile(Path(source, FILE_NAME), Path(folder, FILE_NAME))
    return pieces


def train_pieces(sentences: Iterable[Sequence[str]], folder: str | os.PathLike, size: int) -> Pieces:
    """Train a byte-pair model (Sennrich et al. 2016) with byte fallback, and write `spm.model` into `folder`."""
    # The lines are whole sentences, not words, because sentencepiece draws its first candidates from the distinct
    # lines. With words as lines, a frequent word would weigh no more than a rare one.
    # The lines are a list, because sentencepiece would turn an interrupt inside a generator into an error of its own.
    text = [" ".join(map(normalize, words)) for words in sentences]
    path = Path(folder, FILE_NAME)
    sentencepiece.set_random_generator_seed(1)
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


def save_words(words: Sequence[str], folder: str | os.PathLike) -> None:
    """Write up to `MOST_WORDS` normalized words, the most frequent first, one a line."""
    Path(folder, WORD_LIST).write_text("".join(f"{word}\n" for word in words[:MOST_WORDS]), encoding="utf-8")
