"""What C would misread is a `ValueError` that says which argument is wrong."""

import pytest
import torch

from transition_parser.base.errors import NotFiniteError
from transition_parser.kernels import encoders, loader, searches
from transition_parser.states.machine import columns_of_situations, effects_table
from transition_parser.states.table import ActionClass

pytestmark = pytest.mark.skipif(loader.library() is None, reason="there are no kernels here")
NAN, INFINITE, CPU = float("nan"), float("inf"), torch.device("cpu")
ROWS, WIDTH = 2, 6
ACTIONS = [ActionClass.NEVER, ActionClass.SHIFT, ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC]
PUSH, ARC = [0, 0, 0, 3, 1, 0, 0, 0], [1, 3, 1, 0, 0, 0, 0, 0]  # the front goes to the stack; the front heads the top


def longs(*numbers) -> torch.Tensor:
    return torch.tensor(numbers)


def ints(*numbers) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32)


def search_trees(column, effects, legal, **others) -> searches.FoundDerivations:
    return searches.search_trees(**others, machine=searches.TreeMachine(column, effects, legal, 0))


def search_case() -> dict:
    """Sentences of 2 words and of 1 word, 4 actions of arc-hybrid and `</s>`."""
    return {
        **{"column": longs(1, 2, 4, 5, 6), "effects": effects_table("arc-hybrid", CPU)},
        **{"legal": columns_of_situations("arc-hybrid", CPU), "words": torch.randn(2, 3, 3, 32)},
        **{"bias": torch.randn(32), "output": torch.nn.Linear(32, 5), "ranks": (2, 1, -1)},
        **{"lengths": longs(2, 1), "beam": 2, "most": 5},
    }


def replay_case() -> dict:
    """SHIFT, and an arc from the root: 3 tokens, 2 columns, 1 word."""
    return {
        **{"token": longs(1, 2), "log_prob": torch.zeros(2, dtype=torch.double), "words": 1, "column": longs(0, 0, 1)},
        **{"relation": longs(0, 0, 5), "effects": longs(PUSH, ARC), "attach": torch.zeros(256, dtype=torch.long)},
    }


def attention_case() -> dict:
    return {
        **{"query": torch.randn(9, 64), "keys": torch.randn(9, 64), "values": torch.randn(9, 64), "heads": 2},
        **{"first": ints(0, 4), "lengths": ints(4, 5), "longest": 5},
    }


