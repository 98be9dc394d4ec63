"""Calibrate the confidences of a model, and store the calibration with the model.

After that, about 80 % of the arcs with ArcScore=0.8 are right, on text that resembles GOLD. GOLD is a part of a
treebank or AMR bank that the model was not trained on. Two numbers, a temperature and an offset of the log-odds, are
fitted for the confidences in greedy parses, and two more for the confidences in parses with alternatives (parse
--nbest). The choice of the best parse does not change. An earlier calibration is replaced. The printed expected
calibration errors (ECE) are measured on GOLD itself.
"""

from __future__ import annotations

import argparse

from transition_parser.cli.options import add, check_inputs, import_user_dir, positive, print_figures

HELP = "calibrate the confidences of an exported model"
EXAMPLE = """example:
  transition-parser calibrate my-model dev.conllu"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="exported folder; its config.json is changed")
    parser.add_argument("gold", metavar="GOLD", help="CoNLL-U or AMR file that the model was not trained on")
    beam = "beam size of parses with alternatives (default: 10)"
    parser.add_argument("--beam", type=positive, default=10, metavar="N", help=beam)
    add(parser, "--precision", "--threads", "--user-dir", "--json")


def run(arguments: argparse.Namespace) -> int:
    from transition_parser.analysis.confidence import calibrate, expected_calibration_error
    from transition_parser.storage.exports import read_config, write_config

    import_user_dir(arguments.user_dir)
    check_inputs([arguments.gold])
    architecture, options, *_ = read_config(arguments.model)  # first, since it raises for a folder that is no model
    found = calibrate(arguments.model, arguments.gold, arguments.beam, arguments.precision, arguments.threads)
    write_config(arguments.model, architecture, options, found.calibration)
    figures = {}
    for kind, scalings in found.calibration._asdict().items():
        for name, scaling in scalings.items():
            measured = found.outcomes[kind][name]
            figures[f"{kind} {name}"] = {
                "count": len(measured.right),
                "temperature": round(scaling.temperature, 4),
                "offset": round(scaling.offset, 4),
                "ece_before": round(expected_calibration_error(*measured), 4),
                "ece_after": round(expected_calibration_error(*measured.scaled(scaling)), 4),
            }
    print_figures(figures, arguments.json)
    return 0
