"""The kernel of recurrent layers computes what PyTorch computes, and a sentence alone gets the very same numbers."""

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.conftest import threads
from tests.kernels.test_int8 import PROCESSORS, instructions
from transition_parser.kernels import encoders, loader
from transition_parser.kernels.encoders import RecurrentLayer
from transition_parser.models.spa_dp import SequencePreservedAttention
from transition_parser.modules.layers import quantize

pytestmark = pytest.mark.skipif(loader.library() is None, reason="there are no kernels here")
SIZES = st.sampled_from([4, 12, 32, 100]), st.sampled_from([32, 64, 96])
LENGTHS = st.lists(st.integers(0, 12) | st.integers(40, 70), max_size=6)
VARIANTS = [*((lanes, None) for lanes in (16, 8, 4)), *PROCESSORS]  # of floats, and of integers


@pytest.fixture(params=VARIANTS, ids=str)
def variant(request):
    """The kind of weights of one variant of the kernel, which is the one that runs."""
    lanes, vnni = request.param
    if vnni is None and lanes > loader.library().lanes():
        pytest.skip(f"this processor has no vectors of {lanes} numbers")
    if vnni is not None and not encoders.has_int8():
        pytest.skip("this processor has no AVX2")
    with instructions((lanes, vnni or 0)):
        yield "floats" if vnni is None else "integers"


def some_words(lengths: list[int], inputs: int, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    """Words (B, P, inputs) with padding that is not finite, and the lengths."""
    counts = torch.tensor(lengths, dtype=torch.long)
    x = torch.randn(len(lengths), max(lengths, default=0), inputs) * scale
    x[torch.arange(x.size(1)) >= counts[:, None]] = math.nan
    return x, counts


def layers_of(outputs: int, inputs: int, width: int, weights: str) -> nn.ModuleList:
    """The linear layers of words and of states, in both directions."""
    layers = nn.ModuleList(nn.Linear(size, outputs * width) for size in 2 * (inputs, width))
    for layer in layers[1::2]:
        nn.init.zeros_(layer.bias)
    if weights == "integers":
        quantize(layers)
    return layers


def lstm(layers: nn.ModuleList, x: Tensor, direction: int) -> Tensor:
    """The states (P, width) of PyTorch's LSTM, or with integers of one that is written out, over one sentence."""
    words, states = list(layers)[2 * direction :][:2]
    if not isinstance(words, nn.Linear):
        found, state = [], x.new_zeros(1, states.in_features)
        cell = state
        for word in words(x):
            enter, kept, new, out = (word + states(state)).chunk(4, -1)
            cell = kept.sigmoid() * cell + enter.sigmoid() * new.tanh()
            state = out.sigmoid() * cell.tanh()
            found.append(state)
        return torch.cat(found)
    one = nn.LSTM(words.in_features, states.in_features, batch_first=True)
    one.weight_ih_l0, one.bias_ih_l0, one.weight_hh_l0 = words.weight, words.bias, states.weight
    nn.init.zeros_(one.bias_hh_l0)
    return one(x[None])[0][0]


@settings(deadline=None, max_examples=20)
@given(lengths=LENGTHS, sizes=st.tuples(*SIZES), scale=st.sampled_from([0.1, 1.0, 20.0]), seed=st.integers(0, 9))
@torch.inference_mode()
def check_lstm(weights, lengths, sizes, scale, seed):
    torch.manual_seed(seed)
    (inputs, width), count = sizes, len(lengths)
    if weights == "integers" and inputs < 32:  # layers so narrow stay as they are
        inputs = 32
    layers, (x, counts) = layers_of(4, inputs, width, weights), some_words(lengths, inputs, scale)
    found = RecurrentLayer("lstm", layers)(x, counts)
    assert found.shape == (count, x.size(1), 2 * width)
    for b, length in enumerate(lengths):
        assert not found[b, length:].any()
        if length:
            one = x[b, :length]
            wanted = torch.cat([lstm(layers, one, 0), lstm(layers, one.flip(0), 1).flip(0)], 1)
            if weights == "floats":
                assert torch.allclose(found[b, :length], wanted, atol=1e-5, rtol=0)
            else:  # a number in the middle between two integers gets either
                assert float((found[b, :length] - wanted).abs().mean()) < 2e-3


def test_lstms_are_those_of_pytorch(variant):
    check_lstm(variant)


@pytest.mark.parametrize("from_target", [False, True])
@pytest.mark.parametrize("dtype", [torch.float, torch.bfloat16])
def test_rescans_are_those_without_a_kernel(variant, from_target, dtype):
    torch.manual_seed(2)
    attention = SequencePreservedAttention(40, 64, from_target)
    nn.init.normal_(attention.project.bias)
    exact, attention = attention.to(dtype).eval(), copy.deepcopy(attention)
    if variant == "integers":
        quantize(attention)
    attention = attention.to(dtype).eval()
    lengths = torch.tensor([9, 1, 5, 0, 60])
    words, mask = torch.randn(5, 60, 40).to(dtype), torch.arange(60) < lengths[:, None]
    with torch.no_grad():
        wanted, weights = exact(words, mask), set(attention.state_dict())
        attention.use_kernels()
        assert set(attention.state_dict()) == weights  # a model in fp32 can still be stored
        found = attention(words, mask)
        if variant == "floats":
            assert torch.equal(copy.deepcopy(attention)(words, mask), found)
    assert found.dtype is dtype and not found[~mask].any()
    error = (found.float() - wanted.float())[mask].abs()
    assert float(error.max()) < (1e-5 if (variant, dtype) == ("floats", torch.float) else 0.06)
    assert float(error.mean()) < (1e-6 if (variant, dtype) == ("floats", torch.float) else 3e-3)


@pytest.mark.parametrize("kind", encoders.KINDS)
def test_a_sentence_alone_gets_the_same_numbers_as_beside_others(variant, kind):
    torch.manual_seed(1)
    lengths = [70, 0, 1, 19, 19, 2, 300, 5, *[17] * 90]  # more than go through the layer together, and unsorted
    layer = RecurrentLayer(kind, layers_of(4 if kind == "lstm" else 3, 32, 32, variant))
    x, counts = some_words(lengths, 32)
    together = []
    for number in (1, 2, 3):
        with threads(number):
            together.append(layer(x, counts))
            few = layer(x[6:8], counts[6:8])  # so few that threads share the directions
            assert torch.equal(few, together[0][6:8])
    assert all(torch.equal(other, together[0]) for other in together[1:])
    for b, length in enumerate(lengths):
        assert torch.equal(layer(x[b : b + 1, :length], counts[b : b + 1])[0], together[0][b, :length])
    assert not together[0][1].any() and bool(together[0].isfinite().all())
