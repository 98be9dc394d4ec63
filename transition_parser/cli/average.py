"""Average the weights of checkpoints of one training."""

from __future__ import annotations

import argparse

HELP = "average the weights of checkpoints"
EXAMPLE = """example:
  transition-parser average checkpoints/checkpoint.best_las_*.pt -o checkpoints/average.pt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("checkpoints", metavar="CHECKPOINT", nargs="+", help="checkpoint files to average")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="checkpoint to write")


def run(arguments: argparse.Namespace) -> int:
    """Write the average."""
    from transition_parser.storage.checkpoints import average_checkpoints

    average_checkpoints(arguments.checkpoints, arguments.output)
    return 0
