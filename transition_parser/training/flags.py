"""Configs: files of flags for `fairseq-train`, one a line, which may build on one another.

    # what it is
    @ewt-stack-small.flags
    !--state-positions
    --max-epoch 12

`@` names a base config, whose flags come first: a file beside this file, or else a config of the package. A flag here
replaces the base's flag of the same name, and `!` removes a flag of the base. For scripts,
`python -m transition_parser.training.flags CONFIG` prints the arguments, one a line.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.model_files import read_text

SUFFIX = ".flags"
_PACKAGE = Path(__file__).resolve().parents[1]
# setup.py copies the configs into an installed package; in a checkout they are beside the package
FOLDERS = (_PACKAGE / "configs", _PACKAGE.parent / "configs")


class Flag(NamedTuple):
    """One flag of a config or of the command line.

    value: the value; None for a switch
    path, line: the config and the line of the flag; None for a flag of the command line
    """

    name: str
    value: str | None = None
    path: str | None = None
    line: int | None = None

    @property
    def arguments(self) -> list[str]:
        """The flag in the form that `fairseq-train` takes."""
        return [self.name] if self.value is None else [self.name, self.value]

    def error(self, problem: str) -> InputError:
        """Return an error whose message begins with the config and the line of this flag."""
        return input_error(problem, self.path, self.line)


def config_names() -> list[str]:
    """Return the names of the configs of the package, without `.flags`."""
    return sorted({path.stem for folder in FOLDERS for path in folder.glob(f"*{SUFFIX}")})


def find_config(name: str | os.PathLike, beside: Path | None = None) -> Path:
    """Return the file of a config."""
    path = Path(beside or "", name)
    if path.is_file():
        return path
    if Path(name).name == str(name):
        for folder in FOLDERS:
            known = folder / f"{Path(name).name.removesuffix(SUFFIX)}{SUFFIX}"
            if known.is_file():
                return known
    close = difflib.get_close_matches(Path(name).name.removesuffix(SUFFIX), config_names(), 3)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    raise input_error(f"no such config, nor one of the package{hint}", path)


def read_flags(name: str | os.PathLike) -> list[Flag]:
    """Return the flags of a config, after the flags of the configs that it builds on."""
    return _read(find_config(name), ())


def given_flags(arguments: Sequence[str]) -> list[Flag]:
    """Return the flags in the arguments of a command line: a name begins with `--`, and its value may follow.

    >>> [tuple(flag[:2]) for flag in given_flags(["--lr", "1e-3", "--no-save", "--seed=2"])]
    [('--lr', '1e-3'), ('--no-save', None), ('--seed', '2')]
    """
    flags: list[Flag] = []
    for argument in arguments:
        if argument.startswith("--"):
            name, equals, value = argument.partition("=")
            flags.append(Flag(name, value if equals else None))
        elif flags and flags[-1].value is None:
            flags[-1] = flags[-1]._replace(value=argument)
        else:
            raise InputError(
                f"{shortened(argument)!r} is not a flag of fairseq-train: flags begin with -- and have one value"
            )
    return flags


def merged(flags: Iterable[Flag]) -> list[Flag]:
    """Return each flag once, at the place of its first occurrence and with its last value."""
    by_name: dict[str, Flag] = {}
    for flag in flags:
        by_name[flag.name] = flag
    return list(by_name.values())


def arguments_of(flags: Iterable[Flag]) -> list[str]:
    """Return the flags in the form that `fairseq-train` takes."""
    return [argument for flag in flags for argument in flag.arguments]


def check_known(flags: Iterable[Flag], known: Collection[str]) -> None:
    """Raise `InputError` for the first flag whose name is not in `known`. The message suggests the nearest name."""
    for flag in flags:
        if flag.name not in known:
            close = difflib.get_close_matches(flag.name, known, 1)
            hint = f": did you mean {close[0]}?" if close else ""
            raise flag.error(f"unknown flag {shortened(flag.name)} (with this --arch and --optimizer){hint}")


def _read(path: Path, above: tuple[Path, ...]) -> list[Flag]:
    inherited: list[Flag] = []
    own: list[Flag] = []
    for number, line in enumerate(read_text(path, "give a .flags file").splitlines(), 1):
        line = line.strip()
        if line.startswith("@"):
            if own:
                raise input_error(
                    f"{shortened(line)} stands after flags: move it before the first flag of this file", path, number
                )
            inherited = merged([*inherited, *_inherited(line[1:].strip(), path, number, above)])
        elif line.startswith("!"):
            inherited = _without(inherited, line[1:].strip(), path, number)
        elif line and not line.startswith("#"):
            own.append(_flag(line, path, number))
            if own[-1].name in {flag.name for flag in own[:-1]}:
                raise own[-1].error(
                    f"{shortened(own[-1].name)} is there twice in this file: remove one of the two lines"
                )
    return merged([*inherited, *own])


def _flag(line: str, path: Path, number: int) -> Flag:
    name, _, value = line.partition(" ")
    if not name.startswith("--") or len(name) == 2:
        problem = "is neither a flag of fairseq-train (--NAME VALUE), nor @CONFIG, !--NAME or a # comment"
        raise input_error(f"{shortened(line)!r} {problem}", path, number)
    return Flag(name, value.strip() or None, str(path), number)


def _inherited(name: str, path: Path, number: int, above: tuple[Path, ...]) -> list[Flag]:
    try:
        base = find_config(name, path.parent)
    except InputError as error:
        raise input_error(f"@{name}: {error}", path, number) from None
    chain = (*above, path.resolve())
    if base.resolve() in chain:
        circle = " → ".join(file.name for file in (*chain, base.resolve()))
        raise input_error(f"configs build on each other in a circle: {circle}", path, number)
    return _read(base, chain)


def _without(flags: list[Flag], name: str, path: Path, number: int) -> list[Flag]:
    kept = [flag for flag in flags if flag.name != name]
    if len(kept) == len(flags):
        raise input_error(
            f"!{shortened(name)}: no config that this one builds on (@CONFIG) sets that flag: remove this line",
            path,
            number,
        )
    return kept


def main(arguments: Sequence[str]) -> int:
    """Print the arguments of a config, one a line, and return the exit status, 2 for a bad config."""
    try:
        print(*arguments_of(read_flags(*arguments)), sep="\n")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:2]))
