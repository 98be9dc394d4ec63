"""What search attends to: the compiled way and the masked way find the same, on random searches."""

import ctypes
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from transition_parser.kernels import search_kernels
from transition_parser.models.stack_transformer.rows import LayerRows
from transition_parser.models.stack_transformer.search_attention import (
    KernelAttention,
    MaskedAttention,
    search_attention,
)
from transition_parser.models.stack_transformer.state_masks import StateHeads, StatePositions
from transition_parser.modules.attention import Attention
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import add_and_normalise
from transition_parser.modules.linear import padded
from transition_parser.states.states import States

compiled = pytest.mark.skipif(search_kernels.library() is None, reason="set up without a compiler for them")
CLOSE = {torch.float: {"atol": 1e-5, "rtol": 1e-5}, torch.bfloat16: {"atol": 0.03, "rtol": 0.02}}
# where both round at the same points: sums in another order may be rounded to the next number of 8 bits
ROUNDED_ALIKE = {**CLOSE, torch.bfloat16: {"atol": 1e-3, "rtol": 2**-7}}


@pytest.fixture(params=["the best", "avx512", "avx2", "any"])
def processor(request):
    """The kernels that were compiled for one kind of processor."""
    lanes = {"the best": 0, "avx512": 16, "avx2": 8, "any": 4}[request.param]
    if search_kernels.library() is None:
        pytest.skip("set up without a compiler for them")
    most = ctypes.c_int.in_dll(search_kernels.library(), "most_lanes")
    most.value = lanes
    yield lanes
    most.value = 0


def test_the_kernels_are_there_on_linux():
    """Else every other test would pass without it."""
    if sys.platform == "linux":
        assert search_kernels.library() is not None


def random_ranks(rows: int, width: int) -> torch.Tensor:
    """(R, P): in each row some words have places 1, 2, … in any order, the others 0."""
    order = torch.rand(rows, width).argsort(1).argsort(1) + 1
    return torch.where(order <= torch.randint(0, width + 1, (rows, 1)), order, 0)


def open_step(attention, rows: int, states: States | None = None):
    """Begins a step in which each row matters."""
    states = states or States(torch.ones(rows, 1, dtype=torch.bool))
    every = torch.ones(rows, dtype=torch.bool)
    return attention.open(torch.zeros(rows, dtype=torch.long), states, torch.ones(rows, 2), ~every, every)


@compiled
@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**31),
    st.sampled_from(list(CLOSE)),
    st.sampled_from([(4, 64), (2, 32), (3, 96)]),
    st.sampled_from(
        [StateHeads(0, 0), StateHeads(1, 1), StateHeads(1, 1, "top2", True, 3), StateHeads(1, 0, positions=True)]
    ),
)
def test_both_ways_find_the_same(seed, dtype, shape, state_heads):
    torch.manual_seed(seed)
    heads, d = shape
    dim, sentences, width, layers = heads * d, int(torch.randint(1, 5, ())), int(torch.randint(2, 7, ())), 2
    attentions = [Attention(dim, heads).to(dtype) for _ in range(layers)]
    lengths = torch.randint(1, width, (sentences,))
    lengths[0] = width - 1
    mask = torch.arange(width) <= lengths[:, None]
    words = EncoderOut(torch.randn(sentences, width, dim).to(dtype), mask, lengths, None)
    positions = StatePositions(dim, state_heads, largest=3).to(dtype) if state_heads.positions else None
    with torch.inference_mode():
        ways = [kind(attentions, words, state_heads, positions) for kind in (KernelAttention, MaskedAttention)]
        groups, beam = torch.arange(sentences), 1
        for _ in range(int(torch.randint(2, 9, ()))):
            rows = len(groups) * beam
            states = States(torch.ones(rows, 1, dtype=torch.bool))
            if state_heads.count:
                seen = mask[groups].repeat_interleave(beam, 0)
                ranks = (random_ranks(rows, width) * seen for _ in range(2))
                states = States(states.columns, None, *ranks)
            sources, query = torch.randint(0, 3, (rows,)), torch.randn(rows, dim).to(dtype)
            queries = padded(torch.rand(rows).argsort()[: int(torch.randint(1, rows + 1, ()))])
            for way in ways:
                open_step(way, rows, states)
            for layer in range(layers):
                new = torch.randn(rows if layer else 3, 2 * dim).to(dtype)
                kernel = ways[0].self_attention(layer, query, new, LayerRows(None if layer else sources))
                masked = ways[1].self_attention(layer, query, new if layer else new[sources], LayerRows())
                assert torch.allclose(kernel.float(), masked.float(), **ROUNDED_ALIKE[dtype])
                kernel, masked = (way.cross_attention(layer, query, LayerRows()) for way in ways)
                assert torch.allclose(kernel.float(), masked.float(), **ROUNDED_ALIKE[dtype])
                some = ways[0].cross_attention(layer, query[queries], LayerRows(None, queries))
                assert torch.equal(some, kernel[queries])
            if torch.rand(()) < 0.7:
                beam = int(torch.randint(1, 4, ()))
                before = rows // len(groups)
                origin = torch.randint(0, before, (len(groups), beam))
                moved = (torch.arange(len(groups))[:, None] * before + origin).flatten()
                for way in ways:
                    way.move_rows(moved, origin, None)
            if torch.rand(()) < 0.3:
                keep = torch.rand(len(groups)).argsort()[: max(len(groups) - 1, 1)]
                groups = groups[keep]
                moved = (keep[:, None] * beam + torch.arange(beam)).flatten()
                for way in ways:
                    way.move_rows(moved, None, keep)


