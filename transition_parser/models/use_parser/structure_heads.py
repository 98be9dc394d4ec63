"""Attention heads with indicators: learned vectors that tell an item's place in a structure, such as the stack.

Source: Ji et al. 2021, eqs 1 and 2
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.modules.indicated_attention import Content
from transition_parser.modules.layers import keep_weight


class StructureHeads(nn.Module):
    """Attention heads for all structures over the same items X: those over words, or that over actions.

    A head has the keys W_K (X + S_K) and the values W_V (X + S_V), with its own W_K and W_V. S_K and S_V are the
    indicators of its structure, which all heads of this structure share.

    items: D, width of items
    structure: (H,); the number of each head's structure
    values: number of indicators in the table of each structure; not the values of attention
    width: d, width of a head
    key_indicators, value_indicators: (structures, values, D); S_K and S_V
    """

    structure: Tensor

    def __init__(self, items: int, structure: Tensor, values: int, width: int) -> None:
        super().__init__()
        self.register_buffer("structure", structure, persistent=False)
        self.key_value = keep_weight(nn.Linear(items, 2 * len(structure) * width, bias=False))
        for weight in self.key_value.weight.data.split(width):
            nn.init.xavier_uniform_(weight)
        # indicators start as large as the items, which are normalised, so that both count equally
        shape = (int(structure.max()) + 1, values, items)
        self.key_indicators = nn.Parameter(torch.randn(shape))
        self.value_indicators = nn.Parameter(torch.randn(shape))

    def content(self, items: Tensor) -> Content:
        """Return the content that the heads attend to.

        items: (B, P, D); P items of each of B sentences
        """
        heads = 2 * len(self.structure)
        keys, values = self.key_value(items).unflatten(-1, (heads, -1)).permute(2, 0, 1, 3).chunk(2)
        of_key, of_value = self.key_value.weight.unflatten(0, (heads, -1)).transpose(1, 2).chunk(2)
        return Content(
            keys,
            values,
            self.key_indicators.index_select(0, self.structure) @ of_key,
            self.value_indicators.index_select(0, self.structure) @ of_value,
        )
