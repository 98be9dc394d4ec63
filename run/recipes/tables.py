"""Store the action tables of exported models of AMRs anew, after `states.table.VERSION` has changed.

python run/recipes/tables.py FOLDER ...
"""

import argparse
from pathlib import Path

from shared import options, run

from transition_parser.data.resources import TABLE, Resources
from transition_parser.storage.exports import read_config, write_config


def store(arguments: argparse.Namespace) -> None:
    """Compute the table of each folder from its other files, and give it its checksum in `config.json`."""
    for folder in arguments.folders:
        exported = read_config(folder)
        (folder / TABLE).unlink(missing_ok=True)
        Resources.load(folder).store_table(folder)
        write_config(folder, exported)


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    run(of, store)