def recurrent(kind: str, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    layers = [torch.nn.Linear(inputs, 128) for inputs in (8, 32, 8, 32)]
    return encoders.RecurrentLayer(kind, layers)(x, lengths)


def letters_case() -> dict:
    return {
        **{"letters": longs([1, 2, 0], [0, 0, 0]), "sizes": [2, 3]},
        **{"tables": torch.zeros(5, 4, 64), "biases": torch.zeros(2, 64)},
    }


KERNELS = {
    "self_attention": (encoders.self_attention, attention_case),
    "recurrent_layer": (recurrent, lambda: {"kind": "lstm", "x": torch.randn(2, 3, 8), "lengths": longs(3, 1)}),
    "letter_maxima": (encoders.letter_maxima, letters_case),
    "search_trees": (search_trees, search_case),
    "replay_derivation": (searches.replay_derivation, replay_case),
}
WRONG = {
    "self_attention": [
        ({"query": torch.randn(3, 3, 64)}, "query must be"),
        ({"heads": 3}, "query must be"),
        ({"keys": torch.randn(8, 64)}, "keys must be"),
        ({"values": torch.randn(9, 128)[:, ::2]}, "values must be"),
        ({"lengths": ints(4, 6)}, "first or lengths"),
        ({"lengths": ints(4, 3), "longest": 3}, "first or lengths"),
        ({"first": ints(0, 10)}, "first or lengths"),
        ({"query": torch.full((9, 64), NAN)}, "not finite"),
    ],
    "recurrent_layer": [
        ({"x": torch.randn(2, 3, 7)}, "x must be"),
        ({"x": torch.randn(1, 3, 8)}, "lengths must be"),
        ({"x": torch.randn(2, 2, 8)}, "first or lengths"),
        ({"lengths": longs(3, -1)}, "first or lengths"),
        ({"kind": "to target"}, "the weight must be .96, 8."),
        ({"x": torch.full((2, 3, 8), NAN)}, "not finite"),
    ],
    "letter_maxima": [
        ({"letters": longs([1, 4, 0])}, "letters: beyond the symbols"),
        ({"letters": torch.zeros(2, 65, dtype=torch.long)}, "L from 1 to 64"),
        ({"sizes": [5]}, "a size for each of 2 windows"),
        ({"sizes": [3, 3]}, "tables must be torch.float32, .6, 4, 64."),
    ],
    "search_trees": [
        ({"words": torch.randn(2, 2, 3, 32)}, "lengths: beyond"),
        ({"output": torch.nn.Linear(16, 5), "words": torch.randn(2, 3, 3, 16)}, "32 numbers"),
        ({"output": torch.nn.Linear(32, 6)}, "column must be"),
        ({"ranks": (2, 0, -1)}, "ranks: no word"),
        ({"lengths": longs(2, 3)}, "lengths: beyond"),
        ({"column": longs(1, 2, 4, 5, 21)}, "column: beyond"),
        ({"effects": torch.full((21, 8), 9)}, "effects: a word"),
        ({"beam": 0}, "1 or more"),
        ({"most": 0}, "1 or more"),
        ({"most": 2}, "search does not end"),
    ],
    "replay_derivation": [
        ({"words": 0}, "words must be 1 or more"),
        ({"token": longs(1, 3)}, "token: beyond"),
        ({"column": longs(0, 0, 2)}, "column: beyond"),
        ({"token": longs(2, 2)}, "beyond the stack or the buffer"),
        ({"effects": longs(PUSH, [4, *ARC[1:]])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, 0, 0, 0, 0, 0, 9])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, -3, 0, 0, 0, 0, 0])}, "beyond the stack or the buffer"),
        ({"effects": longs(PUSH, [0, 0, 0, 0, 3, 0, 0, 0])}, "beyond the stack or the buffer"),
    ],
}


@pytest.mark.parametrize(
    ("kernel", "changed", "problem"),
    [(kernel, changed, problem) for kernel, cases in WRONG.items() for changed, problem in cases],
)
def test_wrong_arguments_are_refused(kernel, changed, problem):
    function, good = KERNELS[kernel]
    with torch.no_grad():
        function(**good())
        with pytest.raises(ValueError, match=problem):
            function(**{**good(), **changed})


@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(2, 3, dtype=torch.double), torch.zeros(3, 2), torch.zeros(3, 2).t(), torch.zeros(2, 3, device="meta")],
)
def test_what_is_required(tensor):
    assert loader.require("x", torch.zeros(2, 3), torch.float, 2, 3) and loader.optional("x", None, torch.float) is None
    with pytest.raises(ValueError, match=r"x must be torch.float32, \(2, 3\), contiguous, on cpu; it is"):
        loader.require("x", tensor, torch.float, 2, 3)


def test_what_is_right_is_computed():
    assert searches.replay_derivation(**replay_case()) == ([1], [5], [0.0])
    found = search_trees(**search_case())
    assert found.counts[1] >= 1 and (found.added <= 0).all()
    for count, steps, actions in zip(found.counts, found.steps, (4, 2), strict=True):
        assert steps[:count].tolist() == [actions] * int(count)


@pytest.mark.parametrize("number", [NAN, INFINITE, -INFINITE])
def test_search_trees_needs_finite_scores(number):
    for changed in ({"words": torch.full((2, 3, 3, 32), number)}, {"bias": torch.full((32,), number)}):
        with pytest.raises(NotFiniteError):
            search_trees(**{**search_case(), **changed})
