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

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from transition_parser.base.errors import InputError, did_you_mean, input_error, shortened
from transition_parser.base.model_files import read_text
from transition_parser.text.columns import predicted

if TYPE_CHECKING:
    from transition_parser.parsing.formalisms import Formalism

SUFFIX = ".flags"
# flags that `train` sets, so that configs may not set them
OURS = frozenset("--save-dir --log-format --user-dir --task --no-progress-bar --log-file --restore-file".split())
_LOSSES = ("loss", "nll_loss", "ppl")  # the figures that `legal_cross_entropy` logs of every model
_PACKAGE = Path(__file__).resolve().parents[1]
# setup.py copies the configs into an installed package; in a checkout they are beside the package
FOLDERS = (_PACKAGE / "configs", _PACKAGE.parent / "configs")


class Flag(NamedTuple):
    """One flag of a config or of the command line."""

    name: str
    value: str | None = None  # None: a switch
    path: str | None = None  # the config and the line of the flag; None: a flag of the command line
    line: int | None = None

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
    hint = did_you_mean(Path(name).name.removesuffix(SUFFIX), config_names())
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
    return list({flag.name: flag for flag in flags}.values())


def arguments_of(flags: Iterable[Flag]) -> list[str]:
    """Return the flags in the form that `fairseq-train` takes."""
    return [argument for flag in flags for argument in flag[:2] if argument is not None]


def _read(path: Path, above: tuple[Path, ...]) -> list[Flag]:
    inherited: list[Flag] = []
    own: dict[str, Flag] = {}
    for number, line in enumerate(read_text(path, "give a .flags file").splitlines(), 1):
        line = line.strip()
        name, _, value = line.partition(" ")
        if line.startswith("@"):
            if own:
                problem = f"{shortened(line)} stands after flags: move it before the first flag of this file"
                raise input_error(problem, path, number)
            inherited = merged([*inherited, *_inherited(line[1:].strip(), path, number, above)])
        elif line.startswith("!"):
            removed = line[1:].strip()
            if removed not in {flag.name for flag in inherited}:
                problem = f"!{shortened(removed)}: no config that this one builds on (@CONFIG) sets that flag"
                raise input_error(f"{problem}: remove this line", path, number)
            inherited = [flag for flag in inherited if flag.name != removed]
        elif line and not line.startswith("#"):
            if not name.startswith("--") or len(name) == 2:
                problem = "is neither a flag of fairseq-train (--NAME VALUE), nor @CONFIG, !--NAME or a # comment"
                raise input_error(f"{shortened(line)!r} {problem}", path, number)
            if name in own:
                problem = f"{shortened(name)} is there twice in this file: remove one of the two lines"
                raise input_error(problem, path, number)
            own[name] = Flag(name, value.strip() or None, str(path), number)
    return merged([*inherited, *own.values()])


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


# --- checks before training ---------------------------------------------------------------------------


def check_flags(flags: Sequence[Flag], formalism: Formalism) -> None:
    """Raise `InputError`, with the line, for flags with which training can't run."""
    from transition_parser.models.registry import architecture_of
    from transition_parser.modules.pretrained import EncoderFiles
    from transition_parser.storage.checkpoints import model_path
    from transition_parser.tasks.optimization import fitting_warmup

    by_name = {flag.name: flag for flag in flags}
    for name in OURS & by_name.keys():
        raise by_name[name].error(f"{name} is set by `transition-parser train` itself: leave it out")
    if "--arch" not in by_name:
        raise InputError("the config has no --arch: add --arch NAME to name the model")
    args = _parsed_by_fairseq(flags)
    metric = by_name.get("--best-checkpoint-metric")
    known = (*formalism.figures, *_LOSSES, *(predicted() if "--tag-loss" in by_name else ()))
    # other criteria may log other figures
    if metric is not None and args.criterion == "legal_cross_entropy" and metric.value not in known:
        problem = f"--best-checkpoint-metric {shortened(str(metric.value))} is no figure of {formalism.name}"
        raise metric.error(f"{problem}: give one of {', '.join(known)}")
    try:
        if not any((args.max_epoch, args.max_update, args.stop_time_hours, args.patience > 0)):
            raise InputError("training would never end: give --max-epoch")
        if args.lr_scheduler == "epochs_polynomial":
            fitting_warmup(args.warmup_epochs, args.max_epoch)
        architecture = architecture_of(args.arch)
        architecture.options.of_namespace(args, architecture.defaults)
        if name := getattr(args, "pretrained", None):
            EncoderFiles(name)
        if (start := args.start_from) and not model_path(start).exists():
            raise InputError(f"--start-from {start}: no such checkpoint, folder or model")
    except InputError as error:  # with the line of its flag, if the message names exactly one
        named = re.findall(r"--[\w-]+", str(error))
        at = [flag for flag in flags if flag.name in named]
        raise (at[0].error(str(error)) if len(at) == 1 else error) from None


def _parsed_by_fairseq(flags: Sequence[Flag]) -> argparse.Namespace:
    from fairseq import options

    import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)

    parser = options.get_training_parser()

    def fail(message: str) -> NoReturn:
        """Raise argparse's message, instead of ending the program, with the line of the flag that it names."""
        problem = message.removeprefix("argument ").partition(" (choose from")[0]
        flag = next((flag for flag in flags if flag.name in problem.partition(":")[0].split("/")), None)
        raise InputError(problem) if flag is None else flag.error(problem)

    parser.error = fail  # type: ignore[method-assign]
    arguments = ["data", "--task", "transition_parsing", *arguments_of(flags)]
    args, _unknown = options.parse_args_and_arch(parser, arguments, parse_known=True)
    known = {name for action in parser._actions for name in action.option_strings}  # argparse has no public list
    for flag in flags:
        if flag.name not in known:
            problem = f"unknown flag {shortened(flag.name)} (with this --arch and --optimizer)"
            raise flag.error(problem + did_you_mean(flag.name, known))
    return args


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
