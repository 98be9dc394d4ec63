"""How many gold arcs arc-standard has to give up because of the order in which words join the tree, for a batch.

Source: Goldberg, Sartorio and Satta 2014, sec. 4; see `oracles.dynamic`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_NOTHING = -1  # a word that is not there; heads that are not there are −2
_NO_HEAD = -2
_IMPOSSIBLE = -1_000_000


def arcs_given_up(
    stack: Tensor, depth: Tensor, buffer: Tensor, heads: Tensor, root: Tensor, rank: Tensor | None = None
) -> Tensor:
    """(N,): of the arcs between words of the stack and of the buffer, how many no tree can have with the others.

    stack: (N, P + 1), of which depth (N,) count. buffer: (N, P + 1) bool, where the words are in it. heads: (N, P + 1)
    gold, the root's the root. root: (N,). rank: (N, P + 1), which orders the words of the buffer; None: as they are
    numbered.
    """
    items = _Items.of(stack, depth, buffer, heads, root, rank)
    arcs = (items.heads == root[:, None]) | ((items.heads[:, :, None] == items.words[:, None]).any(2))
    best = _most_arcs(items)
    most = (best + (items.heads == root[:, None])).amax(1)
    rooted = stack.gather(1, (depth - 1).clamp_min(0)[:, None])[:, 0] == root
    return torch.where((depth > 1) & ~rooted, arcs.sum(1) - most, 0)


class _Items(NamedTuple):
    """What joins the tree: D words of the stack, the top first, and M of the buffer in their order; padded.

    words, heads: (N, D + M), heads that are not among the words or the root do not matter. sizes: D and M.
    """

    words: Tensor
    heads: Tensor
    sizes: tuple[int, int]

    @classmethod
    def of(
        cls, stack: Tensor, depth: Tensor, buffer: Tensor, heads: Tensor, root: Tensor, rank: Tensor | None
    ) -> _Items:
        dummy = stack.size(1) - 1
        positions = torch.arange(dummy + 1, device=stack.device)
        on_stack = torch.zeros_like(buffer)
        on_stack.scatter_(1, torch.where(positions < depth[:, None], stack, dummy), True)
        on_stack[:, dummy] = False
        joined = buffer & on_stack.gather(1, heads)
        joined |= buffer & torch.zeros_like(buffer).scatter_(1, torch.where(on_stack, heads, dummy), True)
        joined[:, dummy] = False
        above = torch.where(buffer & ~joined, heads, positions)  # through words that are left out
        for _ in range(dummy.bit_length()):
            above = above.gather(1, above)
        above = above.gather(1, heads)
        most = torch.stack([depth.amax().clamp_min(1), joined.sum(1).amax()]).tolist()
        place = positions.expand_as(stack) if rank is None else rank
        order = torch.where(joined, place, dummy + 1).sort(1).indices[:, : most[1]]
        from_top = depth[:, None] - 1 - positions[: most[0]]
        words = torch.cat([stack.gather(1, from_top.clamp_min(0)), order], 1)
        there = torch.cat([from_top >= 0, joined.gather(1, order)], 1)
        head = torch.where(there, above.gather(1, words), _NO_HEAD)
        return cls(torch.where(there, words, _NOTHING), head, (most[0], most[1]))

    def join(self, trees: Tensor, item: int) -> Tensor:
        """`trees` (N, D + M), the most arcs of a tree with each word as its root, with one word more: a dependent of
        the root, or its head. Rows that have no such word stay as they are."""
        word, head = self.words[:, item], self.heads[:, item]
        longer = trees + (head[:, None] == self.words)
        longer[:, item] = (trees + (self.heads == word[:, None])).amax(1)
        return torch.where((word == _NOTHING)[:, None], trees, longer)


def _most_arcs(items: _Items) -> Tensor:
    """(N, D + M): the most arcs of a tree over all items with each of them as its root."""
    of_stack, of_buffer = items.sizes
    first = torch.full_like(items.words, _IMPOSSIBLE)
    first[:, :1] = 0
    column = [first]
    for item in range(of_stack, of_stack + of_buffer):
        column.append(items.join(column[-1], item))
    for word in range(1, of_stack):
        above, column = column, [items.join(column[0], word)]
        for number in range(of_buffer):
            one, other = items.join(above[number + 1], word), items.join(column[-1], of_stack + number)
            column.append(one.maximum(other))
    return column[-1]
