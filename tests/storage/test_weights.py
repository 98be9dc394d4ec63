"""Weights: compared with a model, set, refused."""

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from transition_parser.base.errors import InputError
from transition_parser.modules.precision import check_finite
from transition_parser.storage.exports import own_names, packed_weights, set_weights, stored_weights


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.output = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        self.output.weight = self.embed.weight
        self.register_buffer("made", torch.ones(2), persistent=False)


def test_a_tensor_with_two_names_is_given_under_one_or_both():
    model = Tied()
    assert own_names(model) == {"embed.weight": "embed.weight", "output.weight": "embed.weight"}
    for names in (["embed.weight"], ["embed.weight", "output.weight"]):
        weights = dict.fromkeys(names, torch.rand(5, 3))
        set_weights(model, weights, "x")
        assert torch.equal(model.output.weight, weights["embed.weight"])
    with pytest.raises(InputError, match=r"x: 'embed\.weight' is missing"):
        set_weights(model, {"output.weight": torch.rand(5, 3)}, "x")
    weights["output.weight"] = torch.rand(5, 3)
    with pytest.raises(InputError, match=r"x: 'output\.weight' and 'embed\.weight' must be equal"):
        set_weights(model, weights, "x")


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_stored_weights_are_the_weights(bits, tmp_path):
    torch.manual_seed(1)
    weights = {"matrix": torch.randn(7, 100) * 10 ** torch.arange(-6.0, 1)[:, None], "vector": torch.randn(100)}
    weights |= {"narrow": torch.randn(100, 8), "zeros": torch.zeros(3, 64), "deep": torch.randn(2, 3, 100)}
    save_file(packed_weights(weights, bits, "x"), tmp_path / "w")
    stored = stored_weights(tmp_path / "w")
    assert stored.keys() == weights.keys()
    for name, value in weights.items():
        if bits == 32:
            assert torch.equal(stored[name], value)
        elif bits == 16 or name not in ("matrix", "zeros"):
            assert torch.equal(stored[name], value.half())
        else:  # within half a step of the row's scale
            step = value.abs().amax(1, keepdim=True) / 127
            assert ((stored[name] - value).abs() <= 0.501 * step).all()


def test_weights_of_8_bits_take_a_quarter_and_are_the_same_when_stored_again(tmp_path):
    weights = {"matrix": torch.randn(300, 400)}
    save_file(packed_weights(weights, 8, "x"), tmp_path / "w")
    assert (tmp_path / "w").stat().st_size < 1.02 * 300 * 400
    once = stored_weights(tmp_path / "w")
    again = packed_weights(once, 8, "x")
    assert torch.equal(again["matrix"], packed_weights(weights, 8, "x")["matrix"])


@pytest.mark.parametrize(
    ("tensors", "problem"),
    [
        ({"a": torch.ones(2, 3).char()}, "'a' is of type I8, but 'a.scale' has no scale of each row"),
        ({"a": torch.ones(2, 3).char(), "a.scale": torch.ones(3)}, "'a.scale' has no scale of each row"),
        ({"a": torch.ones(2, 3).char(), "a.scale": torch.ones(2).long()}, "'a.scale' has no scale of each row"),
        ({"a": torch.ones(2, 3).int(), "a.scale": torch.ones(2)}, "'a' is of type I32"),
    ],
)
def test_whole_numbers_without_their_scales(tensors, problem, tmp_path):
    save_file(tensors, tmp_path / "w")
    with pytest.raises(InputError, match=problem):
        stored_weights(tmp_path / "w")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_one_number_that_is_none(value):
    weights = {"a": torch.rand(4, 4), "b": torch.rand(4, 4)}
    check_finite(weights, "x")
    weights["b"][3, 2] = value
    with pytest.raises(InputError, match="x: 'b' holds"):
        check_finite(weights, "x")
