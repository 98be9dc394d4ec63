"""Errors that a user can mend. Each message says what is wrong, where it is wrong, and how to mend it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from os import PathLike


class InputError(ValueError):
    """Bad input or usage. The command line prints the error as one line and exits with status 2."""


TRAIN_AGAIN = "its training has diverged: take an earlier checkpoint, or train again with a lower learning rate"


class NotFiniteError(InputError):
    """The error for network scores that are NaN or infinite because the finite weights are too large."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the weights of the model are too large: {problem}; {TRAIN_AGAIN}")


class ParserWarning(UserWarning):
    """A warning about something that a user can mend. The command line prints the warning as one line."""


class UnusedBeamWarning(ParserWarning):
    """A warning about a beam for a model that finds the best graph without one."""


def warn(message: str, category: type[Warning] = ParserWarning) -> None:
    """Give a warning that points at the line outside of this package from which the package was called."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def note(message: str) -> None:
    """Print a fact that the user may want to know, but need not change, on standard error."""
    print(f"transition-parser: note: {message}", file=sys.stderr)


def input_error(
    problem: str, path: str | PathLike | None = None, line: int | None = None, sentence: str | None = None
) -> InputError:
    """Return an `InputError` such as `train.conllu:812: sentence weblog-7: word 5 has head 19`."""
    where = shortened(str(path), 400)
    position = "" if path is None else f"{where}: " if line is None else f"{where}:{line}: "
    name = "" if sentence is None else f"sentence {shortened(sentence)}: "
    return InputError(f"{position}{name}{problem}")


@contextmanager
def errors_at(
    path: str | PathLike | None = None, line: int | None = None, sentence: str | None = None
) -> Iterator[None]:
    """Name the place in each `InputError` of the block, as `input_error` does, and in each `OSError`."""
    try:
        yield
    except InputError as error:
        raise input_error(str(error), path, line, sentence) from None
    except OSError as error:
        raise input_error(error.strerror or type(error).__name__, path, line, sentence) from None


@contextmanager
def collected(problems: list[InputError] | None) -> Iterator[None]:
    """Append an `InputError` of the block to `problems`; raise it if `problems` is None."""
    try:
        yield
    except InputError as error:
        if problems is None:
            raise
        problems.append(error)


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Raise `InputError` if an import in the block fails because an extra, which `what` needs, is not installed."""
    try:
        yield
    except ImportError as error:
        raise missing_extra(extra, what, str(error)) from None


def missing_extra(extra: str, what: str, problem: str) -> InputError:
    """Return the error that says how to install an extra; for `extra` and `what` see `needs_extra`."""
    install = f"pip install '.[{extra}]' in the clone, or 'WHEEL.whl[{extra}]'"
    return InputError(f"{what} need the extra `{extra}` ({problem}): {install}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `: did you mean en-ewt?` if one of the known names is close to a mistyped name, else an empty string."""
    close = get_close_matches(name.lower().replace("_", "-"), known, 1)
    return f": did you mean {close[0]}?" if close else ""


def shortened(text: str, most: int = 60) -> str:
    """Return `text`, cut to `most` characters ending in `...` if it is longer."""
    return text if len(text) <= most else f"{text[: most - 3]}..."
