"""Print a script that lets a shell complete the commands, options, models and systems of `transition-parser`."""

from __future__ import annotations

import argparse

from transition_parser.base.errors import InputError

HELP = "completion for bash, zsh or tcsh"
EXAMPLE = """example:
  transition-parser completion bash > ~/.local/share/bash-completion/completions/transition-parser
  transition-parser completion zsh > ~/.zfunc/_transition-parser      # a folder of $fpath
  transition-parser completion tcsh > ~/.transition-parser.csh        # source it in ~/.tcshrc"""
SHELLS = ("bash", "zsh", "tcsh")
# metavars of arguments that are files, and of arguments that are folders
_FILES = ("FILE", "IN", "GOLD", "SYSTEM", "CONLLU", "AMR", "CHECKPOINT", "PICTURE", "PARSED")
_FOLDERS = ("FOLDER", "DIR")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("shell", choices=SHELLS, help="whose script to print")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        raise InputError("completion needs shtab: pip install 'transition-parser[completion]'") from None
    from transition_parser.cli.main import build_parser

    parser = build_parser()
    preamble = _complete(parser)
    script = shtab.complete(parser, arguments.shell, preamble=preamble)
    print(script)
    return 0


def _complete(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Tell shtab the kind of each argument, and return the functions that its script needs."""
    import shtab

    models, configs = _models(), _configs()
    for action in list(parser._actions):  # argparse has no public list of its arguments
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete(command)
        elif action.choices is None and action.nargs != 0:
            metavar = str(action.metavar)
            if metavar == "MODEL":
                action.complete = _either(models, "models")  # type: ignore[attr-defined]
            elif metavar == "CONFIG":
                action.complete = _either(configs, "configs")  # type: ignore[attr-defined]
            elif metavar in _FOLDERS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return {
        "bash": "".join(_bash(name, values) for name, values in (("models", models), ("configs", configs))),
        "zsh": "".join(_zsh(name, values) for name, values in (("models", models), ("configs", configs))),
        "tcsh": "",
    }


def _either(names: list[str], what: str) -> dict[str, str]:
    """Return the completion of an argument that is one of some names, or a file."""
    return {
        "bash": f"_transition_parser_{what}",
        "zsh": f"_transition_parser_{what}",
        "tcsh": f"({' '.join(names)})",
    }


def _bash(name: str, values: list[str]) -> str:
    return f"""
_transition_parser_{name}() {{
  compgen -W "{" ".join(values)}" -- "$1"
  compgen -f -- "$1"
}}
"""


def _zsh(name: str, values: list[str]) -> str:
    return f"""
_transition_parser_{name}() {{
  _alternative '{name}:{name}:({" ".join(values)})' 'files:file:_files'
}}
"""


def _models() -> list[str]:
    from transition_parser.storage.cards import BEST, named_models

    return [*BEST, *named_models()]


def _configs() -> list[str]:
    from transition_parser.training.flags import config_names

    return config_names()
