"""Store the action tables of exported models of AMRs anew, after `states.table.VERSION` has changed.

python run/recipes/tables.py FOLDER ...
"""

from __future__ import annotations

import sys
from pathlib import Path

from transition_parser.data.resources import TABLE, Resources
from transition_parser.storage.exports import read_config, write_config


def store(folder: Path) -> None:
    """Compute the table of a folder from its other files, and give it its checksum in `config.json`."""
    exported = read_config(folder)
    (folder / TABLE).unlink(missing_ok=True)
    Resources.load(folder).store_table(folder)
    write_config(folder, exported)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        store(Path(name))
