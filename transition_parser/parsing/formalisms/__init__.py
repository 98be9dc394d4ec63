"""Floor 6 (see CONTRIBUTING.md): the differences between dependency trees and AMRs.

`formalism_of` selects the formalism by the transition system, `formalism_of_files` by the files. Most other code uses
the methods of the `Formalism` that these functions return. Some code still compares this object with `TREES` or `AMR`:
the command line, whose options differ, and the steps and evaluations of training.
"""

from __future__ import annotations

import os
from pathlib import Path

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import open_input, unpacked_name
from transition_parser.parsing.formalisms.amr import AMR
from transition_parser.parsing.formalisms.formalism import Formalism, Report, ToParse
from transition_parser.parsing.formalisms.trees import TREES

FORMALISMS: tuple[Formalism, ...] = (TREES, AMR)

__all__ = ["AMR", "FORMALISMS", "TREES", "Formalism", "Report", "ToParse", "formalism_of", "formalism_of_files"]


def formalism_of(system: str) -> Formalism:
    """Return the formalism of the graphs that a transition system builds. Raises `InputError` for an unknown system."""
    for formalism in FORMALISMS:
        if system in formalism.systems:
            return formalism
    known = ", ".join(name for formalism in FORMALISMS for name in formalism.systems)
    raise InputError(f"unknown transition system {system!r}: give one of {known}")


def formalism_of_files(*paths: str | os.PathLike) -> Formalism:
    """Return the formalism of the graphs in files, by their names and first lines; pipes do not count."""
    known = [(formalism, path) for path in paths if (formalism := _of_file(path)) is not None]
    for formalism, path in known[1:]:
        first, other = known[0]
        if formalism is not first:
            raise input_error(f"{formalism.files}, but {other} is {first.files}: give files of one kind", path)
    return known[0][0] if known else TREES


def _of_file(path: str | os.PathLike) -> Formalism | None:
    if unpacked_name(path).endswith(AMR.suffix):
        return AMR
    if not Path(path).is_file():
        return None
    with open_input(path) as file:
        first = next((line for line in map(bytes.strip, file) if line and not line.startswith(b"#")), None)
    if first is None:
        return None
    return AMR if first.startswith(b"(") and b"\t" not in first else TREES
