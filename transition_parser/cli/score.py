"""Scores parses against gold. Trees (CoNLL-U): UAS, LAS, CLAS and label accuracy as the CoNLL 2018 shared task
defines them (words aligned by their characters, subtypes of relations ignored). AMRs (.amr, PENMAN): Smatch, as
`smatch.py -f SYSTEM GOLD` counts it but with a fixed seed, and the fine-grained scores of Damonte et al. 2017."""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.cli.options import add_json, not_negative, positive, print_figures
from transition_parser.errors import InputError, input_error
from transition_parser.graphs.dependency_score import Score, compare_files

HELP = "UAS, LAS, CLAS of parsed against gold trees; Smatch of AMRs"
EXAMPLE = """example:
  transition-parser score dev.conllu dev.parsed.conllu --full-labels --by-relation
  transition-parser score dev.amr dev.parsed.amr --fine-grained --processes 4"""
OPTIONS = {
    "CoNLL-U": ("full_labels", "punct", "by_relation", "by_length"),
    "AMR": ("fine_grained", "restarts", "seed", "processes"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this subcommand."""
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file")
    parser.add_argument("system", metavar="SYSTEM", help="file of the same kind and text (AMR: of the same entries)")
    trees = parser.add_argument_group("trees")
    trees.add_argument("--full-labels", action="store_true", help="count subtypes of relations")
    trees.add_argument(
        "--punct",
        choices=["count", "skip"],
        help="skip: leave out words with XPOS `` '' : , . (Penn Treebank); default: count",
    )
    trees.add_argument("--by-relation", action="store_true", help="LAS of each gold relation")
    trees.add_argument("--by-length", action="store_true", help="LAS by words of the sentence")
    amrs = parser.add_argument_group("AMRs")
    amrs.add_argument("--fine-grained", action="store_true", help="unlabeled, concepts, named entities and others too")
    amrs.add_argument("--restarts", type=not_negative, metavar="N", help="of Smatch's climbing (default: 4)")
    amrs.add_argument("--seed", type=int, metavar="N", help="of its random starts (default: 0)")
    amrs.add_argument("--processes", type=positive, metavar="N", help="at once (default: 1); the result is the same")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the scores."""
    kind = _kind_of_both(arguments.gold, arguments.system)
    for other, names in OPTIONS.items():
        given = [name for name in names if not any(getattr(arguments, name) is unset for unset in (None, False))]
        if other != kind and given:
            raise InputError(f"--{given[0].replace('_', '-')} is for {other} files, {arguments.gold} is {kind}")
    return _score_amrs(arguments) if kind == "AMR" else _score_trees(arguments)


def _kind_of_both(gold: str, system: str) -> str:
    kinds = {path: kind_of(path) for path in (gold, system)}
    known = {kind for kind in kinds.values() if kind}
    if len(known) > 1:
        raise input_error(f"{kinds[system]}, but {gold} is {kinds[gold]}: both must be of one kind", system)
    return known.pop() if known else "CoNLL-U"


def kind_of(path: str) -> str | None:
    """What a file holds; None if it is empty, or a pipe, which can be read but once."""
    if Path(path).suffix == ".amr":
        return "AMR"
    if not Path(path).is_file():
        return None
    with open(path, "rb") as file:
        first = next((line for line in map(bytes.strip, file) if line and not line.startswith(b"#")), None)
    if first is None:
        return None
    return "AMR" if first.startswith(b"(") else "CoNLL-U"


def _score_trees(arguments: argparse.Namespace) -> int:
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


def _score_amrs(arguments: argparse.Namespace) -> int:
    from transition_parser.graphs.amr_score import RESTARTS, compare_banks

    scores = compare_banks(
        arguments.gold,
        arguments.system,
        RESTARTS if arguments.restarts is None else arguments.restarts,
        arguments.seed or 0,
        arguments.processes or 1,
        arguments.fine_grained,
    )
    figures: dict = {"sentences": len(scores.sentences)}
    for name, counts in scores.total().items():
        parts = {part: round(getattr(counts, part), 4) for part in ("precision", "recall", "f1")}
        figures[name] = parts if counts.system or counts.gold else None  # nothing of the kind in either file
    if arguments.json:
        print_figures(figures, True)
        return 0
    print(f"sentences {figures.pop('sentences'):>14}\n\n{'':<16}{'precision':>11}{'recall':>9}{'F1':>9}")
    for name, parts in figures.items():
        precision, recall, f1 = (f"{value:.4f}" for value in parts.values()) if parts else ("-", "-", "-")
        print(f"{name.replace('_', ' '):<16}{precision:>11}{recall:>9}{f1:>9}")
    return 0
