"""What the kernel of costs would misread is a `ValueError` that says what is wrong."""

from __future__ import annotations

import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.kernels import costs_kernels

ROWS, WIDTH = 2, 5


def changed(name: str, index: tuple[int, ...], value: int) -> dict:
    tensor = arguments()[name].clone()
    tensor[index] = value
    return {name: tensor}


def arguments() -> dict:
    """Two rows of 4 words: 0 ← 1 ← 2 on the stack, of which 1 can't have both arcs; the fourth is in the buffer."""
    numbers = torch.arange(WIDTH).repeat(ROWS, 1)
    return {
        **{"stack": numbers.clone(), "depth": torch.tensor([3, 3]), "buffer": numbers == 3},
        **{"heads": torch.tensor([[1, 2, 4, 2, 4]] * ROWS), "root": torch.tensor([4, 4]), "rank": numbers},
    }


def test_the_kernel_is_there_on_linux():
    """Else what follows would be tested without it."""
    if sys.platform == "linux":
        assert costs_kernels.library() is not None


needs_kernel = pytest.mark.skipif(costs_kernels.library() is None, reason="there are no kernels here")


@needs_kernel
def test_what_is_right_is_computed():
    assert costs_kernels.arcs_given_up(**arguments()).tolist() == [1, 1]
    assert costs_kernels.arcs_given_up(**{**arguments(), "rank": None}).tolist() == [1, 1]


@needs_kernel
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"stack": torch.zeros(ROWS, 0, dtype=torch.long)}, "room for a word"),
        ({"heads": torch.zeros(ROWS, WIDTH)}, "heads must be"),
        ({"heads": torch.zeros(ROWS, WIDTH - 1, dtype=torch.long)}, "heads must be"),
        ({"depth": torch.zeros(ROWS + 1, dtype=torch.long)}, "depth must be"),
        ({"buffer": torch.zeros(ROWS, WIDTH, dtype=torch.long)}, "buffer must be"),
        ({"root": torch.zeros(ROWS, device="meta", dtype=torch.long)}, "root must be"),
        ({"rank": torch.zeros(WIDTH, ROWS, dtype=torch.long).t()}, "rank must be"),
        (changed("stack", (1, 0), WIDTH), "beyond the words"),
        (changed("stack", (1, 0), -1), "beyond the words"),
        (changed("depth", (1,), WIDTH + 1), "beyond the stack"),
        (changed("depth", (1,), -1), "beyond the stack"),
        (changed("heads", (1, 4), WIDTH), "beyond the words"),
        (changed("heads", (1, 4), -1), "beyond the words"),
        (changed("rank", (1, 4), WIDTH), "rank: beyond"),
        (changed("rank", (1, 4), -1), "rank: beyond"),
    ],
)
def test_what_is_wrong_is_refused(change, problem):
    with pytest.raises(ValueError, match=problem):
        costs_kernels.arcs_given_up(**{**arguments(), **change})


@needs_kernel
def test_heads_in_a_circle():
    """Of a word that is left out, on the way up from one that is not."""
    given_arguments = arguments() | {"depth": torch.tensor([2, 2]), "heads": torch.tensor([[2, 0, 3, 3, 4]] * ROWS)}
    given_arguments["buffer"][:, 2] = True
    with pytest.raises(ValueError, match="they form a circle"):
        costs_kernels.arcs_given_up(**given_arguments)


@needs_kernel
@given(st.data())
def test_any_numbers_are_read_or_refused(data):
    """Nothing is read beyond the arrays, whatever is in them."""
    numbers = st.integers(-1, WIDTH)
    row = st.lists(numbers, min_size=WIDTH, max_size=WIDTH)
    grids = {name: torch.tensor([data.draw(row) for _ in range(ROWS)]) for name in ("stack", "heads", "rank")}
    depth, root = (torch.tensor([data.draw(numbers) for _ in range(ROWS)]) for _ in range(2))
    buffer = torch.tensor([data.draw(row) for _ in range(ROWS)]) > 2
    try:
        given_up = costs_kernels.arcs_given_up(**grids, depth=depth, buffer=buffer, root=root)
    except ValueError:
        return
    assert (given_up <= 2 * WIDTH).all()
