"""Which part of a cross runs by default: the rest has the marker `slow`, and runs with `run/test.sh --slow`."""

from collections.abc import Iterable

import pytest

from transition_parser.kernels.encoders import has_int8

needs_int8 = pytest.mark.skipif(not has_int8(), reason="this processor multiplies no integers, or there are no kernels")
# (system, kind of `small_models.MODELS`): each way to see the parser state once, and each system
USUAL = (
    *(("arc-hybrid-swap", kind) for kind in ("positions", "columns", "bot", "heads", "structures", "state graph")),
    *(("arc-eager", "stack attention"), ("arc-standard", "composed")),
    *(("amr", kind) for kind in ("positions", "stack attention")),
)
USUAL_KINDS = ("positions", "stack attention", "structures", "state graph")


def mostly_slow(values: Iterable, *usual) -> list:
    """Return parameters for all values; all but the usual ones are slow. A tuple is the values of several arguments."""
    return [value if value in usual else pytest.param(*_arguments(value), marks=pytest.mark.slow) for value in values]


def _arguments(value: object) -> tuple:
    return value if isinstance(value, tuple) else (value,)
