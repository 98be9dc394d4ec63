"""Turns the trees of a file into action sequences and says what the transition system covers.

--check replays every sequence through the state machine and compares the tree it builds with the
one it came from, labels in full. Exit status 1 if one differs or one step is illegal."""

from __future__ import annotations

import argparse

from oracles.check import Coverage, run_oracle
from transition_parser.cli.options import (
    add_json,
    add_nonprojective,
    add_system,
    output,
    print_figures,
)
from transition_parser.errors import InputError, input_error
from transition_parser.graphs.conllu import read_conllu
from transition_parser.progress import progress
from transition_parser.transitions import make_system

HELP = "graphs to action sequences, with a replay check"
EXAMPLE = """example:
  transition-parser oracle dev.conllu --system arc-hybrid-swap --check
  transition-parser oracle dev.conllu --system arc-eager --out-actions dev.actions"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("input", metavar="IN", help="CoNLL-U file")
    add_system(parser)
    parser.add_argument("--check", action="store_true", help="replay, and score what comes back")
    parser.add_argument("--out-actions", metavar="FILE", help="write the actions, one sentence a line")
    add_nonprojective(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Runs the oracle over the file."""
    if arguments.json and arguments.out_actions == "-":
        raise InputError("--json has standard output for itself: give --out-actions a file")
    first = next(read_conllu(arguments.input), None)
    if first is None:
        raise input_error("the file holds no sentences", arguments.input)
    tree = first.tree()
    system = make_system(arguments.system, tree.relations[tree.root - 1])
    coverage = Coverage()
    results = run_oracle(arguments.input, system, coverage, arguments.check, arguments.nonprojective)
    results = progress(results, "oracle")
    if arguments.out_actions:
        with output(arguments.out_actions) as file:
            for _sentence, actions in results:
                print(*(actions or []), file=file)
    else:
        for _ in results:
            pass
    print_figures(coverage.report(arguments.check), arguments.json)
    return 1 if arguments.check and not coverage.lossless else 0
