"""Floor 6 (see CONTRIBUTING.md): the differences between dependency trees and AMRs.

`OF_SYSTEM` selects the formalism by the transition system, `formalism_of_files` by the files. Most other code uses the
attributes of the formalism. Some code still compares it with `TREES` or `AMR`: the command line, whose options differ,
pictures of steps, and the preparation and validation of training.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import open_input, unpacked_name
from transition_parser.parsing.formalisms.amr import AMR, Amr
from transition_parser.parsing.formalisms.trees import TREES, Trees
from transition_parser.parsing.parses import AmrParse, Parse

Formalism = Trees | Amr  # both say how to read, replay, annotate, score and validate sentences of a kind
FORMALISMS: tuple[Formalism, ...] = (TREES, AMR)
__all__ = ["AMR", "FORMALISMS", "OF_SYSTEM", "TREES", "Formalism", "formalism_of_files", "read", "score"]
OF_SYSTEM: dict[str, Formalism] = {system: formalism for formalism in FORMALISMS for system in formalism.systems}


def formalism_of_files(*paths: str | os.PathLike) -> Formalism:
    """Return the formalism of the graphs in files, by their names and first lines; pipes do not count."""
    known = [(formalism, path) for path in paths if (formalism := _of_file(path)) is not None]
    for formalism, path in known[1:]:
        first, other = known[0]
        if formalism is not first:
            raise input_error(f"{formalism.files}, but {other} is {first.files}: give files of one kind", path)
    return known[0][0] if known else TREES


def read(path: str | os.PathLike) -> Iterator[Any]:
    """Return an iterator over the sentences of a file of CoNLL-U or AMRs, as `Parse` or `AmrParse` without scores.

    Raises `InputError` at a broken sentence, and at one without a graph.
    """
    formalism: Any = formalism_of_files(path)
    return map(formalism.from_gold, formalism.read_graphs(path))


Graphs = str | os.PathLike | Iterable[Parse | AmrParse]


def score(
    gold: Graphs,
    system: Graphs,
    *,
    full_labels: bool = False,
    skip_punctuation: bool = False,
    conll18: bool = False,
    fine_grained: bool = False,
    ignore_wiki: bool = False,
    ignore_ids: bool = False,
) -> dict[str, Any]:
    """Return the scores of parses against gold graphs by name, as `transition-parser score --json` prints them.

    Scores of trees are in percent (`uas`, `las`, …), those of AMRs from 0 to 1 (`smatch`: `precision`, `recall`, `f1`).

    gold, system: files, or parses such as those of `read` and `Parser.parse`, of the same sentences
    full_labels, skip_punctuation, conll18: options of trees
    fine_grained, ignore_wiki, ignore_ids: options of AMRs; for all see the command `score`

    Raises `InputError` for files or parses of different sentences, and for an option of the other kind of graphs.
    """
    options: dict[str, Any] = dict(full_labels=full_labels, punct=skip_punctuation and "skip", conll18=conll18)
    options |= dict(fine_grained=fine_grained, ignore_wiki=ignore_wiki, ignore_ids=ignore_ids)
    with TemporaryDirectory() as folder:
        first, second = (_written(one, Path(folder, name)) for one, name in ((gold, "gold"), (system, "system")))
        formalism = formalism_of_files(first, second)
        given = {name: value for name, value in options.items() if value}
        for name in given.keys() - formalism.score_options:
            raise InputError(f"{name} is no option of {formalism.name}: leave it out")
        return formalism.scoring.score(first, second, **given)


def _written(graphs: Graphs, path: Path) -> str:
    """Return the path of a file, or of the file into which parses are written."""
    if isinstance(graphs, str | os.PathLike):
        return str(graphs)
    path.write_text("".join(str(parse.annotated()) for parse in graphs), encoding="utf-8")
    return str(path)


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
