"""Programs that start fast: a process that has imported torch, and fairseq for some, forks itself for each of them.

Importing these takes several times as long as most programs of the tests then run. What a program does is the same as
in a process of its own: nothing of the package is imported before the fork.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

PARSING = ("torch", "spacy", "sentencepiece", "safetensors.torch")
TRAINING = (
    *("fairseq.checkpoint_utils", "fairseq.models", "fairseq.tasks", "fairseq.trainer"),
    "torch._dynamo",  # what torch imports for every optimizer
)


class Programs:
    """The process, started when it is first needed. env: its environment; imports: what it imports first."""

    def __init__(self, env: dict[str, str], imports: tuple[str, ...]) -> None:
        self.env, self.imports = env, imports
        self._server: subprocess.Popen | None = None

    def run(self, command: list[str], stdin: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess:
        """Runs a Python script, or `-c` and code, with its arguments, and returns its exit status and what it printed.

        The path of modules is that of the process."""
        if self._server is None:
            # -P: `import fairseq` does not mean the folder beside this file
            server = [sys.executable, "-P", __file__, *self.imports]
            self._server = subprocess.Popen(
                server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.env
            )
            atexit.register(self._server.communicate)
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder, name)) for name in ("in", "out", "err")]
            Path(files[0]).write_text(stdin, encoding="utf-8")
            print(json.dumps([command, str(cwd), env, files]), file=self._server.stdin, flush=True)
            status = self._server.stdout.readline()
            assert status, "the process that starts programs is gone"
            out, err = (Path(file).read_bytes().decode() for file in files[1:])
        return subprocess.CompletedProcess(command, int(status), out, err)


def _serve() -> None:
    """Reads a program a line, and answers by its exit status."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    gc.freeze()  # so that no child looks for garbage among these modules, as it otherwise would at least at its end
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            return _become(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(command: list[str], cwd: str, env: dict[str, str], files: list[str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    for number, (file, flags) in enumerate(zip(files, [os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT] * 2], strict=True)):
        os.dup2(os.open(file, flags), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        sys.path.insert(0, "")
        exec(command[1], {"__name__": "__main__"})
    else:
        sys.argv = command
        sys.path.insert(0, str(Path(command[0]).parent))
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    _serve()
