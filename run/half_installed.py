"""Lets installers forget packages that an interrupted set-up left half written, so that they are installed again.

    python run/half_installed.py FOLDER      FOLDER: site-packages of an environment

Installers ask only whether a package has a folder .dist-info. Here each file that its RECORD lists must have its size.
"""

import csv
import shutil
import sys
from pathlib import Path


def is_whole(info: Path) -> bool:
    """Return True if a package, by its folder .dist-info, has all files but those that Python makes itself."""
    try:
        rows = [*csv.reader((info / "RECORD").read_text(encoding="utf-8").splitlines())]
        wanted = {info.parent / name: int(size) for name, _, size in rows if size and not name.endswith(".pyc")}
        return all(path.stat().st_size == size for path, size in wanted.items())
    except (OSError, ValueError):
        return False


for folder in Path(sys.argv[1]).glob("*.dist-info"):
    if not is_whole(folder):
        shutil.rmtree(folder)
