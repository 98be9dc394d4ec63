"""Rows of tensors at some positions of each sentence."""

import pytest
import torch

from transition_parser.modules.layers import gather_rows


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


def test_places_of_nothing():
    assert gather_rows(torch.randn(3, 5, 6), torch.empty(3, 0, dtype=torch.long)).shape == (3, 0, 6)
    assert gather_rows(torch.randn(0, 5, 6), torch.empty(0, 4, dtype=torch.long)).shape == (0, 4, 6)
