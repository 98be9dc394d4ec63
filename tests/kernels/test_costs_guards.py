"""What the kernel of costs would misread is a `ValueError` that says what is wrong."""

from __future__ import annotations

import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.kernels import costs_kernels
from transition_parser.states.specs import effects_table
from transition_parser.states.table import ActionClass

ROWS, WIDTH = 2, 6
ACTIONS = [ActionClass.NEVER, ActionClass.SHIFT, ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC]
needs_kernel = pytest.mark.skipif(costs_kernels.library() is None, reason="there are no kernels here")


def arguments(system: str = "arc-standard") -> dict:
    """Two rows of 4 words: 0 ← 1 ← 2 → 3, of which 3 is in the buffer, and 0, 1 and 2 on the stack."""
    numbers = torch.arange(WIDTH).repeat(ROWS, 1)
    return {
        **{"loss": system.removesuffix("-swap"), "effects": effects_table(system, torch.device("cpu"))[ACTIONS]},
        **{"root": torch.tensor([4, 4]), "stack": numbers.clone(), "depth": torch.tensor([3, 3])},
        **{"buffer": (numbers - 4).abs(), "buffer_size": torch.tensor([2, 2]), "arcs": None},
        **{"words": torch.tensor([[4, 2, 1, 3]] * ROWS), "heads": torch.tensor([[1, 2, 4, 2, 4, 4]] * ROWS)},
        "rank": None,
    }


def changed(name: str, index: tuple[int, ...], value: int) -> dict:
    tensor = arguments()[name].clone()
    tensor[index] = value
    return {name: tensor}


def numbered(*shape: int, kind: torch.dtype = torch.long) -> torch.Tensor:
    return torch.zeros(shape, dtype=kind)


def test_the_kernel_is_there_on_linux():
    """Else what follows would be tested without it."""
    if sys.platform == "linux":
        assert costs_kernels.library() is not None


@needs_kernel
def test_what_is_right_is_computed():
    """1 can have one of its arcs alone, so that RIGHT-ARC, which loses the three arcs of 2, costs two."""
    assert costs_kernels.lost_arcs(**arguments()).t().tolist() == [[0, 0, 0, 2]] * ROWS


@needs_kernel
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"loss": "amr"}, "it is amr"),
        ({"stack": numbered(ROWS, 1)}, "room for a word"),
        ({"effects": numbered(4, 7)}, "effects must be"),
        ({"root": torch.zeros(ROWS, device="meta", dtype=torch.long)}, "root must be"),
        ({"depth": numbered(ROWS + 1)}, "depth must be"),
        ({"buffer_size": numbered(ROWS, 1)}, "buffer_size must be"),
        ({"buffer": numbered(ROWS, WIDTH, kind=torch.bool)}, "buffer must be"),
        ({"arcs": numbered(ROWS, WIDTH - 1)}, "arcs must be"),
        ({"words": numbered(ROWS, 3)}, "words must be"),
        ({"heads": torch.zeros(ROWS, WIDTH)}, "heads must be"),
        ({"rank": numbered(WIDTH, ROWS).t()}, "rank must be"),
        (changed("effects", (1, 0), 4), "no such number"),
        (changed("effects", (1, 1), -1), "no such number"),
        (changed("effects", (1, 3), 4), "no such number"),
        (changed("effects", (1, 2), -1), "no such number"),
        (changed("root", (1,), 0), "root: not behind a word"),
        (changed("root", (1,), WIDTH), "root: not behind a word"),
        (changed("depth", (1,), WIDTH + 1), "beyond the width"),
        (changed("buffer_size", (1,), -1), "beyond the width"),
        (changed("stack", (1, 0), WIDTH), "beyond the words"),
        (changed("buffer", (1, 0), -1), "beyond the words"),
        (changed("words", (1, 3), WIDTH), "beyond the words"),
        (changed("heads", (1, 5), -1), "beyond the words"),
        ({"rank": torch.full((ROWS, WIDTH), WIDTH)}, "beyond the words"),
    ],
)
def test_what_is_wrong_is_refused(change, problem):
    with pytest.raises(ValueError, match=problem):
        costs_kernels.lost_arcs(**{**arguments(), **change})


@needs_kernel
@pytest.mark.parametrize("system", ["arc-hybrid-swap", "arc-standard-swap", "arc-eager", "arc-standard"])
@given(data=st.data())
def test_any_numbers_are_read_or_refused(system, data):
    """Nothing is read beyond the arrays, and nothing runs in circles, whatever is in them."""

    def some(*shape: int, least: int = 0, most: int = WIDTH - 1) -> torch.Tensor:
        count = torch.Size(shape).numel()
        return torch.tensor(data.draw(st.lists(st.integers(least, most), min_size=count, max_size=count))).view(shape)

    drawn = {name: some(ROWS, WIDTH) for name in ("stack", "buffer", "heads")}
    drawn |= {"words": some(ROWS, 4), "root": some(ROWS, least=1)}
    drawn |= {name: some(ROWS, most=WIDTH) for name in ("depth", "buffer_size")}
    drawn["rank"] = some(ROWS, WIDTH) if system.endswith("swap") else None
    drawn["arcs"] = some(ROWS, WIDTH, least=-1) if system == "arc-eager" else None
    lost = costs_kernels.lost_arcs(**{**arguments(system), **drawn})
    assert lost.shape == (len(ACTIONS), ROWS) and (lost.abs() <= 4 * WIDTH).all()
