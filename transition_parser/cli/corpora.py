"""Commands for corpora: their graphs as training data, as action sequences, or aligned."""

from __future__ import annotations

import argparse
import os
from inspect import cleandoc

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import output
from transition_parser.base.process import progress
from transition_parser.cli.options import (
    VOCABULARY,
    Command,
    OptionsOf,
    add,
    add_system,
    check_options,
    columns_of,
    print_figures,
    report_left_out,
    with_filled,
)
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.oracles import static
from transition_parser.oracles.amr_check import AmrCoverage, Checked, check, derive
from transition_parser.parsing.formalisms import AMR, OF_SYSTEM, TREES
from transition_parser.preprocess.aligner.aligner import STYLES, aligned, marked, train_table, with_sentences
from transition_parser.preprocess.amr import (
    RULE,
    AmrOptions,
    Problems,
    derived_alone,
    nothing_left,
    preprocess_amr,
    read_entries,
)
from transition_parser.preprocess.dependency import DependencyOptions, preprocess_dependency
from transition_parser.text.columns import predicted
from transition_parser.transitions import RootRelations, make_system
from transition_parser.transitions.amr import AmrSystem

_PREPROCESS = f"""{RULE}

example:
  transition-parser preprocess dependency --train train.conllu --valid dev.conllu \\
      --system arc-hybrid-swap --dest data
  transition-parser preprocess amr --train train.amr --valid dev.amr --dest data
  fairseq-preprocess --user-dir transition_parser --task transition_parsing \\
      --source-lang src --target-lang act --trainpref data/train --validpref data/valid --destdir data"""

_ALL = "all"  # all columns that models predict and the training data have


