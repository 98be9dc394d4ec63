"""Programs that start fast: a process that has imported torch, and fairseq for some, forks itself for each of them.

Importing these takes several times as long as most programs of the tests then run. What a program does is the same as
in a process of its own: nothing of the package is imported before the fork.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cached_property
from pathlib import Path

PARSING = ("torch", "sentencepiece", "safetensors.torch")
TRAINING = (
    *("fairseq.checkpoint_utils", "fairseq.models", "fairseq.tasks", "fairseq.trainer"),
    "torch._dynamo",  # what torch imports for every optimizer
)


class Programs:
    """The process, started when it is first needed. env: its environment; imports: what it imports first."""

    def __init__(self, env: dict[str, str], imports: tuple[str, ...]) -> None:
        self.env, self.imports = env, imports

    def run(self, command: list[str], stdin: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess:
        """Runs a Python script, or `-c` and code, with its arguments, and returns its exit status and what it printed.

        The path of modules is that of the process."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin.encode())
            for file in (given, out, err):
                file.seek(0)
            status = _call(self._address, command, str(cwd), env, [file.fileno() for file in (given, out, err)])
            printed = [(file.seek(0), file.read().decode())[1] for file in (out, err)]
        return subprocess.CompletedProcess(command, status, *printed)

    def in_bash(self, *names: str) -> dict[str, str]:
        """The environment of a script in bash that runs programs of this environment so, by their names."""
        return {f"BASH_FUNC_{name}%%": f'() {{ {shlex.join(self.command(name))} "$@"; }}' for name in names}

    def command(self, name: str, *arguments: str) -> list[str]:
        """The command that runs a program of this environment so, with the files of the process that it begins."""
        program = str(Path(sys.executable).parent / name)
        return [sys.executable, "-I", "-S", __file__, "call", self._address, program, *arguments]

    def send_signal(self, number: int) -> None:
        """Sends the program that now runs a signal."""
        server = self._server.pid
        os.kill(int(Path(f"/proc/{server}/task/{server}/children").read_text()), number)

    @cached_property
    def _address(self) -> str:
        folder, owner = tempfile.mkdtemp(), os.getpid()
        address = str(Path(folder, "socket"))
        # -P: `import fairseq` does not mean the folder beside this file
        command = [sys.executable, "-P", __file__, "serve", address, *self.imports]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env)
        # Processes that tests fork may end with these functions, too. The server ends with its input.
        atexit.register(lambda: os.getpid() == owner and (self._server.communicate(), shutil.rmtree(folder)))
        assert self._server.stdout.readline(), "the process that starts programs is gone"
        return address


def _call(address: str, command: list[str], cwd: str, env: dict[str, str], files: list[int]) -> int:
    """The exit status of a program that the process at an address runs with these files as its first three."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"."], files)
        connection.sendall(json.dumps([command, cwd, env]).encode() + b"\n")
        status = connection.makefile().readline()
    assert status, "the process that starts programs is gone"
    return int(status)


def _serve(address: str, *imports: str) -> None:
    """Runs one program after the other until its own input ends."""
    for name in imports:
        importlib.import_module(name)
    if "fairseq.tasks" in imports:
        _read_some_options()
    gc.freeze()  # so that no child looks for garbage among these modules, as it otherwise would at least at its end
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            with connection:
                _, files, *_ = socket.recv_fds(connection, 1, 3)
                asked = json.loads(connection.makefile().readline())
                child = os.fork()
                if not child:
                    listener.close()
                    connection.close()
                    return _become(*asked, files)
                for file in files:
                    os.close(file)
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                with contextlib.suppress(BrokenPipeError):  # nobody waits for it
                    connection.sendall(f"{status}\n".encode())


def _read_some_options() -> None:
    """Lets hydra, which reads the options of fairseq's programs, learn its grammar, which takes longest."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    arguments = ["data", "--task", "translation", "--arch", "transformer", "--optimizer", "adam"]
    convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), arguments))


def _become(command: list[str], cwd: str, env: dict[str, str], files: list[int]) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let jobs in the background ignore it
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
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
    what, *rest = sys.argv[1:]
    if what == "serve":
        _serve(*rest)
    else:
        code = _call(rest[0], rest[1:], os.getcwd(), dict(os.environ), [0, 1, 2])
        sys.exit(code if code >= 0 else 128 - code)
