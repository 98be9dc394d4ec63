"""Work-arounds for torch."""

import torch

from transition_parser.compat import padded


def test_padding_leaves_few_numbers_of_rows():
    sizes = {rows: len(padded(torch.zeros(rows))) for rows in range(1, 8193)}
    assert len(set(sizes.values())) < 120
    assert all(0 <= size - rows <= max(rows / 16, 7) for rows, size in sizes.items())


def test_padding_is_behind_the_rows():
    rows = torch.arange(1, 28).view(9, 3)
    found = padded(rows)
    assert found.shape == (16, 3)
    assert torch.equal(found[:9], rows) and not found[9:].any()
