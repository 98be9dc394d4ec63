"""Print a script that lets a shell complete the commands, options, models and systems of `transition-parser`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from transition_parser.base.errors import needs_extra

HELP = "print a completion script for bash, zsh or tcsh"
EXAMPLE = """example:
  transition-parser completion bash > ~/.local/share/bash-completion/completions/transition-parser
  transition-parser completion zsh > ~/.zfunc/_transition-parser      # any folder in $fpath
  transition-parser completion tcsh > ~/.transition-parser.csh        # source it in ~/.tcshrc"""
# metavars of arguments that are files, and of arguments that are folders
_FILES = ("FILE", "IN", "GOLD", "SYSTEM", "CONLLU", "AMR", "CHECKPOINT", "PICTURE", "PARSED")
_FOLDERS = ("FOLDER", "DIR")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="shell to print the script for")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    with needs_extra("completion", "scripts for shells"):
        import shtab
    from transition_parser.cli.main import build_parser
    from transition_parser.storage.cards import BEST, model_names
    from transition_parser.training.flags import config_names

    parser = build_parser()
    completers = dict.fromkeys(_FILES, shtab.FILE) | dict.fromkeys(_FOLDERS, shtab.DIRECTORY)
    completers |= {
        "MODEL": _name_or_file("models", [*BEST, *model_names()]),
        **dict.fromkeys(("CONFIG", "TREEBANK|CONFIG"), _name_or_file("configs", config_names())),
    }
    _complete(parser, completers)
    print(shtab.complete(parser, arguments.shell))
    return 0


def _complete(parser: argparse.ArgumentParser, completers: Mapping[str, Any]) -> None:
    """Give shtab the completer of each argument.

    completers: metavar of an argument → its completer
    """
    for action in parser._actions:  # argparse has no public list of its arguments
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete(command, completers)
        elif action.metavar in completers and action.choices is None:
            action.complete = completers[str(action.metavar)]  # type: ignore[attr-defined]


def _name_or_file(what: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the completer of an argument that is one of these names or a file."""
    listed, function = " ".join(names), f"_transition_parser_{what}"
    bash = f'{function}() {{ compgen -W "{listed}" -- "$1"; compgen -f -- "$1"; }}'
    zsh = f"{function}() {{ _alternative '{what}:{what}:({listed})' 'files:file:_files'; }}"
    return {"bash": function, "zsh": function, "tcsh": f"({listed})", "preamble": {"bash": bash, "zsh": zsh}}
