"""Export a checkpoint as a folder without pickle: model.safetensors, config.json, dictionaries, spm.model and
parser.json. Several checkpoints are averaged first, also with models that were exported before, such as the one that a
training started from (Wortsman et al. 2022, Robust Fine-Tuning of Zero-Shot Models).
"""

from __future__ import annotations

import argparse

from transition_parser.cli.options import add, import_user_dir

HELP = "export a checkpoint to a folder with safetensors"
EXAMPLE = """example:
  transition-parser export checkpoints/checkpoint_best.pt -o my-model --bits 16"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    several = "checkpoint file; several are averaged, also with exported folders of the same model"
    parser.add_argument("checkpoints", metavar="CHECKPOINT", nargs="+", help=several)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder to write")
    add(parser, "--user-dir", "--bits")


def run(arguments: argparse.Namespace) -> int:
    from transition_parser.storage.checkpoints import export_checkpoint

    import_user_dir(arguments.user_dir)
    export_checkpoint(arguments.checkpoints, arguments.output, arguments.bits)
    return 0
