"""fairseq's programs as child processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from transition_parser.base.errors import InputError, input_error

_PACKAGE = Path(__file__).resolve().parents[1]
_CHILD = Path(__file__).resolve().with_name("child.py")
TASK = ("--task", "transition_parsing")
_SECONDS_TO_END = 20.0
_OURS = "transition_parser.base.errors.InputError: "


def run_fairseq(
    program: str,
    arguments: Sequence[str],
    log: Path,
    lock: int,
    user_dir: str | None = None,
    line: Callable[[str], None] = lambda text: None,
) -> None:
    """Run `fairseq_cli.PROGRAM` with the task of this package, and append its output to `log`.

    The program ends when this process ends, also where this process is interrupted or killed. Raises `InputError` with
    the program's last message where the program fails.

    lock: a file descriptor that the program inherits
    user_dir: a package with further models; None for this package alone
    line: called with each line of the output
    """
    user = ("--user-dir", str(Path(user_dir or _PACKAGE).resolve()), *TASK)
    command = [sys.executable, "-P", str(_CHILD), program, *arguments, *user]
    path = os.pathsep.join(filter(None, [str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")]))
    last: deque[str] = deque(maxlen=200)
    with (
        open(log, "a", encoding="utf-8") as file,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # open for as long as this process lives, see `child.py`
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"},
            pass_fds=[lock],
            start_new_session=True,  # the keyboard interrupts only this process, which then ends the program
        ) as child,
    ):
        try:
            assert child.stdout is not None
            for text in child.stdout:
                file.write(text)
                file.flush()
                last.append(text.rstrip())
                line(text.rstrip())
            status = child.wait()
        finally:
            _end(child)
    if status:
        raise _failed(program, status, last, log)


def _end(child: subprocess.Popen) -> None:
    """End a program and the processes that it started, by force where it does not end in time."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            os.killpg(child.pid, number)
            try:
                child.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                continue


def _failed(program: str, status: int, last: Sequence[str], log: Path) -> InputError:
    for text in reversed(last):
        if text.startswith(_OURS):
            return InputError(text.removeprefix(_OURS))
    words = next((text for text in reversed(last) if text.strip()), "it said nothing")
    how = f"was ended by signal {-status}" if status < 0 else f"failed with exit status {status}"
    return input_error(f"fairseq-{program} {how}: {words}", log)
