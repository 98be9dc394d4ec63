"""Ablation of the parser state: the scores of a model with and without each part of the state that it sees.

Ji et al. 2021, sec. 6, measure by gradients how much a model relies on the state, see `analysis.deltas`. Ablation works
for models without indicators too, and shows how much worse the parses become.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.errors import InputError
from transition_parser.base.files import check_rereadable
from transition_parser.base.progress import progress
from transition_parser.modules.inspection import Inspectable
from transition_parser.parsing.parser import Parser


class Ablation(NamedTuple):
    """The result of an ablation.

    scores: name → score of the model that sees the whole state, as `transition-parser score` gives it
    without: part of the parser state (`Inspectable.state_parts`) → the scores of the model that does not see this part
    """

    scores: dict[str, float]
    without: dict[str, dict[str, float]]


def ablate(parser: Parser, gold: str | os.PathLike, punct: str = "count") -> Ablation:
    """Score the parses of a CoNLL-U file or an AMR bank with each part of the parser state hidden in turn.

    The scores of trees are UAS and LAS with full labels, in percent; the score of AMRs is Smatch, from 0 to 1.

    punct: `skip` leaves punctuation out of the scores of trees

    Raises `InputError` for a model that sees nothing of the state or scores whole graphs, and for a gold file that is
    not a regular file, because it is read several times.
    """
    check_rereadable(gold)
    decoder = parser.model.decoder
    if not isinstance(decoder, Inspectable) or not decoder.state_parts:
        raise InputError("the model sees nothing of the parser state that could be hidden")
    options = {"full_labels": True, "punct": punct}
    whole, without = _scores(parser, gold, options, "parsing"), {}
    try:
        for part in decoder.state_parts:
            decoder.hide([part])
            without[part] = _scores(parser, gold, options, f"parsing without {part}")
    finally:
        decoder.hide([])
    return Ablation(whole, without)


def _scores(parser: Parser, gold: str | os.PathLike, options: Mapping[str, Any], doing: str) -> dict[str, float]:
    """Return the scores of the parses of a file, by name.

    doing: the name of the progress bar
    """
    formalism = parser.formalism
    with tempfile.TemporaryDirectory() as folder:
        parsed = Path(folder) / f"parsed{formalism.suffix}"
        with open(parsed, "w", encoding="utf-8") as file:
            for parse in progress(parser.parse_stream(parser.read(gold)), doing):
                file.write(str(parse.annotated()))
        figures = formalism.score(str(gold), str(parsed), options).figures
    return {name: figures[name] for name in formalism.figures}
