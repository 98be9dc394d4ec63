"""`transition-parser serve` as a process, for the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import OF_PROGRAMS, ROOT


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """The process, and the address at which it serves, once it does; it is gone at the end."""
    command = [sys.executable, "-m", "transition_parser.cli.main", "serve", *arguments, "--port", "0"]
    environment = {**os.environ, **OF_PROGRAMS}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            found = re.search(r"http://\S+/", line)
            assert found, line + process.stderr.read()
            yield process, found[0]
        finally:
            process.kill()
