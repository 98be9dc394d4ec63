"""Bring the tables of docs/ up to date with the results that they are made from.

    python run/update_docs.py [--check]

A comment above a table names the command that prints it, from the root of the repository:

    <!-- from: run/paper_table.py results/spa-dp.json --claims -->

--check writes nothing, and ends with status 1 where a page differs from what its commands print.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

from transition_parser.base.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
MADE = re.compile(r"(<!-- from: (?P<command>.+?) -->\n)(?:\|.*(?:\n|\Z))*")


def printed(command: str) -> str:
    """Return the table that a command prints: its lines that begin with a bar.

    Raises `InputError` where the command fails, and where it prints no table or several.
    """
    done = subprocess.run([sys.executable, *shlex.split(command)], cwd=ROOT, capture_output=True, text=True)
    tables = re.findall(r"(?:^\|.*\n)+", done.stdout, re.MULTILINE)
    if done.returncode or len(tables) != 1:
        said = " ".join(done.stderr.split())
        raise InputError(f"{command}: prints {len(tables)} tables, not one. {said}")
    return tables[0]


def updated(page: str) -> str:
    """Return the text of a page with the tables that its commands print now."""
    return MADE.sub(lambda found: found[1] + printed(found["command"]), page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where a page would change")
    check = parser.parse_args().check
    stale = {}
    for path in sorted((ROOT / "docs").glob("*.md")):
        page = path.read_text(encoding="utf-8")
        try:
            new = updated(page)
        except InputError as error:
            parser.exit(2, f"{parser.prog}: error: {error}\n")
        if new != page:
            stale[path] = new
            print(f"{path.relative_to(ROOT)}: {'differs' if check else 'updated'}", file=sys.stderr)
    if check:
        sys.exit(bool(stale))
    for path, new in stale.items():
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
