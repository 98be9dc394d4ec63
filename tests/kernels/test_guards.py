"""What C would misread is a `ValueError` that says which argument is wrong."""

from __future__ import annotations

import pytest
import torch

from tests.kernels.test_encoders import indicated_case
from transition_parser.kernels import encoders, loader

pytestmark = pytest.mark.skipif(loader.library() is None, reason="there are no kernels here")
NAN, INFINITE = float("nan"), float("inf")


def longs(*numbers) -> torch.Tensor:
    return torch.tensor(numbers)


def indicated_attention(**changed) -> None:
    torch.manual_seed(1)
    encoders.indicated_attention(**{**indicated_case(2, 32, True), **changed})


ITEM, INDEX = torch.zeros(5, 9, dtype=torch.long), torch.zeros(9, dtype=torch.long)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query": torch.randn(2, 5, 32).double()}, "query must be"),
        ({"query": torch.randn(2, 5, 48)}, "query must be"),
        ({"query": torch.randn(2, 1, 5, 32)}, "query must be"),
        ({"query": torch.full((2, 5, 32), NAN)}, "not finite"),
        ({"keys": torch.randn(2, 1, 30, 32).bfloat16()}, "keys must be"),
        ({"keys": torch.full((2, 1, 30, 32), INFINITE)}, "not finite"),
        ({"values": torch.randn(2, 1, 29, 32)}, "values must be"),
        ({"item": None}, "index must be"),
        ({"item": ITEM[:2]}, "item must be"),
        ({"item": ITEM.int()}, "item must be"),
        ({"item": ITEM + 30}, "item: beyond"),
        ({"item": ITEM - 1}, "item: beyond"),
        ({"key_indicators": torch.randn(2, 7, 32).double()}, "indicators of keys and of values must be"),
        ({"value_indicators": torch.randn(2, 6, 32)}, "indicators of keys and of values must be"),
        ({"index": INDEX.int()}, "index must be"),
        ({"index": INDEX[:8]}, "index must be"),
        ({"index": INDEX[None, None, None]}, "index must be"),
        ({"index": INDEX + 7}, "index: beyond"),
        ({"index": INDEX - 1}, "index: beyond"),
        ({"unseen": torch.zeros(5, 9)}, "unseen must be"),
        ({"unseen": torch.zeros(4, 9, dtype=torch.bool)}, "unseen must be"),
    ],
)
def test_indicated_attention(changed, problem):
    with pytest.raises(ValueError, match=problem):
        indicated_attention(**changed)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"x": torch.randn(5, 64).double()}, "x must be"),
        ({"x": torch.randn(5, 48)}, "x must be"),
        ({"x": torch.randn(64, 5).t()}, "x must be"),
        ({"added": torch.randn(4, 64)}, "added must be"),
        ({"norm": torch.nn.LayerNorm(96)}, "weight must be"),
        ({"norm": torch.nn.LayerNorm(64).bfloat16()}, "weight must be"),
        ({"norm": torch.nn.LayerNorm(64, elementwise_affine=False)}, "weight and a bias"),
        ({"norm": torch.nn.LayerNorm(64, bias=False)}, "weight and a bias"),
    ],
)
def test_add_and_normalise(changed, problem):
    good = {"x": torch.randn(5, 64), "added": torch.randn(5, 64), "norm": torch.nn.LayerNorm(64)}
    with pytest.raises(ValueError, match=problem), torch.no_grad():
        encoders.add_and_normalise(**{**good, **changed})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query": torch.randn(9, 64).double()}, "query must be"),
        ({"query": torch.randn(3, 3, 64)}, "query must be"),
        ({"heads": 3}, "query must be"),
        ({"heads": 4}, "query must be"),
        ({"query": torch.randn(64, 9).t()}, "query must be"),
        ({"keys": torch.randn(8, 64)}, "keys must be"),
        ({"keys": torch.randn(9, 64).bfloat16()}, "keys must be"),
        ({"values": torch.randn(9, 128)}, "values must be"),
        ({"values": torch.randn(9, 128)[:, ::2]}, "values must be"),
        ({"values": torch.randn(64).expand(9, 64)}, "values must be"),
        ({"lengths": torch.tensor([4, 6], dtype=torch.int32)}, "first or lengths"),
        ({"lengths": torch.tensor([4, 3], dtype=torch.int32), "longest": 3}, "first or lengths"),
        ({"lengths": torch.tensor([4, -1], dtype=torch.int32)}, "first or lengths"),
        ({"lengths": longs(4, 5)}, "lengths must be"),
        ({"first": torch.tensor([-1, 4], dtype=torch.int32)}, "first or lengths"),
        ({"first": torch.tensor([0, 10], dtype=torch.int32)}, "first or lengths"),
        ({"first": torch.tensor([0], dtype=torch.int32)}, "lengths must be"),
        ({"query": torch.full((9, 64), NAN)}, "not finite"),
        ({"keys": torch.full((9, 64), INFINITE)}, "not finite"),
    ],
)
def test_self_attention_of_sentences(changed, problem):
    good = {"query": torch.randn(9, 64), "keys": torch.randn(9, 64), "values": torch.randn(9, 64), "heads": 2,
            "first": torch.tensor([0, 4], dtype=torch.int32), "lengths": torch.tensor([4, 5], dtype=torch.int32),
            "longest": 5}  # fmt: skip
    assert encoders.self_attention(**good).shape == (9, 64)
    with pytest.raises(ValueError, match=problem):
        encoders.self_attention(**{**good, **changed})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"found": torch.randn(2, 6, 64).double()}, "found must be"),
        ({"found": torch.randn(2, 6, 48)}, "found must be"),
        ({"found": torch.randn(12, 64)}, "found must be"),
        ({"found": torch.randn(2, 64, 6).transpose(1, 2)}, "found must be"),
        ({"recurrent": torch.randn(2, 6, 128)}, "recurrent must be"),
        ({"recurrent": torch.randn(2, 6, 192).bfloat16()}, "recurrent must be"),
        ({"recurrent": torch.randn(2, 7, 192)[:, 1:]}, "recurrent must be"),
        ({"words": torch.randn(2, 4, 192)}, "6 a multiple of M"),
        ({"words": torch.randn(2, 0, 192)}, "6 a multiple of M"),
        ({"words": torch.randn(192)}, "words must be"),
        ({"words": torch.randn(6, 192)}, "words must be"),
        ({"found": torch.full((2, 6, 64), NAN)}, "not finite"),
        ({"words": torch.randn(1, 3, 192)}, "words must be"),
        ({"words": torch.randn(2, 3, 64)}, "words must be"),
        ({"words": torch.randn(3, 2, 192).transpose(0, 1)}, "words must be"),
        ({"words": torch.full((2, 3, 192), NAN)}, "not finite"),
        ({"recurrent": torch.full((2, 6, 192), -INFINITE)}, "not finite"),
    ],
)
def test_a_step_of_gated_passes(changed, problem):
    good = {"found": torch.randn(2, 6, 64), "recurrent": torch.randn(2, 6, 192), "words": torch.randn(2, 3, 192)}
    with pytest.raises(ValueError, match=problem):
        encoders.gated_step(**{**good, **changed})


