"""A launcher for a program of fairseq that ends with its parent process: `python -P child.py PROGRAM FLAG …`.

Standard input is a pipe that the parent holds open and never writes to. The pipe closes when the parent ends, even
where the parent is killed. This process, the leader of its process group, then kills the whole group.

This script imports nothing of the package: fairseq takes no models from a `--user-dir` that has been imported before.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib import import_module


def _end_with_parent() -> None:
    os.read(0, 1)
    os.killpg(os.getpid(), signal.SIGKILL)


def main(program: str, arguments: list[str]) -> None:
    """Run `fairseq_cli.PROGRAM`."""
    threading.Thread(target=_end_with_parent, name="end with parent", daemon=True).start()
    sys.argv = [f"fairseq-{program}", *arguments]
    import_module(f"fairseq_cli.{program}").cli_main()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
