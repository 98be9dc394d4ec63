"""Attention and places: what neighbors, padding and long sentences change; their memory."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from transition_parser.modules.layers import (
    Content,
    attend,
    gather_rows,
    scaled_dot_product_attention,
)

HEADS, WIDTH = 4, 32


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


STEPS, ITEMS, INDICATORS = 17, 19, 5


@torch.inference_mode()
@pytest.mark.parametrize("words", [1, 3, 5, 13, 30])
def test_padding_and_neighbors_change_no_sum_that_is_rounded(words):
    """torch orders sums by the shapes of the batch."""
    torch.manual_seed(words)
    query, keys, values = (torch.randn(20, HEADS, 37, WIDTH).to(torch.bfloat16) for _ in range(3))
    bias = torch.zeros(20, 1, 1, 37)
    bias[..., words:] = float("-inf")
    together = scaled_dot_product_attention(query, keys, values, bias)
    for i in range(20):
        alone = (x[i : i + 1, :, :words] for x in (query, keys, values))
        assert torch.equal(scaled_dot_product_attention(*alone), together[i : i + 1, :, :words])


class Largest(TorchDispatchMode):
    """How many numbers the largest tensor has that was made."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else [made]:
            if isinstance(one, torch.Tensor):
                self.numbers = max(self.numbers, one.numel())
        return made


def test_no_tensor_has_a_vector_for_each_pair():
    """Forwards and backwards: none has steps × items × width numbers, of one head."""
    query = torch.randn(2, 1, STEPS, 23, requires_grad=True)
    keys, values = (torch.randn(2, 1, ITEMS, 23, requires_grad=True) for _ in range(2))
    tables = (torch.randn(2, INDICATORS, 23, requires_grad=True) for _ in range(2))
    index = torch.randint(INDICATORS, (1, 1, STEPS, ITEMS))
    with Largest() as largest:
        attend(query, Content(keys, values, *tables), index, None).sum().backward()
    assert 2 * STEPS * ITEMS <= largest.numbers < STEPS * ITEMS * 23
