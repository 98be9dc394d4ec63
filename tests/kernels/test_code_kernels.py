"""Codes of rows, and the scaling of their products, in each of the variants that this processor has and without any."""

import pytest
import torch

from tests.conftest import both_ways
from transition_parser.kernels import code_kernels, search_kernels

TYPES = [torch.float, torch.bfloat16]
way = both_ways(search_kernels)


def rows_of(count: int, dim: int, dtype: torch.dtype) -> torch.Tensor:
    """Rows of very different sizes, among them zeros."""
    torch.manual_seed(dim)
    x = torch.randn(count, dim) * torch.tensor([1e-6, 1.0, 1e6, 0.0, 30.0]).repeat(count)[:count, None]
    return x.to(dtype)


def check_codes(dim: int, dtype: torch.dtype) -> None:
    x = rows_of(13, dim, dtype)
    codes, largest = code_kernels.quantise_rows(x, 16)
    assert codes.shape == (16, dim) and codes.dtype is torch.uint8 and largest.shape == (13, 1)
    assert torch.equal(largest, x.float().abs().amax(1, keepdim=True))
    wanted = x.double() * (127 / largest.double()).nan_to_num(posinf=0.0)
    assert bool(((codes[:13].double() - 128 - wanted).abs() <= 0.501).all())  # rounded
    assert torch.equal(codes[3], torch.full((dim,), 128, dtype=torch.uint8))


def check_scaling(dim: int, dtype: torch.dtype, relu: bool) -> None:
    torch.manual_seed(dim)
    product, largest, bias = torch.randn(9, dim), torch.rand(7, 1), torch.randn(dim)
    wanted = product[:7] * largest + bias
    wanted = (wanted.relu() if relu else wanted).to(dtype)
    found = code_kernels.scale_rows(product, largest, bias, relu, dtype)
    assert found.dtype is dtype and found.shape == (7, dim)
    assert torch.allclose(found.float(), wanted.float(), atol=1e-6, rtol=0.01 if dtype is torch.bfloat16 else 1e-6)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dim", [1, 31, 32, 100, 384])
def test_codes(lanes, dim, dtype):
    check_codes(dim, dtype)
    for relu in (False, True):
        check_scaling(dim, dtype, relu)


@pytest.mark.parametrize("dtype", TYPES)
def test_codes_without_kernels(way, dtype):
    check_codes(40, dtype)
    for relu in (False, True):
        check_scaling(40, dtype, relu)


@pytest.mark.parametrize("dtype", TYPES)
def test_the_codes_of_a_row_do_not_depend_on_other_rows(way, dtype):
    x = rows_of(10, 96, dtype)
    codes, _ = code_kernels.quantise_rows(x, 10)
    for i in range(10):
        assert torch.equal(code_kernels.quantise_rows(x[i : i + 1], 8)[0][0], codes[i])
    assert torch.equal(code_kernels.quantise_rows(x.t().contiguous().t(), 10)[0], codes)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("relu", [False, True])
def test_rows_that_are_not_finite_stay_so(way, dtype, bad, relu):
    x = torch.ones(4, 64, dtype=dtype)
    x[1, 5] = bad
    codes, largest = code_kernels.quantise_rows(x, 4)
    assert largest.isnan().flatten().tolist() == [False, True, False, False]
    found = code_kernels.scale_rows(codes.float() - 128, largest, torch.zeros(64), relu, dtype)
    assert found.isnan().all(1).tolist() == [False, True, False, False]
    assert torch.equal(found[0], torch.full((64,), 127, dtype=dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_tiny_numbers_count_as_zeros(way, dtype):
    codes, _ = code_kernels.quantise_rows(torch.full((1, 8), 1e-38, dtype=dtype), 1)
    assert codes.tolist() == [[128] * 8]


def test_there_must_be_room(way):
    with pytest.raises(ValueError, match="room for 3 rows, not 2"):
        code_kernels.quantise_rows(torch.zeros(3, 8), 2)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"product": torch.zeros(9, 32).double()}, "product must be"),
        ({"product": torch.zeros(32, 9).t()}, "product must be"),
        ({"product": torch.zeros(6, 32)}, "product must have 7 rows"),
        ({"largest": torch.zeros(7)}, "largest must be"),
        ({"bias": torch.zeros(31)}, "bias must be"),
    ],
)
def test_tensors_that_do_not_fit(changed, problem):
    if search_kernels.library() is None:
        pytest.skip("there are no kernels here")
    good = {"product": torch.zeros(9, 32), "largest": torch.zeros(7, 1), "bias": torch.zeros(32)}
    with pytest.raises(ValueError, match=problem):
        code_kernels.scale_rows(**{**good, **changed}, relu=False, dtype=torch.float)
