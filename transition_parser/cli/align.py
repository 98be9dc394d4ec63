"""Align every node of AMRs to at least one token, and write the bank with the alignments.

Ids, comments, variables, the order of branches, indentation and :wiki stay as they are; comments inside a graph go
before it. An entry without `# ::tok` gets this line, since alignments are indices of its tokens. Alignments in IN are
kept and completed, unless --from-scratch is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from transition_parser.base.errors import InputError
from transition_parser.base.files import open_input, output
from transition_parser.base.process import progress
from transition_parser.cli.options import add, print_figures, report_left_out
from transition_parser.graphs.bank import AmrEntry, is_header, metadata_of, parse_bank, read_bank
from transition_parser.graphs.conllu import blocks
from transition_parser.oracles.amr_check import derive
from transition_parser.preprocess.aligner.aligner import aligned, train_table, with_sentences
from transition_parser.preprocess.aligner.marks import STYLES, marked
from transition_parser.preprocess.banks import RULE, Problems, derived_alone, nothing_left
from transition_parser.transitions.amr import AmrSystem

HELP = "align the nodes of AMRs to tokens"
EXAMPLE = f"""{RULE}

example:
  transition-parser align train.amr train.aligned.amr
  transition-parser align test.amr test.aligned.amr --train train.amr --style jamr"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="AMR bank")
    parser.add_argument("output", metavar="OUT", help="aligned bank to write (-: standard output)")
    scratch = "ignore the alignments in IN, and align all nodes anew"
    parser.add_argument("--from-scratch", action="store_true", help=scratch)
    parser.add_argument(
        "--style",
        choices=STYLES,
        default="isi",
        help="notation of alignments; isi (default): ~e.5 after each node; jamr: # ::alignments and # ::node lines",
    )
    banks = "learn words and concepts from these banks, too; they are not written"
    parser.add_argument("--train", nargs="+", default=[], metavar="AMR", help=banks)
    add(parser, "--skip-bad", "--processes", "--json")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.output == "-":
        raise InputError("--json needs standard output for itself: give a file for OUT")
    left_out: Problems = [] if arguments.skip_bad else None
    with open_input(arguments.input) as file:
        lines = list(file)  # read only once, because the input may be a pipe
    new = {entry.line: entry for entry in _aligned(arguments, lines, left_out)}
    if not new:
        raise nothing_left([arguments.input], left_out or [])
    with output(arguments.output) as file:
        for start, block in blocks(lines, arguments.input, blank=True):
            is_comment = all(line.lstrip().startswith("#") for line in block)
            if start in new:
                print(*marked(new[start], arguments.style, arguments.from_scratch), sep="\n", file=file)
            elif not block[0].strip() or (is_comment and is_header(metadata_of(block))):
                print(*block, sep="\n", file=file)
    report_left_out(left_out or [])
    if arguments.output != "-":
        nodes = sum(len(entry.alignments) for entry in new.values())
        print_figures({"entries": len(new), "nodes": nodes, "left_out": len(left_out or [])}, arguments.json)
    return 0


def _aligned(arguments: argparse.Namespace, lines: list[bytes], left_out: Problems) -> Iterator[AmrEntry]:
    """Yield the entries with their new alignments; entries without a derivation are left out."""
    entries = with_sentences(parse_bank(lines, arguments.input, left_out), left_out)
    others = [entry for path in arguments.train for entry in with_sentences(read_bank(path, left_out), left_out)]
    table = train_table([*entries, *others])
    results = aligned(entries, table, not arguments.from_scratch, arguments.processes)
    derived = derive(progress(results, "align", len(entries)), AmrSystem(), arguments.processes)
    for item in derived_alone(derived, left_out):
        yield item.entry
