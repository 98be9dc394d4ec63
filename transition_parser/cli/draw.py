"""Draws a sentence of a CoNLL-U file: its tree, and the derivation that builds it (stack, buffer
and arc of every step)."""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.cli.options import add_system
from transition_parser.errors import InputError, input_error
from transition_parser.files import replacing

HELP = "picture of a derivation"
EXAMPLE = """example:
  transition-parser draw dev.conllu --id weblog-7 --system arc-hybrid-swap -o weblog-7.svg"""
FORMATS = (".svg", ".png", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("input", metavar="IN", help="CoNLL-U file")
    parser.add_argument("--id", metavar="ID", help="sent_id (default: the first sentence)")
    add_system(parser, required=False)
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE", help=f"file ending in {', '.join(FORMATS)}")


def run(arguments: argparse.Namespace) -> int:
    """Writes the picture."""
    from oracles.static import oracle
    from transition_parser.drawing import draw_derivation
    from transition_parser.graphs.conllu import read_conllu
    from transition_parser.transitions import make_system

    if Path(arguments.output).suffix not in FORMATS:
        raise InputError(f"{arguments.output}: the name must end in {', '.join(FORMATS)}")
    wanted = arguments.id
    sentences = read_conllu(arguments.input)
    sentence = next((s for s in sentences if wanted is None or s.id == wanted), None)
    if sentence is None:
        missing = "the file holds no sentences" if wanted is None else f"no sentence {wanted!r}"
        raise input_error(missing, arguments.input)
    tree = sentence.tree()
    system = make_system(arguments.system, tree.relations[tree.root - 1])
    try:
        actions = list(oracle(system, sentence.forms, tree))
    except ValueError as error:
        raise input_error(str(error), arguments.input, sentence.line, sentence.id) from None
    with replacing(arguments.output) as temporary:
        draw_derivation(system, sentence.forms, actions, temporary)
    return 0
