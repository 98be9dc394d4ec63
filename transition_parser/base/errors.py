"""Errors that a user can mend: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike


class InputError(ValueError):
    """Bad input or usage. The command line prints it as one line and exits with status 2."""


class NotFiniteError(ValueError):
    """The scores of a network are NaN or infinite: its weights, although finite, are too large."""


class ParserWarning(UserWarning):
    """What a user should know of and can mend. The command line prints it as one line."""


def input_error(
    problem: str,
    path: str | PathLike | None = None,
    line: int | None = None,
    sentence: str | None = None,
) -> InputError:
    """An `InputError` whose message begins with the position.

    >>> str(input_error("word 5 has head 19", "train.conllu", 812, "weblog-7"))
    'train.conllu:812: sentence weblog-7: word 5 has head 19'
    """
    position = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
    name = "" if sentence is None else f"sentence {sentence}: "
    return InputError(f"{position}{name}{problem}")


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Around imports of what an extra of the package brings. Raises `InputError` where it is not installed.

    >>> with needs_extra("draw", "pictures"):
    ...     import matplotlub
    Traceback (most recent call last):
    ...
    transition_parser.base.errors.InputError: pictures need the extra `draw` (No module named 'matplotlub'): \
pip install 'transition-parser[draw]'
    """
    try:
        yield
    except ImportError as error:
        raise missing_extra(extra, what, str(error)) from None


def missing_extra(extra: str, what: str, problem: str) -> InputError:
    """The error that says how to get an extra of the package."""
    return InputError(f"{what} need the extra `{extra}` ({problem}): pip install 'transition-parser[{extra}]'")


def shortened(text: str, most: int = 60) -> str:
    """`text`, or its beginning and `...` where it is longer than `most`: messages quote what a file holds.

    >>> shortened("9" * 5000, 8)
    '99999...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."
