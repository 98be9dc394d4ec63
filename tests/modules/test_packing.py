"""Layers packed for bf16, and the numbers of rows that products have."""

import pytest
import torch
from torch import nn

from transition_parser.modules.layers import FeedForward
from transition_parser.modules.linear import keep_weight, padded
from transition_parser.modules.packing import _PackedLinear, _with_rows_behind, has_fast_bf16, pack, quantised


def test_padding_leaves_few_numbers_of_rows():
    sizes = {rows: len(padded(torch.zeros(rows))) for rows in range(1, 8193)}
    assert len(set(sizes.values())) < 120
    assert all(0 <= size - rows <= max(rows / 16, 7) for rows, size in sizes.items())


def test_padding_is_behind_the_rows():
    rows = torch.arange(1, 28).view(9, 3)
    found = padded(rows)
    assert found.shape == (16, 3)
    assert torch.equal(found[:9], rows) and not found[9:].any()
    assert len(padded(rows, 5)) == 10
    few = rows[:8]
    assert padded(few) is few


def test_a_packed_layer_finds_what_it_did():
    if not has_fast_bf16(torch.device("cpu")):
        pytest.skip("bf16 is emulated here")
    layer = nn.Linear(32, 48).bfloat16()
    with torch.inference_mode():
        for shape in ((3, 5, 32), (7, 32), (16, 32)):
            x = torch.randn(shape).bfloat16()
            assert torch.allclose(_PackedLinear(layer)(x).float(), layer(x).float(), atol=0.02, rtol=0.02)


def test_rows_behind_are_those_in_memory():
    """A part of a longer tensor is not copied; what is behind it changes nothing of it."""
    if not has_fast_bf16(torch.device("cpu")):
        pytest.skip("bf16 is emulated here")
    layer = nn.Linear(32, 32).bfloat16()
    packed = _PackedLinear(layer)
    with torch.inference_mode():
        x = torch.randn(64, 32).bfloat16()
        alone = packed(x[:43].clone())
        x[43:] = float("nan")
        part = x[:43]
        assert _with_rows_behind(part).data_ptr() == x.data_ptr() and len(_with_rows_behind(part)) == 48
        assert torch.equal(packed(part), alone) and torch.equal(packed(part.unflatten(0, (43, 1)))[:, 0], alone)
        end = x[21:]
        assert len(_with_rows_behind(end)) == 48 and not _with_rows_behind(end)[43:].any()  # nothing is behind them


class Intermediate(nn.Module):
    """As transformers' BERT has it, and its kin."""

    def __init__(self, activation: nn.Module) -> None:
        super().__init__()
        self.dense, self.intermediate_act_fn = nn.Linear(32, 64), activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.intermediate_act_fn(self.dense(x))


@pytest.mark.parametrize(
    ("activation", "fused"), [(nn.GELU(), True), (nn.GELU("tanh"), False), (nn.ReLU(), False), (nn.SiLU(), False)]
)
def test_the_activation_of_a_pretrained_encoder(activation, fused):
    if not has_fast_bf16(torch.device("cpu")):
        pytest.skip("bf16 is emulated here")
    torch.manual_seed(1)
    model = nn.Sequential(Intermediate(activation)).bfloat16().eval()
    x = torch.randn(40, 32).bfloat16()
    with torch.inference_mode():
        wanted = model(x)
        pack(model)
        assert torch.allclose(model(x).float(), wanted.float(), atol=0.02, rtol=0.02)
    assert isinstance(model[0].intermediate_act_fn, nn.Identity) == fused


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


def test_any_decoder_is_quantised():
    torch.manual_seed(1)
    model = Unknown().eval()
    x = torch.randn(5, 32)
    with torch.inference_mode():
        found = quantised(model)(x)
    assert torch.allclose(found, model(x), atol=0.2)
    kinds = {type(layer) for layer in quantised(model).decoder.modules()}
    assert nn.Linear not in kinds
