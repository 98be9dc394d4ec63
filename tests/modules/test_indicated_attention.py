"""Attention to items that a structure adds something to: how much memory it takes."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.conftest import without_kernels
from transition_parser.modules.indicated_attention import Content, attend

HEADS, STEPS, ITEMS, WIDTH, INDICATORS = 2, 17, 19, 23, 5


class Largest(TorchDispatchMode):
    """Sees how many numbers the largest tensor has that anything makes."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else [made]:
            if isinstance(one, torch.Tensor):
                self.count = max(self.count, one.numel())
        return made


def test_no_tensor_has_a_vector_for_each_pair():
    """Forwards and backwards: none has steps × items × width numbers, of one head."""
    query = torch.randn(HEADS, 1, STEPS, WIDTH, requires_grad=True)
    keys, values = (torch.randn(HEADS, 1, ITEMS, WIDTH, requires_grad=True) for _ in range(2))
    tables = (torch.randn(HEADS, INDICATORS, WIDTH, requires_grad=True) for _ in range(2))
    index = torch.randint(INDICATORS, (1, 1, STEPS, ITEMS))
    with Largest() as largest:
        attend(query, Content(keys, values, *tables), index, None).sum().backward()
    assert HEADS * STEPS * ITEMS <= largest.count < STEPS * ITEMS * WIDTH


@pytest.mark.parametrize("sentences", [1, 3])
def test_items_of_a_table(sentences):
    """Where items are told by their places in a table, they are what they are when they are laid out, with kernels and
    without."""
    torch.manual_seed(sentences)
    width = 32
    table = Content(*(torch.randn(HEADS, 1, 7, width) for _ in range(2)), *(torch.randn(HEADS, 5, width),) * 2)
    item = torch.randint(7, (sentences, ITEMS))
    content, index = table._replace(item=item), torch.randint(INDICATORS, (ITEMS,))
    query = torch.randn(HEADS, sentences, 1, width)
    wanted = attend(query, content.laid_out(), index, None)  # with gradients, where PyTorch computes
    assert content.sentences == sentences == content.laid_out().sentences
    with torch.no_grad():
        assert torch.allclose(attend(query, content, index, None), wanted, atol=1e-5)
        with without_kernels():
            assert torch.allclose(attend(query, content, index, None), wanted, atol=1e-6)
