"""Turns a treebank into the files that fairseq-preprocess reads: {train,valid,test}.{src,act},
spm.model and parser.json, all in one folder."""

from __future__ import annotations

import argparse

from preprocess.dependency import DependencyOptions, preprocess_dependency
from transition_parser.cli.options import (
    add_json,
    add_nonprojective,
    add_system,
    not_negative,
    positive,
    print_figures,
)

HELP = "corpora to the files that fairseq-preprocess reads"
EXAMPLE = """example:
  transition-parser preprocess dependency --train train.conllu --valid dev.conllu \\
      --system arc-hybrid-swap --dest data
  fairseq-preprocess --user-dir transition_parser --task transition_parsing \\
      --source-lang src --target-lang act --trainpref data/train --validpref data/valid --destdir data"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the kinds of graph."""
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    dependency = kinds.add_parser(
        "dependency",
        help="CoNLL-U treebanks",
        description=__doc__,
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    dependency.add_argument("--train", required=True, metavar="CONLLU", help="training trees")
    dependency.add_argument("--valid", required=True, metavar="CONLLU", help="development trees")
    dependency.add_argument("--test", metavar="CONLLU", help="test trees")
    add_system(dependency)
    dependency.add_argument("--dest", required=True, metavar="FOLDER", help="where the files go")
    dependency.add_argument(
        "--pieces",
        type=positive,
        default=4000,
        metavar="N",
        help="size of the subword vocabulary (default 4000; a small corpus gets fewer)",
    )
    dependency.add_argument(
        "--labeled-shift",
        type=not_negative,
        default=0,
        metavar="K",
        help="the K most frequent words decorate their SHIFT (default 0)",
    )
    add_nonprojective(dependency)
    dependency.add_argument("--upos", action="store_true", help="also write {train,…}.upos")
    add_json(dependency)


def run(arguments: argparse.Namespace) -> int:
    """Writes the folder and prints what it holds."""
    splits = {"train": arguments.train, "valid": arguments.valid, "test": arguments.test}
    options = DependencyOptions(
        arguments.system,
        arguments.pieces,
        arguments.labeled_shift,
        arguments.nonprojective,
        arguments.upos,
    )
    given = {split: path for split, path in splits.items() if path}
    counts = preprocess_dependency(given, arguments.dest, options)
    figures = {f"{split}_{name}": n for split, c in counts.items() for name, n in c.items()}
    print_figures(figures, arguments.json)
    return 0
