"""Draws a sentence: of a CoNLL-U file its tree, and the derivation that builds it (stack, buffer and arc of every
step); of an AMR bank its graph, and which words the nodes are aligned to."""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.cli.options import OptionsOf, add_system, check_options
from transition_parser.errors import InputError
from transition_parser.files import replacing
from transition_parser.formalisms import TREES, formalism_of_files

HELP = "picture of a derivation, or of an AMR"
EXAMPLE = """example:
  transition-parser draw dev.conllu --id weblog-7 --system arc-hybrid-swap -o weblog-7.svg
  transition-parser draw dev.amr --id lpp_1943.2 -o lpp_1943.2.png"""
FORMATS = (".svg", ".png", ".pdf")
OPTIONS: OptionsOf = {TREES: {"system": None}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("input", metavar="IN", help="CoNLL-U or AMR file")
    parser.add_argument("--id", metavar="ID", help="sent_id or ::id (default: the first sentence)")
    add_system(parser, required=False, formalism=TREES)
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE", help=f"file ending in {', '.join(FORMATS)}")


def run(arguments: argparse.Namespace) -> int:
    """Writes the picture."""
    if Path(arguments.output).suffix not in FORMATS:
        raise InputError(f"{arguments.output}: the name must end in {', '.join(FORMATS)}")
    formalism = formalism_of_files(arguments.input)
    check_options(arguments, OPTIONS, formalism, f"{arguments.input} holds {formalism.name}")
    with replacing(arguments.output) as temporary:
        formalism.draw(arguments.input, arguments.id, arguments.system, temporary)
    return 0
