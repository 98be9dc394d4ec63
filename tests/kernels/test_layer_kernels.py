"""Layers of BERT with products of codes, against the same layers computed one by one."""

import pytest
import torch
from torch import nn

from transition_parser.base.errors import NotFiniteError
from transition_parser.kernels import layer_kernels
from transition_parser.kernels.layer_kernels import CodedStack, coded_layers
from transition_parser.models.graph2graph.layers import Layer, Sizes, Transformer, Visible, Windows
from transition_parser.modules.packing import quantise

DIM, INNER, HEADS = 64, 192, 2
LENGTHS = [1, 7, 60, 5, 6, 30, 2, 19, 17]  # one is longer than what goes through the layers together


@pytest.fixture(autouse=True)
def _kernel():
    if not layer_kernels.supports(DIM, INNER, HEADS):
        pytest.skip("this processor has no AVX-512 VNNI, or there are no kernels")


def layers_of(count: int, dim: int = DIM, inner: int = INNER, heads: int = HEADS) -> nn.ModuleList:
    torch.manual_seed(count)
    layers = nn.ModuleList(Layer(Sizes(dim, inner, heads), 0.0, False) for _ in range(count)).eval()
    for parameter in layers.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    quantise(layers)
    return layers


def stack_of(layers: nn.ModuleList, heads: int = HEADS) -> CodedStack:
    return CodedStack([layer.coded() for layer in layers], heads)


def windows_of(lengths: list[int]) -> Windows:
    sizes = torch.tensor(lengths, dtype=torch.int32)
    return Windows((sizes.cumsum(0) - sizes).int(), sizes, max(lengths))


@pytest.mark.parametrize(("dim", "inner", "heads"), [(DIM, INNER, HEADS), (384, 1536, 12), (128, 64, 1)])
@pytest.mark.parametrize("some", [False, True], ids=["all rows ask", "some rows ask"])
@torch.no_grad()
def test_a_layer_is_computed_as_its_parts_are(dim, inner, heads, some):
    (layer,) = layers = layers_of(1, dim, inner, heads)
    windows = windows_of(LENGTHS)
    x = torch.randn(sum(LENGTHS), dim)
    asking = torch.arange(0, len(x), 3) if some else None
    wanted = layer(x, windows, asking)
    found = coded_layers(x, stack_of(layers, heads), *windows, asking)
    assert found.shape == wanted.shape
    # sums are rounded in another order, so that a code may be the next one
    assert torch.allclose(found, wanted, atol=0.05) and (found - wanted).abs().mean() < 1e-4


@torch.no_grad()
def test_gelu_is_exact_enough():
    """Feed-forward with identities as weights shows the activation."""
    (layer,) = layers = layers_of(1, DIM, DIM, HEADS)
    for linear in (layer.query, layer.key_value, layer.out, layer.inner, layer.outer):
        linear.coded.codes.zero_()
        linear.bias.zero_()
    for norm in layer.norms:
        norm.weight.fill_(1.0)
        norm.bias.zero_()
    layer.norms[0].weight.zero_()
    layer.norms[0].bias.copy_(torch.linspace(-6, 6, DIM))
    for linear in (layer.inner, layer.outer):
        linear.coded.codes.add_(127 * torch.eye(DIM, dtype=torch.int8))
        linear.scale.fill_(1 / 127**2)
    found = coded_layers(torch.randn(1, DIM), stack_of(layers), *windows_of([1]))
    x = layer.norms[0].bias
    wanted = nn.functional.layer_norm(x + nn.functional.gelu(x), (DIM,))
    assert torch.allclose(found[0], wanted, atol=0.02)  # two roundings to 8 bits


@torch.no_grad()
def test_rows_do_not_depend_on_other_sentences_or_threads():
    layers = layers_of(3)
    stack, windows = stack_of(layers), windows_of(LENGTHS)
    x = torch.randn(sum(LENGTHS), DIM)
    together = coded_layers(x, stack, *windows)
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        assert torch.equal(coded_layers(x, stack, *windows), together)
    for first, length in zip(*windows[:2], strict=True):
        alone = x[first : first + length].clone()
        assert torch.equal(coded_layers(alone, stack, *windows_of([int(length)])), together[first : first + length])
    asking = torch.tensor([0, 1, 7, 8, 67, 68, 100, 101, len(x) - 1])
    assert torch.equal(coded_layers(x, stack, *windows, asking), together[asking])


@torch.no_grad()
def test_transformer_computes_all_layers_at_once():
    torch.manual_seed(0)
    transformer = Transformer(Sizes(DIM, INNER, HEADS), 2, 80, 1, 0.0, False).eval()
    words, segment = torch.randn(3, 9, DIM), torch.zeros(3, 9, dtype=torch.long)
    position, there = torch.arange(9).expand(3, -1), torch.arange(9) < torch.tensor([[9], [4], [6]])
    visible = Visible(there, torch.arange(7).expand(3, -1))
    quantise(transformer)
    found = transformer(words, position, segment, visible)
    transformer._coded = None
    wanted = transformer(words, position, segment, visible)
    asked = there[:, :7]
    assert torch.allclose(found[asked], wanted[asked], atol=0.1)
    assert not torch.equal(found[asked], wanted[asked])  # else the kernel was not used


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite(bad):
    x = torch.randn(9, DIM)
    x[4, 2] = bad
    with torch.no_grad(), pytest.raises(NotFiniteError, match="not finite"):
        coded_layers(x, stack_of(layers_of(2)), *windows_of([3, 6]))


@pytest.mark.parametrize(
    ("first", "lengths", "longest", "asking", "problem"),
    [
        ([0, 4], [3, 6], 6, None, "first or lengths"),
        ([0, 3], [3, 7], 7, None, "first or lengths"),
        ([0, 3], [3, 6], 5, None, "first or lengths"),
        ([0, 3], [3, -1], 5, None, "first or lengths"),
        ([0, 3], [3, 6], 6, [1, 9], "asking"),
        ([0, 3], [3, 6], 6, [-1, 4], "asking"),
        ([0, 3], [3, 6], 6, [4, 4], "asking"),
        ([0, 3], [3, 6], 6, [5, 4], "asking"),
        ([0, 3], [3, 6], 6, [4, 1], "asking"),
    ],
)
def test_wrong_rows(first, lengths, longest, asking, problem):
    asks = None if asking is None else torch.tensor(asking)
    sentences = torch.tensor(first, dtype=torch.int32), torch.tensor(lengths, dtype=torch.int32)
    with torch.no_grad(), pytest.raises(ValueError, match=problem):
        coded_layers(torch.randn(9, DIM), stack_of(layers_of(1)), *sentences, longest, asks)


def test_wrong_tensors():
    stack, windows = stack_of(layers_of(1)), windows_of([3])
    for x in (torch.randn(3, DIM).double(), torch.randn(3, 2 * DIM), torch.randn(DIM, 3).t()):
        with pytest.raises(ValueError, match="x must be"):
            coded_layers(x, stack, *windows)
    with pytest.raises(ValueError, match="first must be"):
        coded_layers(torch.randn(3, DIM), stack, windows.first.long(), windows.lengths, 3)


@pytest.mark.parametrize(("dim", "inner", "heads"), [(96, 192, 3), (64, 100, 2), (64, 192, 4), (64, 192, 3)])
def test_sizes_that_do_not_fit(dim, inner, heads):
    assert not layer_kernels.supports(dim, inner, heads)
    if dim % heads == 0:
        with pytest.raises(ValueError, match="not supported"):
            stack_of(layers_of(1, dim, inner, heads), heads)
