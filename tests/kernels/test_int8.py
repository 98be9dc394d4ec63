"""Products of integers, and layers with them, against the same layers computed part by part."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from tests.conftest import threads
from transition_parser.base.errors import NotFiniteError
from transition_parser.base.process import at_most_avx2, has_vnni
from transition_parser.kernels import encoders, loader
from transition_parser.kernels.encoders import Int8Product, Int8Stack, Int8Weights, int8_layers
from transition_parser.modules.bert import BertConfig, BertLayer, Windows
from transition_parser.modules.layers import quantize

DIM, INNER, HEADS = 64, 192, 2
TYPES = [torch.float, torch.bfloat16]
LENGTHS = [0, 1, 7, 60, 5, 6, 0, 30, 2, 400, 19, 17, 0]  # some are longer than what goes through the layers together


@contextmanager
def instructions(limit: tuple[int, int]) -> Iterator[None]:
    """Let kernels compute with at most so many lanes, and without VNNI for 0, as on another processor."""
    values = [ctypes.c_int.in_dll(loader.library(), name) for name in ("most_lanes", "use_vnni")]
    before = [value.value for value in values]
    try:
        for value, wanted in zip(values, limit, strict=True):
            value.value = wanted
        yield
    finally:
        for value, wanted in zip(values, before, strict=True):
            value.value = wanted


PROCESSORS = [(8, 0)] if not has_vnni() else [(8, 0), (8, 1)] if at_most_avx2() else [(8, 0), (8, 1), (0, 0), (0, 1)]


@pytest.fixture(params=PROCESSORS, ids=lambda limit: f"{limit[0] or 'all'} lanes, {'' if limit[1] else 'no '}VNNI")
def processor(request):
    if not encoders.has_int8():
        pytest.skip("this processor has no AVX2, or there are no kernels")
    with instructions(request.param):
        yield request.param


needs_int8 = pytest.mark.usefixtures("processor")


@needs_int8
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("activation", encoders.ACTIVATIONS)
@pytest.mark.parametrize(("inputs", "outputs"), [(64, 64), (4, 1), (31, 65), (1536, 384)])
def test_products_are_exact_but_for_rounding(inputs, outputs, activation, dtype):
    torch.manual_seed(inputs)
    scale, bias = torch.rand(outputs) / inputs**0.5 / 127**2, torch.randn(outputs)
    weights = Int8Weights(torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8), scale, bias)
    after = {"none": nn.Identity(), "relu": nn.ReLU(), "gelu": nn.GELU()}[activation]
    product = Int8Product(weights)
    for rows in (1, 2, 3, 4, 5, 6, 7, 47, 48, 49, 200):
        x = torch.randn(rows, inputs).to(dtype)
        x[3::9] = 0
        largest = x.float().abs().amax(1, keepdim=True)
        rounded = torch.addcmul(torch.tensor(128.5), x.float(), (127 / largest).nan_to_num(posinf=0.0)).floor()
        sums = (rounded.double() - 128) @ weights.integers.double().t()
        wanted = after(sums * scale.double() * largest.double() + bias.double())
        found = product(x, activation)
        assert found.dtype is dtype and found.shape == (rows, outputs)
        # numbers in the middle between two integers get either; in bf16 such numbers are common
        code = 130 * float(scale.max() * largest.max())
        tolerance = (3 * code, 0.01) if dtype is torch.bfloat16 else (code, 1e-5)
        assert torch.allclose(found.double(), wanted, *tolerance[::-1])
        assert (found.double() - wanted).abs().mean() < (3e-3 if dtype is torch.bfloat16 else 1e-5)


@needs_int8
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("activation", encoders.ACTIVATIONS)
def test_rows_that_are_not_finite_stay_so(dtype, bad, activation):
    x = torch.ones(4, 64, dtype=dtype)
    x[1, 5] = bad
    weights = Int8Weights(torch.ones(64, 64, dtype=torch.int8), torch.ones(64), torch.zeros(64))
    assert Int8Product(weights)(x, activation).isnan().all(1).tolist() == [False, True, False, False]


@pytest.mark.parametrize("activation", ["none", "relu"])
def test_products_are_the_same_on_all_processors(processor, activation):
    torch.manual_seed(0)
    weights = Int8Weights(torch.randint(-127, 128, (100, 320), dtype=torch.int8), torch.rand(100), torch.rand(100))
    weights.integers[:2] = torch.tensor([[127], [-127]])  # the largest sums that there can be
    product, x = Int8Product(weights), torch.cat([torch.randn(50, 320), torch.ones(1, 320), -torch.ones(1, 320)])
    found = product(x, activation)
    with instructions((0, 1)):
        assert torch.equal(product(x, activation), found)


def layers_of(count: int, dim: int = DIM, inner: int = INNER, heads: int = HEADS) -> nn.ModuleList:
    torch.manual_seed(count)
    layers = nn.ModuleList(BertLayer(BertConfig(9, dim, count, heads, inner, 9)) for _ in range(count)).eval()
    for parameter in layers.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    quantize(layers)
    return layers


def stack_of(layers: nn.ModuleList, heads: int = HEADS) -> Int8Stack:
    return Int8Stack([layer.int8() for layer in layers], heads)


def windows_of(lengths: list[int]) -> Windows:
    sizes = torch.tensor(lengths, dtype=torch.int32)
    return Windows((sizes.cumsum(0) - sizes).int(), sizes, max(lengths))


@needs_int8
@pytest.mark.parametrize(("dim", "inner", "heads"), [(DIM, INNER, HEADS), (384, 1536, 12), (128, 64, 1)])
@pytest.mark.parametrize("some", [False, True], ids=["all rows ask", "some rows ask"])
@torch.no_grad()
def test_a_layer_is_computed_as_its_parts_are(dim, inner, heads, some):
    (layer,) = layers = layers_of(1, dim, inner, heads)
    windows = windows_of(LENGTHS)
    x = torch.randn(sum(LENGTHS), dim)
    asking = torch.arange(0, len(x), 3) if some else None
    wanted = layer(x, windows, asking)
    found = int8_layers(x, stack_of(layers, heads), *windows, asking)
    assert found.shape == wanted.shape
    # sums are rounded in another order, so that a code may be the next one
    assert torch.allclose(found, wanted, atol=0.05) and (found - wanted).abs().mean() < 1e-4


@needs_int8
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite(bad):
    x = torch.randn(9, DIM)
    x[4, 2] = bad
    with torch.no_grad(), pytest.raises(NotFiniteError, match="not finite"):
        int8_layers(x, stack_of(layers_of(2)), *windows_of([3, 6]))


@needs_int8
@pytest.mark.parametrize(
    ("first", "lengths", "longest", "asking", "problem"),
    [
        ([0, 3], [3, 7], 7, None, "first or lengths"),
        ([0, 3], [3, -1], 5, None, "first or lengths"),
        ([0, 3], [3, 6], 6, [1, 9], "asking"),
        ([0, 3], [3, 6], 6, [4, 1], "asking"),
    ],
)
def test_wrong_rows(first, lengths, longest, asking, problem):
    asks = None if asking is None else torch.tensor(asking)
    sentences = torch.tensor(first, dtype=torch.int32), torch.tensor(lengths, dtype=torch.int32)
    with torch.no_grad(), pytest.raises(ValueError, match=problem):
        int8_layers(torch.randn(9, DIM), stack_of(layers_of(1)), *sentences, longest, asks)


@needs_int8
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("outputs", [8, 320])
def test_products_do_not_depend_on_other_rows_or_threads(outputs, dtype):
    torch.manual_seed(0)
    weights = Int8Weights(
        torch.randint(-127, 128, (outputs, 320), dtype=torch.int8), torch.rand(outputs), torch.rand(outputs)
    )
    product, x = Int8Product(weights), torch.randn(300, 320).to(dtype)
    together = product(x, "gelu")
    for count in (1, 2, 3):
        with threads(count):
            assert torch.equal(product(x, "gelu"), together)
            for rows in (slice(3, 4), slice(0, 31), slice(100, 290)):
                assert torch.equal(product(x[rows], "gelu"), together[rows])
    assert torch.equal(product(x.t().contiguous().t(), "gelu"), together)


@needs_int8
@torch.no_grad()
def test_rows_do_not_depend_on_other_sentences_or_threads():
    layers = layers_of(3)
    stack, windows = stack_of(layers), windows_of(LENGTHS)
    x = torch.randn(sum(LENGTHS), DIM)
    together = int8_layers(x, stack, *windows)
    for count in (1, 2, 3):
        with threads(count):
            assert torch.equal(int8_layers(x, stack, *windows), together)
    assert int8_layers(x, stack, *windows, torch.zeros(0, dtype=torch.long)).shape == (0, DIM)
    for first, length in zip(*windows[:2], strict=True):
        alone = x[first : first + length].clone()
        assert torch.equal(int8_layers(alone, stack, *windows_of([int(length)])), together[first : first + length])
    asking = torch.tensor([0, 1, 7, 8, 67, 68, 100, 101, len(x) - 1])
    assert torch.equal(int8_layers(x, stack, *windows, asking), together[asking])
