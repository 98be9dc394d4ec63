"""The merger of several AMR banks into one.

The releases of the LDC give each split as a folder with a file for each source.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from transition_parser.base.errors import InputError, input_error
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.preprocess.banks import Problems, check_entry

SUFFIXES = (".txt", ".amr")


def bank_files(folder: str | os.PathLike) -> list[Path]:
    """Return the banks of a folder, `.txt` and `.amr`, in the order of their names, without hidden files and folders.

    Raises `InputError` for a folder without banks.
    """
    if not Path(folder).is_dir():
        raise input_error("is not a folder: name the folder that holds the files of one split", folder)
    files = sorted(
        path
        for path in Path(folder).iterdir()
        if path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )
    if not files:
        problem = (
            "the folder holds no .txt or .amr file: in LDC releases they are in data/amrs/split/training and so on"
        )
        raise input_error(problem, folder)
    return files


def merge_banks(paths: Iterable[str | os.PathLike], problems: Problems = None) -> Iterator[AmrEntry]:
    """Yield the entries of all files in order, without headers.

    Raises `InputError` for an id that occurs twice, and for a file without entries.

    problems: see `banks`
    """
    seen_at: dict[str, str] = {}
    for path in paths:
        empty, left_out = True, len(problems or ())
        for entry in _usable(path, problems):
            empty = False
            if entry.id is not None:
                if entry.id in seen_at:
                    raise entry.error(f"{seen_at[entry.id]} has the same id: leave one of the two out")
                seen_at[entry.id] = f"{entry.path}:{entry.line}"
            yield entry
        if empty and len(problems or ()) == left_out:
            raise input_error("the file holds no AMRs", path)


def _usable(path: str | os.PathLike, problems: Problems) -> Iterator[AmrEntry]:
    for entry in read_bank(path, problems):
        try:
            check_entry(entry)
        except InputError as error:
            if problems is None:
                raise
            problems.append(error)
        else:
            yield entry