@compiled
def test_only_the_rows_that_are_needed_attend():
    torch.manual_seed(1)
    attention = Attention(64, 2)
    words = EncoderOut(torch.randn(2, 3, 64), torch.ones(2, 3, dtype=torch.bool), torch.tensor([2, 2]), None)
    found = {}
    with torch.inference_mode():
        query, new = torch.randn(3, 2, 64), torch.randn(3, 2, 128)
        for queries in (None, torch.tensor([1])):
            way = KernelAttention([attention], words, StateHeads(0, 0), None)
            for step in range(3):
                open_step(way, 2)
                some = query[step] if queries is None else query[step, queries]
                found[queries is None] = way.self_attention(0, some, new[step], LayerRows(None, queries))
    assert torch.equal(found[False], found[True][1:])


@compiled
@pytest.mark.parametrize("dtype", list(CLOSE))
def test_each_processor_computes_the_same(processor, dtype):
    torch.manual_seed(1)
    heads, d, rows, steps = 3, 32, 7, 5
    stored, origin = search_kernels.Pointers(), search_kernels.Pointers()
    every = torch.randn(steps, rows, 2, heads, d).to(dtype)
    for step in range(steps):
        stored.append(every[step].flatten(1))
        origin.append(None)
    query = torch.randn(rows, heads * d).to(dtype)
    found = search_kernels.cached_self_attention(query, heads, stored, origin, None, None).view(rows, heads, d)
    keys, values = every.float().unbind(2)
    scores = torch.einsum("rhd,srhd->rhs", query.view(rows, heads, d).float(), keys) * d**-0.5
    wanted = torch.einsum("rhs,srhd->rhd", scores.softmax(-1), values)
    assert torch.allclose(found.float(), wanted, **CLOSE[dtype])


@compiled
@pytest.mark.parametrize("dtype", list(CLOSE))
def test_the_norm_of_a_sum(processor, dtype):
    torch.manual_seed(1)
    norm = torch.nn.LayerNorm(96).to(dtype)
    torch.nn.init.normal_(norm.weight), torch.nn.init.normal_(norm.bias)
    x, added = (torch.randn(5, 96).to(dtype) * 3 + 40 for _ in range(2))
    total = x + added
    found = add_and_normalise(x, added, norm)
    assert torch.equal(x, total)
    assert torch.allclose(found.float(), norm(total).float(), **CLOSE[dtype])


@compiled
@pytest.mark.parametrize("dtype", list(CLOSE))
def test_the_best_continuations(processor, dtype):
    """Against log-softmax and topk; with dead hypotheses, rows without scores, and fewer continuations than asked."""
    torch.manual_seed(1)
    sentences, width, actions, beam = 6, 3, 21, 5
    rows = sentences * width
    legal = (torch.rand(rows, actions) < 0.3).float()
    legal[:, 0] = 1
    legal[3:6, 1:] = 0  # certain, and fewer than the beam
    totals = -torch.rand(sentences, width)
    totals[2, 1] = totals[4, :] = float("-inf")
    computed = (legal.sum(1) > 1).nonzero()[:, 0]
    found = torch.randn(len(computed), actions).to(dtype)
    best, added, index = search_kernels.best_continuations(found, computed, legal, totals, beam)
    scores = torch.zeros(rows, actions)
    scores[computed] = found.float()
    each = scores.masked_fill(legal == 0, float("-inf")).log_softmax(-1).view(sentences, width, -1)
    every = (totals[..., None] + each).flatten(1)
    wanted = every.topk(beam, 1)
    assert torch.allclose(best, wanted.values, atol=1e-5)
    there = best > float("-inf")
    assert torch.equal(index[there], wanted.indices[there])
    assert torch.allclose(added[there], each.flatten(1).gather(1, index)[there], atol=1e-5)
    assert there[1].sum() == 3 and there[4].sum() == 0


def test_without_kernels_masks_are_taken(monkeypatch):
    words = EncoderOut(torch.randn(1, 2, 64), torch.ones(1, 2, dtype=torch.bool), torch.tensor([1]), None)
    monkeypatch.setattr(search_kernels, "library", lambda: None)
    assert isinstance(search_attention([Attention(64, 2)], words, StateHeads(1, 1), None), MaskedAttention)
