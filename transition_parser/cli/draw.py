"""Draws a sentence: of a CoNLL-U file its tree, and the derivation that builds it (stack, buffer and arc of every
step); of an AMR bank its graph, and which words the nodes are aligned to."""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.cli.options import add_system
from transition_parser.cli.score import kind_of
from transition_parser.errors import InputError, input_error
from transition_parser.files import replacing

HELP = "picture of a derivation, or of an AMR"
EXAMPLE = """example:
  transition-parser draw dev.conllu --id weblog-7 --system arc-hybrid-swap -o weblog-7.svg
  transition-parser draw dev.amr --id lpp_1943.2 -o lpp_1943.2.png"""
FORMATS = (".svg", ".png", ".pdf")
DEFAULT_SYSTEM = "arc-hybrid-swap"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("input", metavar="IN", help="CoNLL-U or AMR file")
    parser.add_argument("--id", metavar="ID", help="sent_id or ::id (default: the first sentence)")
    add_system(parser, required=False, kind="tree")
    parser.set_defaults(system=None)  # to know whether it was given: it is for trees
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE", help=f"file ending in {', '.join(FORMATS)}")


def run(arguments: argparse.Namespace) -> int:
    """Writes the picture."""
    if Path(arguments.output).suffix not in FORMATS:
        raise InputError(f"{arguments.output}: the name must end in {', '.join(FORMATS)}")
    if kind_of(arguments.input) == "AMR":
        _draw_amr(arguments)
    else:
        _draw_tree(arguments)
    return 0


def _draw_tree(arguments: argparse.Namespace) -> None:
    from oracles.static import oracle
    from transition_parser.drawing import draw_derivation
    from transition_parser.graphs.conllu import read_conllu
    from transition_parser.transitions import Roots, make_system

    wanted = arguments.id
    sentences = read_conllu(arguments.input)
    sentence = next((s for s in sentences if wanted is None or s.id == wanted), None)
    if sentence is None:
        missing = "the file holds no sentences" if wanted is None else f"no sentence {wanted!r}"
        raise input_error(missing, arguments.input)
    tree = sentence.tree()
    system = make_system(arguments.system or DEFAULT_SYSTEM, roots=Roots.of([tree]))
    try:
        actions = list(oracle(system, sentence.forms, tree))
    except ValueError as error:
        raise input_error(str(error), arguments.input, sentence.line, sentence.id) from None
    with replacing(arguments.output) as temporary:
        draw_derivation(system, sentence.forms, actions, temporary)


def _draw_amr(arguments: argparse.Namespace) -> None:
    from transition_parser.drawing_amr import draw_amr
    from transition_parser.graphs.bank import read_bank

    if arguments.system is not None:
        raise InputError(f"--system is for CoNLL-U files, {arguments.input} is AMR")
    wanted = arguments.id
    entry = next((e for e in read_bank(arguments.input) if wanted is None or e.id == wanted), None)
    if entry is None:
        raise input_error("the file holds no graphs" if wanted is None else f"no entry {wanted!r}", arguments.input)
    with replacing(arguments.output) as temporary:
        draw_amr(entry, temporary)
