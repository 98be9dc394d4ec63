"""The choice of the columns (UPOS, lemmas, …) of a corpus that a command uses, by flags or by their presence."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence

from transition_parser.parsing.formalisms import TREES, Formalism
from transition_parser.text.columns import KNOWN, asked_for, present

ALL_COLUMNS = "all_columns"
PREDICTED_BY = "--tag-loss"
OF_PREDICTIONS = (PREDICTED_BY, "--tags-read-words")  # the flags of models that predict columns


def add_columns(parser: argparse.ArgumentParser, formalism: Formalism) -> None:
    """Add the flag of each column of a formalism, and for trees `--all-columns`."""
    for name, column in KNOWN.items():
        if column.graphs == formalism.name:
            used_by = " or ".join(column.used_by)
            text = f"also write {{train,…}}.{name}: {column.holds}, for models that are trained with {used_by}"
            parser.add_argument(f"--{column.flag}", action="store_true", help=text)
    if formalism is TREES:
        flags = ", ".join(f"--{KNOWN[name].flag}" for name in _predicted(formalism))
        text = f"also write all columns that models predict ({flags}); columns that are empty in --train are left out"
        parser.add_argument("--all-columns", action="store_true", help=text)


def wanted_columns(arguments: argparse.Namespace, formalism: Formalism) -> Collection[str]:
    """Return the columns that the flags of `add_columns` ask for; `--all-columns` does not ask for empty columns."""
    values = vars(arguments)
    named = asked_for(values, formalism.name)
    others = [name for name in _predicted(formalism) if name not in named] if values.get(ALL_COLUMNS) else []
    there = [*named, *_present(arguments.train, others, formalism)]
    return [name for name in KNOWN if name in there]


def columns_to_train(
    given: Mapping[str, bool | None], flags: Collection[str], formalism: Formalism, train: str
) -> dict[str, bool]:
    """Return flag of a column → True if training uses the column."""
    open_ = [name for name, column in KNOWN.items() if column.graphs == formalism.name and given[column.flag] is None]
    needed = {name: {*flags} & {*KNOWN[name].used_by} for name in open_}
    predicted = [name for name, by in needed.items() if by == {PREDICTED_BY}]
    empty = {*predicted}.difference(_present(train, predicted, formalism))
    taken = {KNOWN[name].flag: bool(by) and name not in empty for name, by in needed.items()}
    return taken | {flag: value for flag, value in given.items() if value is not None}


def _predicted(formalism: Formalism) -> Sequence[str]:
    return [name for name, column in KNOWN.items() if column.predicted and column.graphs == formalism.name]


def _present(path: str, columns: Collection[str], formalism: Formalism) -> Collection[str]:
    """Return those of `columns` that are not empty in a file. Print a note for each empty column."""
    there = present(formalism.read_graphs(path), columns) if columns else []
    for name in columns:
        if name not in there:
            message = f"{path} has no {KNOWN[name].holds}: models can't learn to predict them"
            print(f"transition-parser: note: {message}", file=sys.stderr)
    return there
