#!/usr/bin/env python3
"""Learn the limits of search anew for an exported model of AMRs, and change them in its folder.

    python run/limits.py MODEL BANK.amr ...

MODEL: a folder that `export` wrote. BANK: the model's training data. Silver AMRs teach no limits, so they may be left
out. `transition-parser preprocess amr` learns the same limits, so only models of older versions need this.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import new_files
from transition_parser.oracles.amr_check import derive
from transition_parser.preprocess.aligner import aligned, train_table
from transition_parser.preprocess.amr import limits_of
from transition_parser.preprocess.banks import derived_alone, read_entries
from transition_parser.storage.exports import read_calibration, read_config, write_config
from transition_parser.text.frames import packaged
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.config import ParserConfig


def limits(banks: Sequence[str], frames: bool) -> SearchLimits:
    """Return the limits of search, learned from the graphs of some banks and from their derivations.

    Entries that can't be used are left out.

    frames: True for the derivations of models with FRAME actions
    """
    problems: list[InputError] = []
    entries = read_entries(banks, problems)
    system = AmrSystem(frames=packaged() if frames else None)
    derived = list(derived_alone(derive(aligned(entries, train_table(entries)), system), problems))
    if not derived:
        raise InputError("no AMR can be used")
    return limits_of(derived, system.frames)


def main() -> None:
    """Change the limits in the model's `lexicon.json`."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", help="folder that `export` wrote")
    options.add_argument("banks", nargs="+", help="AMR banks, the training data")
    arguments = options.parse_args()
    architecture, values = read_config(arguments.model)
    calibration, config = read_calibration(arguments.model), ParserConfig.load(arguments.model)
    if config.lexicon is None:
        raise input_error("this is a model of trees, which has no limits", arguments.model)
    found = limits(arguments.banks, bool(config.frames))
    with new_files(arguments.model) as temporary:
        replace(config.lexicon, limits=found).save(temporary)
        write_config(temporary, architecture, values, calibration, beside=arguments.model)


if __name__ == "__main__":
    try:
        main()
    except (InputError, OSError) as error:
        sys.stderr.write(f"limits.py: error: {error}\n")
        sys.exit(2)
