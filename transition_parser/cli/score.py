"""Scores parsed trees against gold trees: UAS, LAS, CLAS and label accuracy as the CoNLL 2018 shared
task defines them (words aligned by their characters, subtypes of relations ignored)."""

from __future__ import annotations

import argparse

from transition_parser.cli.options import add_json, print_figures
from transition_parser.graphs.dependency_score import Score, compare_files

HELP = "UAS, LAS, CLAS of parsed against gold trees"
EXAMPLE = """example:
  transition-parser score dev.conllu dev.parsed.conllu --full-labels --by-relation"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U file")
    parser.add_argument("system", metavar="SYSTEM", help="CoNLL-U file of the same text")
    parser.add_argument("--full-labels", action="store_true", help="count subtypes of relations")
    parser.add_argument(
        "--punct",
        choices=["count", "skip"],
        default="count",
        help="skip: leave out words with XPOS `` '' : , . (Penn Treebank)",
    )
    parser.add_argument("--by-relation", action="store_true", help="LAS of each gold relation")
    parser.add_argument("--by-length", action="store_true", help="LAS by words of the sentence")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the scores."""
    comparison = compare_files(arguments.gold, arguments.system, arguments.full_labels, arguments.punct == "skip")
    figures: dict = {name: round(s.f1, 2) for name, s in comparison.scores().items()}
    figures["words"] = comparison.scores()["uas"].gold
    tables = {}
    if arguments.by_relation:
        tables["by_relation"] = comparison.by_relation()
    if arguments.by_length:
        tables["by_length"] = comparison.by_length()
    if arguments.json:
        for name, table in tables.items():
            figures[name] = {key: _row(score) for key, score in table.items()}
    print_figures(figures, arguments.json)
    if not arguments.json:
        for name, table in tables.items():
            _print_table(name, table)
    return 0


def _row(score: Score) -> dict:
    return {"gold": score.gold, "system": score.system, "f1": round(score.f1, 2)}


def _print_table(name: str, table: dict[str, Score]) -> None:
    print(f"\n{name.replace('_', ' '):<18}{'gold':>8}{'system':>8}{'LAS':>8}")
    for key, score in table.items():
        print(f"{key:<18}{score.gold:>8}{score.system:>8}{score.f1:>8.2f}")
