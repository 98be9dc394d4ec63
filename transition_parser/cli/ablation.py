"""Measure how much a model relies on each part of the parser state that it sees.

A treebank or an AMR bank is parsed once with all parts, and once for each part with this part hidden; the parses are
scored. The parts are the stack, the buffer, the words that left both, and the heads and relations of the partial tree,
as far as the model sees them. The parts of `use_parser` are its structures, which include the actions so far.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.base.errors import InputError, needs_extra
from transition_parser.base.files import replacing
from transition_parser.cli.draw import FORMATS
from transition_parser.cli.options import (
    OptionsOf,
    add_json,
    add_punct,
    add_speed,
    add_user_dir,
    check_inputs,
    check_options,
    import_user_dir,
    positive,
    print_figures,
)
from transition_parser.parsing.formalisms import TREES

HELP = "measure how much each part of the parser state is worth to a model"
EXAMPLE = """example:
  transition-parser ablation en-ewt dev.conllu -o ablation.svg"""
OPTIONS: OptionsOf = {TREES: {"punct": None}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="checkpoint, exported folder, or name of a model")
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file to parse and score")
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", help=f"picture to write; the name ends in {', '.join(FORMATS)}"
    )
    parser.add_argument("--beam", type=positive, default=1, metavar="K", help="beam size (default: 1, greedy search)")
    add_speed(parser)
    add_punct(parser)
    add_user_dir(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the scores, and draw the losses."""
    from transition_parser.analysis.ablation import ablate
    from transition_parser.parsing.parser import Parser

    if arguments.output is not None and Path(arguments.output).suffix not in FORMATS:
        raise InputError(f"{arguments.output}: the name must end in {', '.join(FORMATS)}")
    import_user_dir(arguments.user_dir)
    check_inputs([arguments.gold])
    parser = Parser.load(
        arguments.model, arguments.beam, precision=arguments.precision, threads=arguments.threads
    )  # fmt: skip
    check_options(arguments, OPTIONS, parser.formalism, f"{arguments.model} is a model of {parser.formalism.name}")
    punct = arguments.punct or "count"
    if arguments.output is None:
        found = ablate(parser, arguments.gold, punct)
    else:
        with needs_extra("draw", "pictures"):
            from transition_parser.drawing.charts import draw_ablation

        with replacing(arguments.output) as temporary:
            found = ablate(parser, arguments.gold, punct)
            draw_ablation(found.scores, found.without, temporary)
    if arguments.json:
        print_figures({**found.scores, "without": found.without}, True)
    else:
        rows = {"all": found.scores, **{f"without {name}": scores for name, scores in found.without.items()}}
        print_figures(
            {name: "  ".join(f"{key} {value}" for key, value in s.items()) for name, s in rows.items()}, False
        )
    return 0
