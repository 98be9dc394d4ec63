"""Errors that a user can mend: what is wrong, where, and what to do about it."""

from __future__ import annotations

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


def shortened(text: str, most: int = 60) -> str:
    """`text`, or its beginning and `...` where it is longer than `most`: messages quote what a file holds.

    >>> shortened("9" * 5000, 8)
    '99999...'
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."
