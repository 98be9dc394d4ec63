"""Commands for trained models: list, export and calibrate them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from transition_parser.cli.options import Command, add, check_inputs, import_user_dir, positive, print_figures

if TYPE_CHECKING:
    from transition_parser.storage.cards import ModelCard


def add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="FOLDER", nargs="*", help="exported model, or folder of exported models")
    add(parser, "--json")


def run_models(arguments: argparse.Namespace) -> int:
    """List the known models: the models of the package, the models in the given folders, and the models that installed
    packages bring. Description, language, license and scores come from the card of a model, the front matter of its
    README.md.
    """
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


def add_export(parser: argparse.ArgumentParser) -> None:
    several = "checkpoint file; several are averaged, also with exported folders of the same model"
    parser.add_argument("checkpoints", metavar="CHECKPOINT", nargs="+", help=several)
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder to write")
    add(parser, "--user-dir", "--bits")


def run_export(arguments: argparse.Namespace) -> int:
    """Export a checkpoint as a folder without pickle: model.safetensors, config.json, dictionaries, spm.model and
    parser.json. Several checkpoints are averaged first, also with models that were exported before, such as the one
    that a training started from (Wortsman et al. 2022, Robust Fine-Tuning of Zero-Shot Models).
    """
    from transition_parser.storage.checkpoints import export_checkpoint

    import_user_dir(arguments.user_dir)
    export_checkpoint(arguments.checkpoints, arguments.output, arguments.bits)
    return 0


def add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="exported folder; its config.json is changed")
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file that the model was not trained on")
    beam = "beam size of parses with alternatives (default: 10)"
    parser.add_argument("--beam", type=positive, default=10, metavar="N", help=beam)
    add(parser, "--precision", "--threads", "--user-dir", "--json")


def run_calibrate(arguments: argparse.Namespace) -> int:
    """Calibrate the confidences of a model, and store the calibration with the model.

    After that, about 80 % of the arcs with ArcScore=0.8 are right, on text that resembles GOLD. GOLD is a part of a
    treebank or AMR bank that the model was not trained on. Two numbers, a temperature and an offset of the log-odds,
    are fitted for the confidences in greedy parses, and two more for the confidences in parses with alternatives (parse
    --nbest). The choice of the best parse does not change. An earlier calibration is replaced. The printed expected
    calibration errors (ECE) are measured on GOLD itself.
    """
    from transition_parser.analysis.confidence import calibrate, expected_calibration_error
    from transition_parser.storage.exports import read_config, write_config

    import_user_dir(arguments.user_dir)
    check_inputs([arguments.gold])
    exported = read_config(arguments.model)  # first, since it raises for a folder that is no model
    calibration, outcomes = calibrate(
        arguments.model, arguments.gold, arguments.beam, arguments.precision, arguments.threads
    )
    write_config(arguments.model, replace(exported, calibration=calibration))
    figures = {}
    for kind, scalings in calibration._asdict().items():
        for name, scaling in scalings.items():
            measured = outcomes[kind][name]
            figures[f"{kind} {name}"] = {
                "count": len(measured.right),
                "temperature": round(scaling.temperature, 4),
                "offset": round(scaling.offset, 4),
                "ece_before": round(expected_calibration_error(*measured), 4),
                "ece_after": round(expected_calibration_error(*measured.scaled(scaling)), 4),
            }
    print_figures(figures, arguments.json)
    return 0


_MODELS = """example:
  transition-parser models
  transition-parser models my-experiment/model --json"""
_EXPORT = """example:
  transition-parser export checkpoints/checkpoint_best.pt -o my-model --bits 16"""
_CALIBRATE = """example:
  transition-parser calibrate my-model dev.conllu"""
COMMANDS = {
    "models": Command("list the available models with size, scores and license", _MODELS, add_models, run_models),
    "export": Command("export a checkpoint to a folder with safetensors", _EXPORT, add_export, run_export),
    "calibrate": Command("calibrate the confidences of an exported model", _CALIBRATE, add_calibrate, run_calibrate),
}
