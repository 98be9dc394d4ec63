"""Layers packed for bf16, and the numbers of rows that products have."""

import pytest
import torch
from torch import nn

from tests.helpers.crosses import needs_int8
from transition_parser.kernels.encoders import has_fast_bf16
from transition_parser.modules.layers import FeedForward, Int8Linear, keep_weight, pack, quantize


class Unknown(nn.Module):
    """Of no model of ours: layers are known by their type alone."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = nn.ModuleDict({"deep": nn.ModuleList([nn.Linear(32, 32), FeedForward(32, 64, 0.0)])})
        self.read = keep_weight(nn.Linear(32, 32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.decoder["deep"]:
            x = layer(x)
        return self.read(x)


def test_any_model_is_packed():
    if not has_fast_bf16(torch.device("cpu")):
        pytest.skip("bf16 is emulated here")
    torch.manual_seed(1)
    model = Unknown().bfloat16().eval()
    x = torch.randn(5, 32).bfloat16()
    with torch.inference_mode():
        wanted = model(x)
        pack(model)
        assert torch.allclose(model(x).float(), wanted.float(), atol=0.03, rtol=0.03)
    linear = [name for name, layer in model.named_modules() if type(layer) is nn.Linear]
    assert linear == ["read"]


@needs_int8
@pytest.mark.parametrize("dtype", [torch.float, torch.bfloat16])
@pytest.mark.parametrize(("activation", "after"), [("none", nn.Identity()), ("relu", nn.ReLU()), ("gelu", nn.GELU())])
def test_an_int8_layer_finds_nearly_the_same(dtype, activation, after):
    torch.manual_seed(1)
    layer = nn.Linear(64, 48, bias=activation != "relu")
    small = Int8Linear(layer, activation)
    with torch.inference_mode():
        for shape in ((3, 5, 64), (7, 64), (40, 64), (0, 64), (2, 0, 64)):
            x = torch.randn(shape)
            found = small(x.to(dtype))
            assert found.dtype is dtype and found.shape == (*shape[:-1], 48)
            assert torch.allclose(found.float(), after(layer(x)), atol=0.04)


@needs_int8
def test_any_model_is_quantized():
    """But for layers that other modules read, and narrow ones."""
    torch.manual_seed(1)
    model = Unknown().eval()
    model.narrow = nn.Linear(32, 3)
    x = torch.randn(5, 32)
    with torch.inference_mode():
        wanted = model(x)
        quantize(model)
        assert torch.allclose(model(x), wanted, atol=0.1)
    assert [name for name, layer in model.named_modules() if type(layer) is nn.Linear] == ["read", "narrow"]
    assert model.decoder["deep"][1].activation_in_product
