"""The cost of a call in steps, which no clock measures."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(call: Callable[[], Any]) -> int:
    """How many lines of Python a call runs, each as often as it is reached."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Callable:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def grows_linearly(call: Callable[[int], Any], size: int) -> bool:
    """Whether four times the size takes at most five times the lines (sixteen where the cost is quadratic)."""
    call(size)  # fills caches
    return lines_run(lambda: call(4 * size)) <= 5 * lines_run(lambda: call(size))
