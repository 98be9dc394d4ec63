"""Measure how much a model relies on each part of the parser state that it sees.

A treebank or an AMR bank is parsed once with all parts, and once for each part with this part hidden; the parses are
scored. The parts are the stack, the buffer, the words that left both, and the heads and relations of the partial tree,
as far as the model sees them. The parts of `use_parser` are its structures, which include the actions so far.

--scores delta hides nothing. It is for models with the architecture `use_parser`, which have a learned vector
(indicator) for each position in a structure. Δ is the gradient of the log-probability of an action by an indicator,
times this indicator (Ji et al. 2021, sec. 6). Δ is measured in the model's own parses of the file, so the graphs in the
file do not matter. For each kind of action and each structure, two means of Δ in nats are printed: "inside", of the
words in the structure, and "outside", of all other words. A mean above 0 supports the actions that are taken. The
paper's Δ has the opposite sign, because its gradient is of the loss.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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

if TYPE_CHECKING:
    from transition_parser.parsing.parser import Parser

HELP = "measure how much each part of the parser state is worth to a model"
EXAMPLE = """example:
  transition-parser ablation en-ewt dev.conllu -o ablation.svg
  transition-parser ablation use/checkpoint_best.pt dev.conllu --scores delta -o delta.svg"""
PARSES, DELTA = "parses", "delta"
OPTIONS: OptionsOf = {TREES: {"punct": None}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="checkpoint, exported folder, or name of a model")
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file to parse and score")
    parser.add_argument(
        "-o", "--output", metavar="PICTURE", help=f"picture to write; the name ends in {', '.join(FORMATS)}"
    )
    parser.add_argument(
        "--scores",
        choices=[PARSES, DELTA],
        default=PARSES,
        help="parses (default): scores of the parses without each part; delta: gradients times indicators, in fp32",
    )
    parser.add_argument("--beam", type=positive, default=1, metavar="K", help="beam size (default: 1, greedy search)")
    add_speed(parser)
    add_punct(parser)
    add_user_dir(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the scores, and draw them."""
    from transition_parser.parsing.parser import Parser

    if arguments.output is not None and Path(arguments.output).suffix not in FORMATS:
        raise InputError(f"{arguments.output}: the name must end in {', '.join(FORMATS)}")
    of_parses = arguments.scores == PARSES
    if arguments.punct is not None and not of_parses:
        raise InputError(f"--punct is for the scores of parses, not for --scores {arguments.scores}")
    import_user_dir(arguments.user_dir)
    check_inputs([arguments.gold])
    precision = arguments.precision if of_parses or arguments.precision != "auto" else "fp32"
    parser = Parser.load(arguments.model, arguments.beam, precision=precision, threads=arguments.threads)
    check_options(arguments, OPTIONS, parser.formalism, f"{arguments.model} is a model of {parser.formalism.name}")
    measure = _ablation if of_parses else _deltas
    if arguments.output is None:
        found = measure(arguments, parser)
    else:
        with needs_extra("draw", "pictures"):
            from transition_parser.drawing import charts

        with replacing(arguments.output) as temporary:
            found = measure(arguments, parser)
            (charts.draw_ablation if of_parses else charts.draw_deltas)(*found.drawn, temporary)
    print_figures(found.data if arguments.json else found.rows, arguments.json)
    return 0


class _Found(NamedTuple):
    """The scores in three forms.

    data: what --json prints
    rows: name of a row → text of the row, printed without --json
    drawn: the arguments of the function that draws them, without the path
    """

    data: dict[str, Any]
    rows: dict[str, str]
    drawn: tuple[Any, ...]


def _ablation(arguments: argparse.Namespace, parser: Parser) -> _Found:
    from transition_parser.analysis.ablation import ablate

    scores, without = ablate(parser, arguments.gold, arguments.punct or "count")
    rows = {"all": scores, **{f"without {name}": others for name, others in without.items()}}
    texts = {name: "  ".join(f"{key} {value}" for key, value in row.items()) for name, row in rows.items()}
    return _Found({**scores, "without": without}, texts, (scores, without))


def _deltas(arguments: argparse.Namespace, parser: Parser) -> _Found:
    from transition_parser.analysis.deltas import delta_scores

    decisions, delta = delta_scores(parser, arguments.gold)
    rows = {
        f"{kind} ({decisions[kind]})": "  ".join(
            f"{name} {parts['inside']:.4f} {parts['outside']:.4f}" for name, parts in of_kind.items()
        )
        for kind, of_kind in delta.items()
    }
    return _Found({"decisions": decisions, "delta": delta}, rows, (delta,))