def test_words_of_one_pass_are_not_read_as_those_of_two():
    """Their shape is that of the words of one pass."""
    with pytest.raises(ValueError, match="words must be"):
        encoders.gated_step(torch.randn(2, 192, 64), torch.randn(2, 192, 192), torch.randn(192, 192))


LETTERS = {
    "letters": torch.tensor([[1, 2, 0], [0, 0, 0]]),
    "sizes": [2, 3],
    "tables": torch.zeros(5, 4, 64),
    "biases": torch.zeros(2, 64),
}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"letters": torch.tensor([[1, 4, 0]])}, "letters: beyond the symbols"),
        ({"letters": torch.tensor([[-1, 4, 0]])}, "letters: beyond the symbols"),
        ({"letters": torch.zeros(2, 65, dtype=torch.long)}, "L from 1 to 64"),
        ({"letters": torch.zeros(2, 3, dtype=torch.int32)}, "letters must be torch.int64"),
        ({"sizes": [5]}, "a size for each of 2 windows"),
        ({"sizes": [0, 5]}, "a size for each of 2 windows"),
        ({"sizes": [3, 3]}, "tables must be torch.float32, .6, 4, 64."),
        ({"tables": torch.zeros(5, 4, 60), "biases": torch.zeros(2, 60)}, "a multiple of 64 filters"),
        ({"tables": torch.zeros(5, 4, 64, dtype=torch.bfloat16)}, "tables must be torch.float32"),
    ],
)
def test_letter_maxima_checks_its_arguments(lanes, changed, problem):
    encoders.letter_maxima(**LETTERS)
    with pytest.raises(ValueError, match=problem):
        encoders.letter_maxima(**{**LETTERS, **changed})
