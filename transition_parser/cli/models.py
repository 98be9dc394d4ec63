"""List the known models: the models of the package, the models in the given folders, the models in the folders that
the environment variable TRANSITION_PARSER_MODELS names, and the models that installed packages bring. Description,
language, license and scores come from the card of a model, the front matter of its README.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from transition_parser.cli.options import add, print_figures

if TYPE_CHECKING:
    from transition_parser.storage.cards import ModelCard

HELP = "list the available models with size, scores and license"
EXAMPLE = """example:
  transition-parser models
  transition-parser models my-experiment/model --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="*", help="exported model, or folder of exported models")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
    from transition_parser.storage.cards import known_models

    cards = list(known_models(arguments.folders))
    if arguments.json:
        print_figures({"models": [asdict(card) for card in cards]}, True)
    else:
        print("\n".join(_table(cards)))
    return 0


def _table(cards: Sequence[ModelCard]) -> list[str]:
    rows, notes = [("name", "version", "language", "system", "architecture", "MB", "needs")], []
    for card in cards:
        needs = ", ".join(f"{one} (not installed)" if one in card.missing else one for one in card.needs)
        size = f"{card.bytes / 1e6:.1f}"
        rows.append((card.name, card.version, card.language or "–", card.system, card.architecture, size, needs or "–"))
        notes += ["", card.name, *([f"  {card.description}"] if card.description else [])]
        notes += [f"  license: {card.license or 'none stated'}"]
        for score in card.scores:
            figures = (f"{name.upper()} {value}" for name, value in score.items() if name not in ("data", "beam"))
            beam = f", beam {score['beam']}" if "beam" in score else ""
            notes.append(f"  {score['data']}{beam}: {', '.join(figures)}")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows] + notes
