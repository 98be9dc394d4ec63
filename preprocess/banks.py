"""The rule for which entries of AMR banks are used; `merge`, `align`, `oracle` and `preprocess` share it.

A list `problems` takes the error of each entry that is left out; if it is None, the first error is raised.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from transition_parser.base.errors import InputError, collected, input_error
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.oracles.amr import check_graph
from transition_parser.oracles.amr_check import Derived
from transition_parser.preprocess.aligner.aligner import with_sentences

Problems = list[InputError] | None

RULE = """AMR entries that merge, align, oracle and preprocess refuse (the same for these four commands):
  - entries that can't be read: PENMAN that is not well-formed, a variable that is defined twice or not at all, an
    alignment to a token that the sentence does not have, no graph
  - entries without a sentence (# ::snt or # ::tok)
  - entries with more than 1,000 words, nodes or edges, because the aligner takes no more (merge keeps them)
  - graphs that the transition system can't build: an edge from a node to itself, or more than four edges between two
    nodes
  - graphs that need more nodes, edges or SWAPs than a sentence of their length may have (merge keeps them, because
    this shows only when nodes are aligned)
Such an entry stops the command with exit status 2. With --skip-bad it is left out and named on standard error, and
does not change the exit status, unless no entry is left. Comments without ::id, ::snt and ::tok are headers, not
entries. A file that is not UTF-8 text is refused in any case."""


def read_entries(paths: Sequence[str | os.PathLike], problems: Problems = None) -> list[AmrEntry]:
    """Return the entries of some banks, each with its words as `# ::tok`. Raises `InputError` if no entry is left."""
    before = len(problems or ())
    entries = [entry for path in paths for entry in with_sentences(read_bank(path, problems), problems)]
    if not entries:
        raise nothing_left(paths, (problems or [])[before:])
    return entries


def check_entry(entry: AmrEntry) -> None:
    """Raise `InputError` for an entry that can't be used, as far as that is known before the entry is aligned."""
    _ = entry.text  # raises an error for an entry without a sentence
    entry.amr.to_penman(None, entry.wiki, entry.variables)  # raises an error for a graph that can't be written
    try:
        check_graph(entry.graph)
    except ValueError as error:
        raise entry.error(str(error)) from None


def derived_alone(items: Iterable[Derived], problems: Problems = None) -> Iterator[Derived]:
    """Yield the items that have a derivation."""
    for item in items:
        with collected(problems):
            if item.error is not None:
                raise item.error
            yield item


def nothing_left(paths: Iterable[str | os.PathLike], problems: Sequence[InputError] = ()) -> InputError:
    """Return the error for banks of which no entry can be used."""
    problem = "the file holds no AMR that can be used"
    if problems:
        first = str(problems[0]).partition("\n")[0]
        problem = f"{problem}: {len(problems)} left out, the first: {first}"
    return input_error(problem, " ".join(map(str, paths)))


SUFFIXES = (".txt", ".amr")


def bank_files(folder: str | os.PathLike) -> list[Path]:
    """Return the banks of a folder, `.txt` and `.amr`, in the order of their names, without hidden files."""
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
    """Yield the entries of all files in order, without headers."""
    seen_at: dict[str, str] = {}
    for path in paths:
        empty, left_out = True, len(problems or ())
        for entry in _usable(path, problems):
            empty = False
            if entry.id in seen_at:
                raise entry.error(f"{seen_at[entry.id]} has the same id: leave one of the two out")
            if entry.id is not None:
                seen_at[entry.id] = f"{entry.path}:{entry.line}"
            yield entry
        if empty and len(problems or ()) == left_out:
            raise input_error("the file holds no AMRs", path)


def _usable(path: str | os.PathLike, problems: Problems) -> Iterator[AmrEntry]:
    for entry in read_bank(path, problems):
        with collected(problems):
            check_entry(entry)
            yield entry
