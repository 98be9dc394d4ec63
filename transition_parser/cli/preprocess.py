"""Turn corpora into the files that fairseq-preprocess reads, all in one folder.

The files are {train,valid,test}.{src,act}, spm.model, parser.json and words.txt. For AMR, there are also lexicon.json
and {train,valid,test}.amr. On request there are files of the columns that models predict or read.
"""

from __future__ import annotations

import argparse

from transition_parser.cli.options import (
    VOCABULARY,
    add,
    add_columns,
    add_system,
    print_figures,
    report_left_out,
    wanted_columns,
)
from transition_parser.parsing.formalisms import AMR, TREES
from transition_parser.preprocess.amr import AmrOptions, preprocess_amr
from transition_parser.preprocess.banks import RULE
from transition_parser.preprocess.dependency import DependencyOptions, preprocess_dependency

HELP = "convert corpora to the files that fairseq-preprocess reads"
EXAMPLE = f"""{RULE}

example:
  transition-parser preprocess dependency --train train.conllu --valid dev.conllu \\
      --system arc-hybrid-swap --dest data
  transition-parser preprocess amr --train train.amr --valid dev.amr --dest data
  fairseq-preprocess --user-dir transition_parser --task transition_parsing \\
      --source-lang src --target-lang act --trainpref data/train --validpref data/valid --destdir data"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each kind of graph."""
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    dependency = _add_kind(kinds, "dependency", "CoNLL-U treebanks", _run_dependency)
    dependency.add_argument("--train", required=True, metavar="CONLLU", help="training trees")
    dependency.add_argument("--valid", required=True, metavar="CONLLU", help="development trees")
    dependency.add_argument("--test", metavar="CONLLU", help="test trees")
    add_system(dependency, formalism=TREES)
    _add_shared(dependency)
    add(dependency, "--nonprojective")
    add_columns(dependency, TREES)
    amr = _add_kind(kinds, "amr", "AMR banks", _run_amr)
    for split, what, required in (("train", "training", True), ("valid", "development", True), ("test", "test", False)):
        amr.add_argument(f"--{split}", required=required, nargs="+", metavar="AMR", help=f"{what} graphs")
    add_system(amr, required=False, formalism=AMR)
    _add_shared(amr)
    add(amr, "--skip-bad", "--processes")
    add_columns(amr, AMR)


def _add_kind(kinds, name: str, help_text: str, run_kind) -> argparse.ArgumentParser:
    kind = kinds.add_parser(
        name, help=help_text, description=__doc__, epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kind.set_defaults(run_kind=run_kind)
    return kind


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dest", required=True, metavar="FOLDER", help="folder to write the files into")
    add(parser, *VOCABULARY, "--json")


def run(arguments: argparse.Namespace) -> int:
    splits = {"train": arguments.train, "valid": arguments.valid, "test": arguments.test}
    counts = arguments.run_kind({split: path for split, path in splits.items() if path}, arguments)
    figures = {f"{split}_{name}": n for split, c in counts.items() for name, n in c.items()}
    print_figures(figures, arguments.json)
    return 0


def _run_dependency(splits: dict, arguments: argparse.Namespace) -> dict[str, dict[str, int]]:
    columns = wanted_columns(arguments, TREES)
    names = ("system", "pieces", "labeled_shift", "nonprojective", "vectors", "pieces_from")
    options = DependencyOptions(columns=columns, **{name: getattr(arguments, name) for name in names})
    return preprocess_dependency({split: [path] for split, path in splits.items()}, arguments.dest, options)


def _run_amr(splits: dict, arguments: argparse.Namespace) -> dict[str, dict[str, int]]:
    columns = wanted_columns(arguments, AMR)
    names = ("pieces", "labeled_shift", "skip_bad", "processes", "vectors", "pieces_from")
    options = AmrOptions(columns=columns, **{name: getattr(arguments, name) for name in names})
    counts, problems = preprocess_amr(splits, arguments.dest, options)
    report_left_out(problems)
    return counts
