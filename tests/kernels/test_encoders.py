"""The kernels of encoders compute what PyTorch computes, in each of the variants that this processor has."""

import pytest
import torch

from tests.conftest import threads
from transition_parser.kernels import encoders

CLOSE = {torch.float: {"atol": 1e-5, "rtol": 1e-5}, torch.bfloat16: {"atol": 0.03, "rtol": 0.02}}
SHAPES = [(4, 64), (2, 32), (3, 96)]  # heads, and numbers of each


def sentences_case(heads: int, d: int, dtype: torch.dtype, lengths: list[int], scale: float = 1.0) -> dict:
    """Arguments of `self_attention`: sentences with a row between them, and gaps between rows."""
    torch.manual_seed(1)
    count, many = torch.tensor(lengths, dtype=torch.int32), sum(lengths) + len(lengths)
    first = (count + 1).cumsum(0, dtype=torch.int32) - count
    query, keys, values = ((torch.randn(many, part, heads * d) * scale).to(dtype)[:, 0] for part in (1, 2, 3))
    return {
        "query": query, "keys": keys, "values": values, "heads": heads, "first": first, "lengths": count,
        "longest": max(lengths),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize(("heads", "d"), SHAPES)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_self_attention_of_sentences(lanes, dtype, heads, d, scale):
    """Of all lengths around those of vectors; alone a sentence is given the very same numbers."""
    case = sentences_case(heads, d, dtype, [*range(20), 33, 70], scale)
    found, belongs = encoders.self_attention(**case), torch.zeros(len(case["query"]), dtype=torch.bool)
    for first, count in zip(case["first"].tolist(), case["lengths"].tolist(), strict=True):
        rows = slice(first, first + count)
        belongs[rows] = True
        query, keys, values = (case[name][rows].float().view(count, heads, d) for name in ("query", "keys", "values"))
        weights = (torch.einsum("qhd,khd->hqk", query, keys) * d**-0.5).softmax(-1)
        wanted = torch.einsum("hqk,khd->qhd", weights, values).flatten(1)
        close = {name: value * scale for name, value in CLOSE[dtype].items()}
        assert torch.allclose(found[rows].float(), wanted, **close)
        some = {name: case[name][rows] for name in ("query", "keys", "values")}
        place = {"first": torch.zeros(1, dtype=torch.int32), "lengths": torch.tensor([count], dtype=torch.int32)}
        assert torch.equal(encoders.self_attention(**some, **place, heads=heads, longest=count), found[rows])
    assert not found[~belongs].any() and found[belongs].all()


def test_no_sentences_and_no_words(lanes):
    none, some = torch.empty(0, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    for first in (none, some):
        for rows in (torch.empty(0, 64), torch.randn(5, 64)):
            found = encoders.self_attention(rows, rows, rows, 2, first, first, 0)
            assert found.shape == rows.shape and not found.any()


@pytest.mark.parametrize("sizes", [[3], [1, 2, 3, 4, 5, 6], [24, 7]])
@pytest.mark.parametrize("filters", [64, 192])
def test_letter_maxima(lanes, sizes, filters):
    """Tables of products give what convolutions give, for words of no letter up to the most."""
    torch.manual_seed(1)
    embed = torch.nn.Embedding(40, 8, padding_idx=0)
    windows = [torch.nn.Conv1d(8, filters, size, padding=size // 2) for size in sizes]
    lengths = torch.arange(40) % 13
    letters = torch.randint(1, 40, (40, 12)) * (torch.arange(12) < lengths[:, None])
    with torch.no_grad():
        inside = (letters > 0)[:, None]
        each = [(window(embed(letters).transpose(1, 2))[..., :12].relu() * inside).amax(2) for window in windows]
        tables = torch.cat([embed.weight @ window.weight.permute(2, 1, 0) for window in windows])
        biases = torch.stack([window.bias for window in windows])
        found = encoders.letter_maxima(letters, sizes, tables, biases)
    assert torch.allclose(found, torch.cat(each, 1), **CLOSE[torch.float])


@pytest.mark.parametrize("dtype", list(CLOSE))
def test_threads_change_no_number(lanes, dtype):
    """Of few sentences the heads are shared out, of many the sentences: both are more than what is worth a thread."""
    outputs = []
    for count in (1, 3):
        with threads(count):
            outputs.append(())
            for counts in ([300, 0, 200], [60, 0, 20] * 40):
                outputs[-1] += (encoders.self_attention(**sentences_case(4, 32, dtype, counts)),)
    assert all(torch.equal(one, three) for one, three in zip(*outputs, strict=True))
