"""Checks before training: fairseq-train takes the flags, and the flags fit the data."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from transition_parser.base.errors import InputError, shortened
from transition_parser.models.registry import architecture_of
from transition_parser.parsing.formalisms import FORMALISMS, Formalism
from transition_parser.schedulers.epochs_polynomial import check_epochs
from transition_parser.text.columns import predicted
from transition_parser.training.flags import Flag, arguments_of, check_known
from transition_parser.training.stages import OURS

_CRITERION = "legal_cross_entropy"
_LOSSES = ("loss", "nll_loss", "ppl")  # the figures that this criterion logs of every model


def check_flags(flags: Sequence[Flag], formalism: Formalism, options: Mapping[str, Any]) -> None:
    """Raise `InputError`, with the line, for flags with which training can't run."""
    for flag in flags:
        if flag.name in OURS:
            raise flag.error(f"{flag.name} is set by `transition-parser train` itself: leave it out")
    by_name = {flag.name: flag for flag in flags}
    _check_fit(by_name, formalism, options)
    if "--arch" not in by_name:
        raise InputError("the config has no --arch: add --arch NAME to name the model")
    args = _check_with_fairseq(flags)
    _check_metric(by_name, args.criterion, formalism)
    try:
        _check_length_and_rates(args)
        architecture = architecture_of(args.arch)
        architecture.options.of_namespace(args, architecture.defaults)
    except InputError as error:  # with the line of its flag, if the message names exactly one
        named = re.findall(r"--[\w-]+", str(error))
        at = [flag for flag in flags if flag.name in named]
        raise (at[0].error(str(error)) if len(at) == 1 else error) from None


def _check_fit(by_name: Mapping[str, Flag], formalism: Formalism, options: Mapping[str, Any]) -> None:
    metric = by_name.get("--best-checkpoint-metric")
    for other in FORMALISMS:
        if metric is not None and other is not formalism and metric.value in other.figures:
            problem = f"--best-checkpoint-metric {metric.value} is a score of {other.name}"
            raise metric.error(f"{problem}, but the files hold {formalism.name}")
    for name in ("--read-vectors", "--word-table-vectors"):
        if name in by_name and not options["vectors"]:
            raise by_name[name].error(f"{name} needs --vectors FILE")


def _check_metric(by_name: Mapping[str, Flag], criterion: str, formalism: Formalism) -> None:
    """Raise `InputError` for a metric that `legal_cross_entropy` does not log. Other criteria are not checked."""
    metric = by_name.get("--best-checkpoint-metric")
    known = (*formalism.figures, *_LOSSES, *(predicted() if "--tag-loss" in by_name else ()))
    if metric is not None and criterion == _CRITERION and metric.value not in known:
        problem = f"--best-checkpoint-metric {shortened(str(metric.value))} is no figure of validation"
        raise metric.error(f"{problem}: give one of {', '.join(known)}")


def _check_length_and_rates(args: argparse.Namespace) -> None:
    """Raise `InputError` for negative limits, training without an end, a warm-up that lasts to the end, bad rates."""
    for name in ("max_epoch", "max_update"):
        if (getattr(args, name) or 0) < 0:
            raise InputError(
                f"--{name.replace('_', '-')} {getattr(args, name)} is negative: give 0 for no limit, or a larger number"
            )
    if not any((args.max_epoch, args.max_update, args.stop_time_hours, args.patience > 0)):
        raise InputError("training would never end: give --max-epoch")
    if args.lr_scheduler == "epochs_polynomial":
        check_epochs(args.warmup_epochs, args.max_epoch)
    for rate in args.lr:
        if not 0 < rate < math.inf:
            raise InputError(f"--lr {rate:g} is not a positive number: give each learning rate as one, such as 0.0005")


def _check_with_fairseq(flags: Sequence[Flag]) -> argparse.Namespace:
    """Return the arguments as fairseq-train parses them. Raises `InputError` with argparse's message for bad values."""
    from fairseq import options

    import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)

    arguments = ["data", "--task", "transition_parsing", *arguments_of(flags)]
    parser = options.get_training_parser()

    def fail(message: str) -> NoReturn:
        """Raise argparse's message, instead of ending the program, with the line of the flag that it names."""
        problem = message.removeprefix("argument ").partition(" (choose from")[0]
        flag = next((flag for flag in flags if flag.name in problem.partition(":")[0].split("/")), None)
        raise InputError(problem) if flag is None else flag.error(problem)

    parser.error = fail  # type: ignore[method-assign]
    args, _unknown = options.parse_args_and_arch(parser, arguments, parse_known=True)
    # argparse has no public list of its options
    check_known(flags, {name for action in parser._actions for name in action.option_strings})
    return args
