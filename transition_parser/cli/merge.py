"""Merge the AMR banks of a folder (.txt and .amr, in the order of their names) into one file.

This turns the LDC's releases into the files that the other commands read. Entries are kept as written; the header of
each file is left out. Two entries with the same id are an error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output
from transition_parser.cli.options import add, print_figures, report_left_out
from transition_parser.preprocess.banks import RULE, bank_files, merge_banks, nothing_left

HELP = "join the AMR banks of a folder into one file"
EXAMPLE = f"""{RULE}

example:
  transition-parser merge abstract_meaning_representation_amr_2.0/data/amrs/split/training -o train.amr"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="folder with the files of one split")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="bank to write")
    add(parser, "--skip-bad", "--json")


def run(arguments: argparse.Namespace) -> int:
    if arguments.output == "-":
        raise InputError("the figures are printed on standard output: give a file for --output")
    files = bank_files(arguments.folder)
    if Path(arguments.output).resolve() in {file.resolve() for file in files}:
        raise input_error("is one of the files to merge: give another file for --output", arguments.output)
    bad: list[InputError] | None = [] if arguments.skip_bad else None
    entries = 0
    with output(arguments.output) as file:
        for entry in merge_banks(files, bad):
            file.write(str(entry))
            entries += 1
        if not entries:
            raise nothing_left([arguments.folder], bad or [])
    report_left_out(bad or [])
    print_figures({"files": len(files), "entries": entries, "left_out": len(bad or ())}, arguments.json)
    return 0
