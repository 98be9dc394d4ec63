"""The program `transition-parser`, whose subcommands are in the modules of this folder."""

from __future__ import annotations

import argparse
import io
import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, NoReturn

from transition_parser.base import __version__
from transition_parser.base.errors import InputError, ParserWarning, shortened
from transition_parser.base.files import NO_ROOM
from transition_parser.base.process import let_idle_threads_sleep, limit_instructions, signals_as_exits

if TYPE_CHECKING:
    from transition_parser.cli.options import Command

COMMANDS = {  # subcommand → the module of this folder that has it
    "train": "train", "parse": "parse", "score": "parse", "draw": "pages", "serve": "pages", "models": "models",
    "align": "corpora", "preprocess": "corpora", "oracle": "corpora",
    "export": "models", "calibrate": "models",
}  # fmt: skip
PASS_ON = ("train",)  # the commands that pass the arguments after -- to another program


_LONG = re.compile(r"\S{401,}")  # longer than most paths


class _ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(_printable(message))


def build_parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the argument parser of the named subcommands; only their modules are imported."""
    parser = _ArgumentParser(
        prog="transition-parser",
        description="Train and run transition-based parsers of natural language. They parse sentences to dependency "
        "trees or AMR graphs. Models are trained with fairseq.",
        epilog="Exit status: 0 done; 1 a check failed; 2 bad input or usage; 70 a bug; 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in names:
        command: Command = import_module(f"transition_parser.cli.{COMMANDS[name]}").COMMANDS[name]
        one = commands.add_parser(
            name,
            help=command.help,
            description=cleandoc(command.description or command.run.__doc__ or ""),
            epilog=command.example,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(one)
        one.set_defaults(run=command.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand, and return its exit status."""
    let_idle_threads_sleep()
    _prepare_streams()
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    argv = sys.argv[1:] if argv is None else argv
    named = next((argument for argument in argv if not argument.startswith("-")), None)
    end = argv.index("--") if named in PASS_ON and "--" in argv else len(argv)
    try:
        try:
            arguments = build_parser([named] if named in COMMANDS else COMMANDS).parse_args(argv[:end])
        finally:
            sys.stdout.flush()  # --help ends the program, and may have nowhere to go
        arguments.passed_on = argv[end + 1 :]
        limit_instructions()
        with signals_as_exits(), warnings_as_lines():
            status = arguments.run(arguments)
            sys.stdout.flush()
        return status
    except InputError as error:
        return _fail(str(error))
    except BrokenPipeError:
        _drop_standard_output()
        return 0
    except OSError as error:
        if error.filename is None and error.errno in NO_ROOM:
            _drop_standard_output()
            return _fail(f"standard output: {error.strerror}")
        return _fail(f"{error.filename or 'input'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return 130
    except Exception:  # a bug of this program; status 1 would mean a failed check
        traceback.print_exc()
        return 70


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Show each `ParserWarning` as one line on standard error while the block runs."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Warning | str, category: type[Warning], *where, **options) -> None:
            if issubclass(category, ParserWarning):
                print(f"transition-parser: warning: {_printable(message)}", file=sys.stderr)
            else:
                show(message, category, *where, **options)

        warnings.showwarning = shown
        yield


def _prepare_streams() -> None:
    """Make standard output UTF-8, and open /dev/null for closed streams (`>&-`), so that no file gets their numbers."""
    for number, name, mode in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, mode), number)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def _drop_standard_output() -> None:
    """Discard the unwritten rest of standard output, because Python would try, and fail, to write it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> int:
    print(f"transition-parser: error: {_printable(message)}", file=sys.stderr)
    return 2


def _printable(message: Warning | str) -> str:
    """Return a message with shortened names, such as names of files, and without control characters."""
    short = _LONG.sub(lambda name: shortened(name[0], 400), str(message))
    return "".join(one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in short)
