"""What search attends to: the compiled way and the masked way find the same, on random searches."""

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
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import Attention, padded
from transition_parser.states.states import States

compiled = pytest.mark.skipif(search_kernels.library() is None, reason="set up without a compiler for them")
CLOSE = {torch.float: {"atol": 1e-5, "rtol": 1e-5}, torch.bfloat16: {"atol": 0.03, "rtol": 0.02}}
# where both round at the same points: sums in another order may be rounded to the next number of 8 bits
ROUNDED_ALIKE = {**CLOSE, torch.bfloat16: {"atol": 1e-3, "rtol": 2**-7}}


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
    positions = None
    if state_heads.positions:
        positions = StatePositions(dim, state_heads, 2, bool(seed % 2)).to(dtype)
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


def test_without_kernels_masks_are_taken(monkeypatch):
    words = EncoderOut(torch.randn(1, 2, 64), torch.ones(1, 2, dtype=torch.bool), torch.tensor([1]), None)
    monkeypatch.setattr(search_kernels, "library", lambda: None)
    assert isinstance(search_attention([Attention(64, 2)], words, StateHeads(1, 1), None), MaskedAttention)
