"""Aligns the nodes of AMRs to tokens, every node to at least one, and writes the bank with the alignments.

Ids, comments, variables, the order of branches, indentation and :wiki stay as they are. An entry without `# ::tok`
gets one, since the alignments count its tokens from 0. Alignments that the bank has are kept and completed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from preprocess.aligner import aligned, train_table, with_sentences
from preprocess.aligner.marks import STYLES, marked
from transition_parser.cli.options import add_json, add_processes, add_skip_bad, output, print_figures
from transition_parser.errors import InputError, input_error
from transition_parser.graphs.bank import AmrEntry, parse_bank, read_bank
from transition_parser.graphs.conllu import decode_line
from transition_parser.progress import progress

HELP = "nodes of AMRs to tokens"
EXAMPLE = """example:
  transition-parser align train.amr train.aligned.amr
  transition-parser align test.amr test.aligned.amr --train train.amr --style jamr"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("input", metavar="IN", help="AMR bank")
    parser.add_argument("output", metavar="OUT", help="where the aligned bank goes (- for standard output)")
    parser.add_argument("--from-scratch", action="store_true", help="forget the alignments that the bank has")
    parser.add_argument(
        "--style",
        choices=STYLES,
        default="isi",
        help="isi: ~e.5 behind each node (default); plain: ~5; jamr: # ::alignments and # ::node lines",
    )
    parser.add_argument(
        "--train",
        nargs="+",
        default=[],
        metavar="AMR",
        help="more banks to learn words and concepts from, not written",
    )
    add_skip_bad(parser)
    add_processes(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes the aligned bank and prints what it holds."""
    if arguments.json and arguments.output == "-":
        raise InputError("--json has standard output for itself: give OUT a file")
    bad: list[InputError] | None = [] if arguments.skip_bad else None
    with open(arguments.input, "rb") as file:
        lines = list(file)  # once: the input may be a pipe
    entries = with_sentences(parse_bank(lines, arguments.input, bad), bad)
    if not entries:
        raise _nothing(arguments.input, bad)
    others = [entry for path in arguments.train for entry in with_sentences(read_bank(path, bad), bad)]
    table = train_table([*entries, *others])
    keep = not arguments.from_scratch
    results = progress(aligned(entries, table, keep, arguments.processes), "align", len(entries))
    new = {old.line: (entry, old) for old, entry in zip(entries, results, strict=True)}
    with output(arguments.output) as file:
        for line in _lines(lines, arguments.input, new, arguments.style, arguments.from_scratch):
            print(line, file=file)
    _report(bad or [])
    if arguments.output != "-":
        print_figures(_figures([entry for entry, _ in new.values()], bad or []), arguments.json)
    return 0


def _nothing(path: str, bad: list[InputError] | None) -> InputError:
    if bad:
        return input_error(f"all {len(bad)} entries are broken, the first: {_first_line(bad[0])}", path)
    return input_error("the file holds no AMR", path)


def _lines(
    lines: Iterable[bytes], path: str, new: dict[int | None, tuple[AmrEntry, AmrEntry]], style: str, relist: bool
) -> Iterator[str]:
    """The lines of the aligned bank: entries from `new` by the line they begin at, and what lies between them."""
    for start, block in _blocks(lines, path):
        if start in new:
            entry, old = new[start]
            yield from marked(block, entry, old, style, relist)
        elif all(not line.strip() or line.lstrip().startswith("#") for line in block):
            yield from block


def _blocks(lines: Iterable[bytes], path: str) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines of one kind, blank or not, with the number of their first line."""
    block: list[str] = []
    start = 1
    for number, raw in enumerate(lines, 1):
        line = decode_line(raw, path, number)
        if block and bool(block[-1].strip()) != bool(line.strip()):
            yield start, block
            block, start = [], number
        block.append(line)
    if block:
        yield start, block


def _report(bad: list[InputError]) -> None:
    for error in bad:
        print(f"transition-parser: left out: {_first_line(error)}", file=sys.stderr)
    if bad:
        print(f"transition-parser: {len(bad)} broken entries left out", file=sys.stderr)


def _first_line(error: InputError) -> str:
    return str(error).partition("\n")[0]


def _figures(entries: list[AmrEntry], bad: list[InputError]) -> dict[str, int]:
    return {
        "entries": len(entries),
        "nodes": sum(len(entry.alignments) for entry in entries),
        "left_out": len(bad),
    }
