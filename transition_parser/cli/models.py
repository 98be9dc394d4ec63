"""List the known models: the models of the package, the models in the given folders, the models in the folders that
the environment variable TRANSITION_PARSER_MODELS names, and the models that installed packages bring. Description,
language, licence and scores come from the card of a model, the front matter of its README.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from transition_parser.cli.options import add

if TYPE_CHECKING:
    from transition_parser.storage.cards import ModelCard

HELP = "list the available models with size, scores and licence"
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
        print(json.dumps({"models": [asdict(card) for card in cards]}, ensure_ascii=False))
        return 0
    print("\n".join(_table(cards)))
    return 0


def _table(cards: Sequence[ModelCard]) -> list[str]:
    head = ("name", "language", "system", "architecture", "MB", "needs")
    rows = [
        head,
        *((c.name, c.language or "–", c.system, c.architecture, f"{c.bytes / 1e6:.1f}", _needs(c)) for c in cards),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    table = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]
    notes = []
    for card in cards:
        notes += ["", card.name, *([f"  {card.description}"] if card.description else [])]
        notes += [f"  licence: {card.license or 'none stated'}"]
        notes += [f"  {_score(score)}" for score in card.scores]
    return table + notes


def _needs(card: ModelCard) -> str:
    return ", ".join(f"{one} (not installed)" if one in card.missing else one for one in card.needs) or "–"


def _score(score) -> str:
    figures = ", ".join(f"{name.upper()} {value}" for name, value in score.items() if name not in ("data", "beam"))
    beam = f", beam {score['beam']}" if "beam" in score else ""
    return f"{score['data']}{beam}: {figures}"
