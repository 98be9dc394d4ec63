"""Score parses against gold graphs.

Trees (CoNLL-U): UAS, LAS, CLAS and label accuracy as the CoNLL 2018 shared task defines them (words are aligned by
their characters, subtypes of relations are ignored). UPOS, lemmas, XPOS and universal features are scored if both files
have them, on the words for which gold has them. If the files divide their text differently, the F1 of tokens, sentences
and words is printed, too. --conll18 prints the table of the official script of the shared task instead, with all its 13
scores. They count all words; a last line names the columns that some words of gold lack.

AMRs (.amr, PENMAN): Smatch, as `smatch.py -f SYSTEM GOLD` (1.0.4) counts it but with a fixed seed, each of several
equal triples matched only once, and strings compared whole (`"New York"`); the fine-grained scores of Damonte et al.
2017. For graphs of more than about 400 nodes each, Smatch's hill climbing runs once, without restarts: it starts from
equal concepts, and takes the best step for one node after the other. Graphs of more than about 10,000 nodes each are
refused.
"""

from __future__ import annotations

import argparse

from transition_parser.cli.options import Command, OptionsOf, add, check_options, print_figures
from transition_parser.parsing.formalisms import FORMALISMS, formalism_of_files

HELP = "score parses against gold graphs: UAS, LAS, UPOS and others for trees, Smatch for AMRs"
EXAMPLE = """example:
  transition-parser score dev.conllu dev.parsed.conllu --full-labels
  transition-parser score dev.amr dev.parsed.amr --fine-grained --processes 4
  transition-parser score dev.conllu dev.parsed.conllu --conll18"""
OPTIONS: OptionsOf = {formalism: formalism.score_options for formalism in FORMALISMS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file with the gold graphs")
    system = "parses of the same text, in the format of GOLD (AMR: with the same entries)"
    parser.add_argument("system", metavar="SYSTEM", help=system)
    trees = parser.add_argument_group("trees")
    trees.add_argument(
        "--conll18",
        action="store_true",
        help="give all 13 scores of the CoNLL 2018 shared task, as its official script does: precision, recall, F1 and "
        "accuracy on aligned words; always without subtypes, and with punctuation",
    )
    labels = "compare relations with their subtypes (default: without)"
    trees.add_argument("--full-labels", action="store_true", help=labels)
    trees.add_argument(
        "--punct",
        choices=["count", "skip"],
        help="punctuation; count (default): score all words; skip: do not score the words whose XPOS in GOLD is one of "
        "`` '' : , . (tags of the Penn Treebank)",
    )
    amrs = parser.add_argument_group("AMRs")
    fine = "also give the fine-grained scores (unlabeled, concepts, named entities and others)"
    amrs.add_argument("--fine-grained", action="store_true", help=fine)
    wiki = "leave :wiki out of both files (parse --no-wiki writes none)"
    amrs.add_argument("--ignore-wiki", action="store_true", help=wiki)
    ids = "compare entries by their order alone, if their ids differ"
    amrs.add_argument("--ignore-ids", action="store_true", help=ids)
    seed = "seed of the random starts of Smatch's search (default: 0)"
    amrs.add_argument("--seed", type=int, default=0, metavar="N", help=seed)
    add(amrs, "--processes")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
    """Print the scores."""
    formalism = formalism_of_files(arguments.gold, arguments.system)
    check_options(arguments, OPTIONS, formalism, f"{arguments.gold} holds {formalism.name}")
    report = formalism.score(arguments.gold, arguments.system, vars(arguments))
    if arguments.json:
        print_figures(report.figures, True)
    else:
        print(report.text)
    return 0


COMMANDS = {"score": Command(HELP, EXAMPLE, add_arguments, run, __doc__)}
