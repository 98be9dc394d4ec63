"""Turn the graphs of a file into action sequences, and report the coverage of the transition system.

--check replays every sequence through the state machine, and compares the graph that it builds with the original graph,
including full labels. The exit status is 1 if a graph differs or a step is illegal. Entries that are left out do not
count. Unaligned nodes of AMRs are aligned first.
"""

from __future__ import annotations

import argparse
import os

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output
from transition_parser.base.process import progress
from transition_parser.cli.options import OptionsOf, add, add_system, check_options, print_figures, report_left_out
from transition_parser.graphs.conllu import read_conllu
from transition_parser.oracles.amr_check import AmrCoverage, Checked, check, derive
from transition_parser.oracles.static import Coverage, run_oracle
from transition_parser.parsing.formalisms import AMR, TREES, formalism_of
from transition_parser.preprocess.aligner.aligner import aligned, train_table
from transition_parser.preprocess.banks import RULE, nothing_left, read_entries
from transition_parser.text.frames import packaged
from transition_parser.transitions import RootRelations, make_system
from transition_parser.transitions.amr import AmrSystem

HELP = "convert graphs to action sequences, and check them by replay"
EXAMPLE = f"""{RULE}

example:
  transition-parser oracle dev.conllu --system arc-hybrid-swap --check
  transition-parser oracle dev.conllu --system arc-eager --out-actions dev.actions
  transition-parser oracle dev.amr --system amr --check"""
OPTIONS: OptionsOf = {TREES: {"nonprojective": "skip"}, AMR: {"skip_bad": False, "processes": 1}}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="CoNLL-U file; for the system amr: AMR bank")
    add_system(parser)
    parser.add_argument("--check", action="store_true", help="replay the actions, and score the resulting graphs")
    actions = "write the actions, one sentence a line; trees that are left out get an empty line, AMRs get no line"
    parser.add_argument("--out-actions", metavar="FILE", help=actions)
    add(parser, "--nonprojective")
    amr = parser.add_argument_group("for AMR")
    add(amr, "--skip-bad", "--processes")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
    if arguments.json and arguments.out_actions == "-":
        raise InputError("--json needs standard output for itself: give a file for --out-actions")
    formalism = formalism_of(arguments.system)
    check_options(arguments, OPTIONS, formalism, f"--system {arguments.system} builds {formalism.name}")
    return {TREES: _run_trees, AMR: _run_amr}[formalism](arguments)


def _run_trees(arguments: argparse.Namespace) -> int:
    sentences = list(read_conllu(arguments.input))  # read only once, because the input may be a pipe
    if not sentences:
        raise input_error("the file holds no sentences", arguments.input)
    system = make_system(arguments.system, roots=RootRelations.from_trees(sentence.tree() for sentence in sentences))
    coverage = Coverage()
    results = run_oracle(sentences, system, coverage, arguments.check, arguments.nonprojective)
    with output(arguments.out_actions or os.devnull) as file:
        for _sentence, actions in progress(results, "oracle"):
            print(*(actions or []), file=file)
    print_figures(coverage.report(arguments.check), arguments.json)
    return 1 if arguments.check and not coverage.lossless else 0


def _run_amr(arguments: argparse.Namespace) -> int:
    system = AmrSystem(frames=packaged())
    coverage = AmrCoverage()
    entries = read_entries([arguments.input], coverage.unreadable if arguments.skip_bad else None)
    found = aligned(entries, train_table(entries), processes=arguments.processes)
    entries = list(progress(found, "aligner", len(entries)))
    derive_or_check = check if arguments.check else lambda *given: map(Checked, derive(*given))
    results = derive_or_check(entries, system, arguments.processes)
    with output(arguments.out_actions or os.devnull) as file:
        for item in progress(results, "oracle", len(entries)):
            if item.derived.error is not None and not arguments.skip_bad:
                raise item.derived.error
            coverage.add(item)
            if item.derived.derivation is not None:
                print(*item.derived.derivation.actions, file=file)
        if not coverage.sentences:
            raise nothing_left([arguments.input], [*coverage.unreadable, *coverage.skipped])
    report_left_out([*coverage.unreadable, *coverage.skipped])
    print_figures(coverage.report(arguments.check), arguments.json)
    return 1 if arguments.check and not coverage.lossless else 0
