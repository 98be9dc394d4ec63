"""Attention and places: what neighbours, padding and long sentences change."""

from __future__ import annotations

from itertools import islice

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.conftest import SAMPLE_AMR, without_kernels
from tests.small_models import encode
from transition_parser import Parser
from transition_parser.modules import layers
from transition_parser.modules.layers import gather_rows, scaled_dot_product_attention
from transition_parser.parsing.search import search

HEADS, WIDTH = 4, 32


def heads(batch: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(batch, HEADS, count, WIDTH).to(dtype)


@torch.inference_mode()
@pytest.mark.parametrize("words", [1, 3, 5, 13, 30])
def test_padding_and_neighbours_change_no_sum_that_is_rounded(words):
    """torch orders sums by the shapes of the batch."""
    torch.manual_seed(words)
    query, keys, values = (heads(20, 37, torch.bfloat16) for _ in range(3))
    bias = torch.zeros(20, 1, 1, 37)
    bias[..., words:] = float("-inf")
    together = scaled_dot_product_attention(query, keys, values, bias)
    for i in range(20):
        alone = (x[i : i + 1, :, :words] for x in (query, keys, values))
        assert torch.equal(scaled_dot_product_attention(*alone), together[i : i + 1, :, :words])


@torch.inference_mode()
@pytest.mark.parametrize("model", ["en-amr"])
def test_a_sentence_scores_alone_as_beside_others_without_kernels(model):
    with without_kernels():
        parser = Parser.load(model, precision="bf16", threads=1)
        words = [list(sentence.tokens) for sentence in islice(parser.read(SAMPLE_AMR), 8)]
        together = search(parser.model, encode(parser, words))
        for sentence, (found,) in zip(words, together, strict=True):
            ((alone,),) = search(parser.model, encode(parser, [sentence]))
            assert alone.tokens == found.tokens
            assert alone.step_scores == pytest.approx(found.step_scores, abs=4e-6)  # softmax is in fp32


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor has that was made."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor):
            self.numbers = max(self.numbers, made.numel())
        return made


@torch.inference_mode()
@pytest.mark.parametrize("biases", [1, 300])
def test_long_sentences_are_attended_some_words_at_a_time(biases, monkeypatch):
    torch.manual_seed(1)
    query, keys, values = (heads(2, 300, torch.float) for _ in range(3))
    bias = torch.zeros(2, 1, biases, 300).masked_fill_(torch.rand(2, 1, biases, 300) < 0.3, float("-inf"))
    whole = scaled_dot_product_attention(query, keys, values, bias)
    monkeypatch.setattr(layers, "_AT_ONCE", 2 * HEADS * 300 * 7)
    with Largest() as largest:
        found = scaled_dot_product_attention(query, keys, values, bias)
    assert torch.allclose(found, whole, rtol=0, atol=1e-5)
    assert largest.numbers <= max(layers._AT_ONCE, query.numel())


def test_what_is_at_places_and_its_gradient_are_as_by_gather():
    torch.manual_seed(1)
    places = torch.randint(0, 5, (3, 4))
    for x in (torch.randn(3, 5, 6), torch.randn(3, 5, 12).chunk(2, -1)[1], torch.randn(5, 3, 6).transpose(0, 1)):
        found, wanted = x.clone().requires_grad_(), x.clone().requires_grad_()
        ours, theirs = gather_rows(found, places), wanted.gather(1, places[..., None].expand(-1, -1, 6))
        assert torch.equal(ours, theirs) and torch.equal(gather_rows(x, places), theirs)
        weight = torch.randn_like(theirs)
        (ours * weight).sum().backward(), (theirs * weight).sum().backward()
        assert torch.allclose(found.grad, wanted.grad)


@pytest.mark.parametrize("wrong", [-1, 5])
def test_places_of_another_sentence_are_an_error(wrong):
    with pytest.raises(IndexError, match=f"{wrong}"):
        gather_rows(torch.randn(3, 5, 6), torch.tensor([[0], [wrong], [1]]))