def add_preprocess(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each kind of graph."""
    about = cleandoc(run_preprocess.__doc__ or "")
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    for name, formalism, corpora, graphs, metavar, files, own in (
        ("dependency", TREES, "CoNLL-U treebanks", "trees", "CONLLU", 1, []),
        ("amr", AMR, "AMR banks", "graphs", "AMR", "+", ["--skip-bad", "--processes"]),
    ):
        formatter = argparse.RawDescriptionHelpFormatter
        kind = kinds.add_parser(name, help=corpora, description=about, epilog=_PREPROCESS, formatter_class=formatter)
        for split, what in (("train", "training"), ("valid", "development"), ("test", "test")):
            needed = split != "test"
            kind.add_argument(f"--{split}", required=needed, nargs=files, metavar=metavar, help=f"{what} {graphs}")
        add_system(kind, required=formalism is TREES, formalism=formalism)
        kind.add_argument("--dest", required=True, metavar="FOLDER", help="folder to write the files into")
        add(kind, *VOCABULARY, "--json", *own)
        columns = columns_of(formalism)
        listed = "; ".join(f"{name}: {column.holds}" for name, column in columns.items())
        text = (
            f"also write {{train,…}}.NAME, for models that read or predict it: {listed}; all: all that models predict"
        )
        choices = [*columns, _ALL]
        kind.add_argument("--columns", nargs="+", default=[], choices=choices, metavar="NAME", help=text)
        kind.set_defaults(formalism=formalism)


def run_preprocess(arguments: argparse.Namespace) -> int:
    """Turn corpora into the files that fairseq-preprocess reads, all in one folder.

    The files are {train,valid,test}.{src,act}, spm.model, parser.json and words.txt. For AMR, there are also
    lexicon.json and {train,valid,test}.amr. On request there are files of the columns that models predict or read.
    """
    given = {split: getattr(arguments, split) for split in ("train", "valid", "test")}
    splits = {split: paths for split, paths in given.items() if paths}
    formalism, problems = arguments.formalism, []
    own = {TREES: ("system",), AMR: ("skip_bad", "processes")}[formalism]
    names = ("pieces", "labeled_shift", "pieces_from", *own)
    options = {name: getattr(arguments, name) for name in names}
    predicting = predicted(formalism.name) if _ALL in arguments.columns else []
    options["columns"] = with_filled(arguments.columns, predicting, arguments.train, formalism)
    if formalism is TREES:
        counts = preprocess_dependency(splits, arguments.dest, DependencyOptions(**options))
    else:
        counts, problems = preprocess_amr(splits, arguments.dest, AmrOptions(**options))
    report_left_out(problems)
    figures = {f"{split}_{name}": n for split, c in counts.items() for name, n in c.items()}
    print_figures(figures, arguments.json)
    return 0


def add_align(parser: argparse.ArgumentParser) -> None:
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


def run_align(arguments: argparse.Namespace) -> int:
    """Align every node of AMRs to at least one token, and write the bank with the alignments.

    Ids, comments, variables and :wiki stay; graphs are laid out anew, and headers of the file are left out. An entry
    without `# ::tok` gets this line, since alignments are indices of its tokens. Alignments in IN are kept and
    completed, unless --from-scratch is given.
    """
    if arguments.json and arguments.output == "-":
        raise InputError("--json needs standard output for itself: give a file for OUT")
    left_out: Problems = [] if arguments.skip_bad else None
    entries = with_sentences(read_bank(arguments.input, left_out), left_out)
    others = [entry for path in arguments.train for entry in with_sentences(read_bank(path, left_out), left_out)]
    table = train_table([*entries, *others])
    results = aligned(entries, table, not arguments.from_scratch, arguments.processes)
    derived = derive(progress(results, "align", len(entries)), AmrSystem(), arguments.processes)
    new = [item.entry for item in derived_alone(derived, left_out)]
    if not new:
        raise nothing_left([arguments.input], left_out or [])
    with output(arguments.output) as file:
        for entry in new:
            file.write(marked(entry, arguments.style))
    report_left_out(left_out or [])
    if arguments.output != "-":
        nodes = sum(len(entry.alignments) for entry in new)
        print_figures({"entries": len(new), "nodes": nodes, "left_out": len(left_out or [])}, arguments.json)
    return 0


_ORACLE_OPTIONS: OptionsOf = {AMR: {"skip_bad": False, "processes": 1}}


def add_oracle(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="CoNLL-U file; for the system amr: AMR bank")
    add_system(parser)
    parser.add_argument("--check", action="store_true", help="replay the actions, and score the resulting graphs")
    actions = "write the actions, one sentence a line; trees that are left out get an empty line, AMRs get no line"
    parser.add_argument("--out-actions", metavar="FILE", help=actions)
    amr = parser.add_argument_group("for AMR")
    add(amr, "--skip-bad", "--processes")
    add(parser, "--json")


def run_oracle(arguments: argparse.Namespace) -> int:
    """Turn the graphs of a file into action sequences, and report the coverage of the transition system.

    --check replays every sequence through the state machine, and compares the graph that it builds with the original
    graph, including full labels. The exit status is 1 if a graph differs or a step is illegal. Entries that are left
    out do not count. Unaligned nodes of AMRs are aligned first.
    """
    if arguments.json and arguments.out_actions == "-":
        raise InputError("--json needs standard output for itself: give a file for --out-actions")
    formalism = OF_SYSTEM[arguments.system]
    check_options(arguments, _ORACLE_OPTIONS, formalism, f"--system {arguments.system} builds {formalism.name}")
    return {TREES: _run_trees, AMR: _run_amr}[formalism](arguments)


def _run_trees(arguments: argparse.Namespace) -> int:
    sentences = list(read_conllu(arguments.input))  # read only once, because the input may be a pipe
    if not sentences:
        raise input_error("the file holds no sentences", arguments.input)
    system = make_system(arguments.system, roots=RootRelations.from_trees(sentence.tree() for sentence in sentences))
    coverage = static.TreeCoverage()
    results = static.run_oracle(sentences, system, coverage, arguments.check)
    with output(arguments.out_actions or os.devnull) as file:
        for _sentence, actions in progress(results, "oracle"):
            print(*(actions or []), file=file)
    print_figures(coverage.report(arguments.check), arguments.json)
    return 1 if arguments.check and not coverage.lossless else 0


def _run_amr(arguments: argparse.Namespace) -> int:
    system = AmrSystem()
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


_ALIGN = f"""{RULE}

example:
  transition-parser align train.amr train.aligned.amr
  transition-parser align test.amr test.aligned.amr --train train.amr --style jamr"""
_ORACLE = f"""{RULE}

example:
  transition-parser oracle dev.conllu --system arc-hybrid-swap --check
  transition-parser oracle dev.conllu --system arc-eager --out-actions dev.actions
  transition-parser oracle dev.amr --system amr --check"""
COMMANDS = {
    "preprocess": Command(
        "convert corpora to the files that fairseq-preprocess reads", _PREPROCESS, add_preprocess, run_preprocess
    ),
    "align": Command("align the nodes of AMRs to tokens", _ALIGN, add_align, run_align),
    "oracle": Command("convert graphs to action sequences, and check them by replay", _ORACLE, add_oracle, run_oracle),
}
