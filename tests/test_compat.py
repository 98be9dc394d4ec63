"""Work-arounds for torch."""

import pytest
import torch
from torch import nn

from transition_parser.compat import _PackedLinear, has_fast_bf16, padded


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
    assert len(padded(rows[:0])) == 0


def test_a_packed_layer_finds_what_it_did():
    if not has_fast_bf16(torch.device("cpu")):
        pytest.skip("bf16 is emulated here")
    layer = nn.Linear(32, 48).bfloat16()
    with torch.inference_mode():
        for shape in ((3, 5, 32), (7, 32), (16, 32)):
            x = torch.randn(shape).bfloat16()
            assert torch.allclose(_PackedLinear(layer)(x).float(), layer(x).float(), atol=0.02, rtol=0.02)
