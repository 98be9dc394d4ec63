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
    for name, formalism, corpora, graphs, metavar, files, own in (
        ("dependency", TREES, "CoNLL-U treebanks", "trees", "CONLLU", 1, ["--nonprojective"]),
        ("amr", AMR, "AMR banks", "graphs", "AMR", "+", ["--skip-bad", "--processes"]),
    ):
        formatter = argparse.RawDescriptionHelpFormatter
        kind = kinds.add_parser(name, help=corpora, description=__doc__, epilog=EXAMPLE, formatter_class=formatter)
        for split, what in (("train", "training"), ("valid", "development"), ("test", "test")):
            needed = split != "test"
            kind.add_argument(f"--{split}", required=needed, nargs=files, metavar=metavar, help=f"{what} {graphs}")
        add_system(kind, required=formalism is TREES, formalism=formalism)
        kind.add_argument("--dest", required=True, metavar="FOLDER", help="folder to write the files into")
        add(kind, *VOCABULARY, "--json", *own)
        add_columns(kind, formalism)
        kind.set_defaults(formalism=formalism)


def run(arguments: argparse.Namespace) -> int:
    given = {split: getattr(arguments, split) for split in ("train", "valid", "test")}
    splits = {split: paths for split, paths in given.items() if paths}
    formalism, problems = arguments.formalism, []
    own = {TREES: ("system", "nonprojective"), AMR: ("skip_bad", "processes")}[formalism]
    names = ("pieces", "labeled_shift", "vectors", "pieces_from", *own)
    options = {name: getattr(arguments, name) for name in names}
    options["columns"] = wanted_columns(arguments, formalism)
    if formalism is TREES:
        counts = preprocess_dependency(splits, arguments.dest, DependencyOptions(**options))
    else:
        counts, problems = preprocess_amr(splits, arguments.dest, AmrOptions(**options))
    report_left_out(problems)
    figures = {f"{split}_{name}": n for split, c in counts.items() for name, n in c.items()}
    print_figures(figures, arguments.json)
    return 0
