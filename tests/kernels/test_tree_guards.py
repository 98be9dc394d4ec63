"""What the kernels of trees would misread is a `ValueError` that says what is wrong."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.base.errors import NotFiniteError
from transition_parser.kernels import loader, trees
from transition_parser.states.machine import columns_of_situations, effects_table
from transition_parser.states.table import ActionClass

ROWS, WIDTH = 2, 6
ACTIONS = [ActionClass.NEVER, ActionClass.SHIFT, ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC]
pytestmark = pytest.mark.skipif(loader.library() is None, reason="there are no kernels here")


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


def test_what_is_right_is_computed():
    """1 can have one of its arcs alone, so that RIGHT-ARC, which loses the three arcs of 2, costs two."""
    assert trees.lost_arcs(**arguments()).t().tolist() == [[0, 0, 0, 2]] * ROWS


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
        trees.lost_arcs(**{**arguments(), **change})


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
    lost = trees.lost_arcs(**{**arguments(system), **drawn})
    assert lost.shape == (len(ACTIONS), ROWS) and (lost.abs() <= 4 * WIDTH).all()


NAN, INFINITE = float("nan"), float("inf")


def longs(*numbers) -> torch.Tensor:
    return torch.tensor(numbers)


def search_trees(**changed) -> trees.FoundDerivations:
    """Sentences of 2 words and of 1 word, 4 actions of arc-hybrid and `</s>`."""
    system, cpu = "arc-hybrid", torch.device("cpu")
    of_machine = {"column": longs(1, 2, 4, 5, 6), "effects": effects_table(system, cpu),
                  "legal": columns_of_situations(system, cpu), "swaps_per_word": 0}  # fmt: skip
    good = {"words": torch.randn(2, 3, 3, 32), "bias": torch.randn(32), "output": torch.nn.Linear(32, 5),
            "ranks": (2, 1, -1), "lengths": longs(2, 1), "beam": 2, "most": 5}  # fmt: skip
    of_machine |= {name: changed.pop(name) for name in list(changed) if name in of_machine}
    given = {**good, **changed}
    return trees.search_trees(**given, machine=trees.TreeMachine(**of_machine))


def test_trees_are_complete():
    """Each word is shifted, and gets a head by an arc; the root is never a word of the stack."""
    found = search_trees()
    assert found.counts.tolist()[1] >= 1
    assert found.steps[0, : found.counts[0]].tolist() == [4] * int(found.counts[0])
    assert found.steps[1, : found.counts[1]].tolist() == [2] * int(found.counts[1])
    assert (found.added <= 0).all()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"words": torch.randn(2, 3, 3, 32).double()}, "words must be"),
        ({"words": torch.randn(2, 3, 32, 3).transpose(2, 3)}, "words must be"),
        ({"words": torch.randn(2, 2, 3, 32)}, "lengths: beyond"),
        ({"bias": torch.randn(31)}, "bias must be"),
        ({"output": torch.nn.Linear(16, 5), "words": torch.randn(2, 3, 3, 16)}, "32 numbers"),
        ({"output": torch.nn.Linear(64, 5)}, "weight must be"),
        ({"output": torch.nn.Linear(32, 5).double()}, "32 numbers"),
        ({"output": torch.nn.Linear(32, 6)}, "column must be"),
        ({"ranks": (2, 1)}, "ranks must be"),
        ({"ranks": (2, 0, -1)}, "ranks: no word"),
        ({"lengths": longs(2)}, "lengths must be"),
        ({"lengths": longs(2, 1).int()}, "lengths must be"),
        ({"lengths": longs(2, 3)}, "lengths: beyond"),
        ({"lengths": longs(2, -1)}, "lengths: beyond"),
        ({"column": longs(1, 2, 4, 5, 21)}, "column: beyond"),
        ({"column": longs(1, 2, 4, 5, -1)}, "column: beyond"),
        ({"effects": torch.zeros(21, 7).long()}, "effects must be"),
        ({"effects": torch.full((21, 8), 9)}, "effects: a word"),
        ({"legal": torch.ones(255, 21).bool()}, "legal must be"),
        ({"legal": torch.zeros(256, 20).bool()}, "legal must be"),
        ({"beam": 0}, "1 or more"),
        ({"most": 0}, "1 or more"),
        ({"most": 2}, "search does not end"),
    ],
)
def test_search_trees(changed, problem):
    with pytest.raises(ValueError, match=problem):
        search_trees(**changed)


@pytest.mark.parametrize("number", [NAN, INFINITE, -INFINITE])
def test_search_trees_needs_finite_scores(number):
    for changed in ({"words": torch.full((2, 3, 3, 32), number)}, {"bias": torch.full((32,), number)}):
        with pytest.raises(NotFiniteError):
            search_trees(**changed)


PUSH = [0, 0, 0, 3, 1, 0, 0, 0]  # the front goes to the stack


def replay_derivation(**changed) -> None:
    """SHIFT, and an arc from the root: 3 tokens, 2 columns, 1 word."""
    good = {
        "token": longs(1, 2), "log_prob": torch.zeros(2, dtype=torch.double), "words": 1, "column": longs(0, 0, 1),
        "relation": longs(0, 0, 5), "effects": longs(PUSH, [1, 3, 1, 0, 0, 0, 0, 0]),
        "attach": torch.zeros(256, dtype=torch.long),
    }  # fmt: skip
    assert trees.replay_derivation(**{**good, **changed}) == ([1], [5], [0.0])


def test_a_replayed_derivation():
    replay_derivation()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"token": longs(1, 2).int()}, "token must be"),
        ({"log_prob": torch.zeros(1, dtype=torch.double)}, "log_prob must be"),
        ({"log_prob": torch.zeros(2)}, "log_prob must be"),
        ({"words": 0}, "words must be 1 or more"),
        ({"column": longs(0, 0, 1).int()}, "column must be"),
        ({"relation": longs(0, 0)}, "relation must be"),
        ({"effects": torch.zeros(2, 7).long()}, "effects must be"),
        ({"attach": torch.zeros(128, dtype=torch.long)}, "attach must be"),
        ({"token": longs(1, 3)}, "token: beyond"),
        ({"token": longs(-1, 2)}, "token: beyond"),
        ({"column": longs(0, 0, 2)}, "column: beyond"),
        ({"token": longs(2, 2)}, "beyond the stack or the buffer"),
        ({"effects": longs(PUSH, [4, 3, 1, 0, 0, 0, 0, 0])}, "effects: "),
        ({"effects": longs(PUSH, [1, -1, 1, 0, 0, 0, 0, 0])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, 0, 4, 0, 0, 0, 0])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, 0, 0, 0, 0, 0, 9])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, -3, 0, 0, 0, 0, 0])}, "beyond the stack or the buffer"),
        ({"effects": longs(PUSH, [0, 0, 0, 0, 3, 0, 0, 0])}, "beyond the stack or the buffer"),
    ],
)
def test_replayed_derivations(changed, problem):
    with pytest.raises(ValueError, match=problem):
        replay_derivation(**changed)


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        (torch.tensor([3, 0, 0], dtype=torch.int32), "heads must be"),
        (longs([3, 0, 0], [0, 0, 0]), "heads must be"),
        (longs(3, 0, 4), "head: beyond"),
        (longs(3, 0, -1), "head: beyond"),
        (longs(3, 2, 1), "head: no tree"),
        (longs(0, 3, 1), "head: no tree"),
        (longs(3, 3, 1), "head: no tree"),
        (longs(0), "head: no tree"),
        (torch.zeros(0, dtype=torch.long), "head: no tree"),
    ],
)
def test_derive_tree(heads, problem):
    with pytest.raises(ValueError, match=problem):
        trees.derive_tree(heads)
