"""Old names that keep working for one release, with a warning."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from transition_parser.base.errors import warn

P = ParamSpec("P")
R = TypeVar("R")


def renamed_argument(old: str, new: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that lets a function take its keyword argument `new` by the former name `old`, too.

    The old name gives a `DeprecationWarning`. Both names in one call raise `TypeError`.

    >>> @renamed_argument("colour", "color")
    ... def painted(color="red"):
    ...     return color
    >>> painted(color="blue")
    'blue'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def taking_both(*args: Any, **options: Any) -> R:
            if old in options:
                if new in options:
                    raise TypeError(f"{function.__name__}() got both {new!r} and {old!r}, its old name")
                warn(f"the argument {old!r} of {function.__name__}() is now called {new!r}", DeprecationWarning)
                options[new] = options.pop(old)
            return function(*args, **options)

        return taking_both

    return decorate
