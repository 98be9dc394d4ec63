"""Turn the graphs of a file into action sequences, and report the coverage of the transition system.

--check replays every sequence through the state machine, and compares the graph that it builds with the original graph,
including full labels. The exit status is 1 if a graph differs or a step is illegal. Entries that are left out do not
count. Unaligned nodes of AMRs are aligned first.
"""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output
from transition_parser.base.process import progress
from transition_parser.cli.options import (
    OptionsOf,
    add,
    add_system,
    check_options,
    positive,
    print_figures,
    report_left_out,
)
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import read_conllu
from transition_parser.oracles.amr_check import AmrCoverage, Checked, check, derive
from transition_parser.oracles.static import Coverage, run_oracle
from transition_parser.parsing.formalisms import AMR, TREES, formalism_of
from transition_parser.preprocess.aligner.aligner import aligned, train_table
from transition_parser.preprocess.banks import RULE, Problems, derived_alone, nothing_left, read_entries
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action, RootRelations, make_system
from transition_parser.transitions.amr import AmrSystem

HELP = "convert graphs to action sequences, and check them by replay"
EXAMPLE = f"""{RULE}

example:
  transition-parser oracle dev.conllu --system arc-hybrid-swap --check
  transition-parser oracle dev.conllu --system arc-eager --out-actions dev.actions
  transition-parser oracle dev.amr --system amr --check --vocabulary-from train.amr --worst"""


OPTIONS: OptionsOf = {
    TREES: {"nonprojective": "skip"},
    AMR: {
        "vocabulary_from": None,
        "restarts": 4,
        "worst": False,
        "skip_bad": False,
        "processes": 1,
        "no_frames": False,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("input", metavar="IN", help="CoNLL-U file; for the system amr: AMR bank")
    add_system(parser)
    parser.add_argument("--check", action="store_true", help="replay the actions, and score the resulting graphs")
    parser.add_argument(
        "--out-actions",
        metavar="FILE",
        help="write the actions, one sentence a line; trees that are left out get an empty line, AMRs get no line",
    )
    add(parser, "--nonprojective")
    amr = parser.add_argument_group("for AMR")
    amr.add_argument(
        "--vocabulary-from",
        metavar="AMR",
        help="training bank; count the actions that do not occur in this bank, and "
        "with --check measure Smatch without these actions",
    )
    amr.add_argument("--restarts", type=positive, default=4, metavar="N", help="random restarts of Smatch (default: 4)")
    amr.add_argument(
        "--worst", action="store_true", help="with --check: print the ten worst graphs and their differing triples"
    )
    add(amr, "--skip-bad", "--processes", "--no-frames")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
    """Run the oracle over the file."""
    if arguments.json and arguments.out_actions == "-":
        raise InputError("--json needs standard output for itself: give a file for --out-actions")
    formalism = formalism_of(arguments.system)
    check_options(arguments, OPTIONS, formalism, f"--system {arguments.system} builds {formalism.name}")
    if arguments.worst and not arguments.check:
        raise InputError("--worst needs --check")
    return {TREES: _run_trees, AMR: _run_amr}[formalism](arguments)


def _run_trees(arguments: argparse.Namespace) -> int:
    sentences = list(read_conllu(arguments.input))  # read only once, because the input may be a pipe
    if not sentences:
        raise input_error("the file holds no sentences", arguments.input)
    system = make_system(arguments.system, roots=RootRelations.from_trees(sentence.tree() for sentence in sentences))
    coverage = Coverage()
    results = run_oracle(sentences, system, coverage, arguments.check, arguments.nonprojective)
    with _lines(arguments.out_actions) as write:
        for _sentence, actions in progress(results, "oracle"):
            write(actions or [])
    print_figures(coverage.report(arguments.check), arguments.json)
    return 1 if arguments.check and not coverage.lossless else 0


def _run_amr(arguments: argparse.Namespace) -> int:
    system = AmrSystem(frames=None if arguments.no_frames else packaged())
    coverage = AmrCoverage()
    of_training: list[InputError] = []
    entries = _aligned(arguments, arguments.input, coverage.unreadable)
    if arguments.vocabulary_from:
        coverage.vocabulary = _vocabulary(arguments, system, of_training)
    if arguments.check:
        results = check(entries, system, coverage.vocabulary, arguments.restarts, arguments.processes)
    else:
        results = map(Checked, derive(entries, system, arguments.processes))
    with _lines(arguments.out_actions) as write:
        for item in progress(results, "oracle", len(entries)):
            if item.derived.error is not None and not arguments.skip_bad:
                raise item.derived.error
            coverage.add(item)
            if item.derived.derivation is not None:
                write(item.derived.derivation.actions)
        if not coverage.sentences:
            raise nothing_left([arguments.input], [*coverage.unreadable, *coverage.skipped])
    report_left_out([*of_training, *coverage.unreadable, *coverage.skipped])
    print_figures(coverage.report(arguments.check), arguments.json)
    if arguments.worst and arguments.check and not arguments.json:
        _print_worst(coverage.worst)
    return 1 if arguments.check and not coverage.lossless else 0


def _aligned(arguments: argparse.Namespace, path: str, left_out: list[InputError]) -> list[AmrEntry]:
    entries = read_entries([path], left_out if arguments.skip_bad else None)
    return list(
        progress(aligned(entries, train_table(entries), processes=arguments.processes), "aligner", len(entries))
    )


def _vocabulary(arguments: argparse.Namespace, system: AmrSystem, left_out: list[InputError]) -> Counter[Action]:
    problems: Problems = left_out if arguments.skip_bad else None
    entries = _aligned(arguments, arguments.vocabulary_from, left_out)
    actions: Counter[Action] = Counter()
    for item in derived_alone(derive(entries, system, arguments.processes), problems):
        actions.update(item.derivation.actions)
    if not actions:
        raise nothing_left([arguments.vocabulary_from], left_out)
    if system.frames is not None:
        actions.update(dict.fromkeys(system.frames.all, 0))  # the vocabulary has the actions of all frames, seen or not
    return actions


@contextlib.contextmanager
def _lines(path: str | None):
    """Yield a function that writes a derivation as a line of `path`, or that does nothing without a path."""
    if not path:
        yield lambda actions: None
        return
    with output(path) as file:
        yield lambda actions: print(*actions, file=file)


def _print_worst(worst: list[Checked]) -> None:
    for item in worst:
        if not item.diff:
            continue
        scores = [f"{score.f1:.4f}" for score in (item.smatch, item.seen) if score is not None]
        print(f"\n{item.derived.entry.id}  Smatch {' / '.join(scores)}  {' '.join(item.derived.entry.forms)}")
        for line in item.diff:
            print(f"  {line}")
