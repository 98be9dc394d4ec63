"""The number of gold arcs that arc-standard has to give up because of the order in which words join the tree.

The functions work on N configurations of P positions (the words of the longest sentence and the root).
Source: Goldberg, Sartorio and Satta 2014, sec. 4; see `ArcStandard.lost_arcs`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_NOTHING = -1  # the number of a word that does not exist
_NO_HEAD = -2  # the head of such a word; it differs from `_NOTHING`, so that the two do not form an arc
_IMPOSSIBLE = -1_000_000  # the number of arcs of a tree that cannot be built


def arcs_given_up(
    stack: Tensor, depth: Tensor, buffer: Tensor, heads: Tensor, root: Tensor, rank: Tensor | None = None
) -> Tensor:
    """Return how many gold arcs among the words of the stack and of the buffer have to be given up, (N,).

    The result is the number of these arcs minus the largest number of them that one tree can have. It is 0 where the
    stack holds fewer than two words, or the root.

    stack: (N, P + 1); the words of the stack, bottom first; entries at index `depth` and above do not matter
    depth: (N,); the number of words on the stack
    buffer: (N, P + 1) bool; True for words in the buffer
    heads: (N, P + 1); the gold heads; the head of the root is the root
    root: (N,); the position of the root
    rank: (N, P + 1); the order of the words of the buffer; None for the order of positions
    """
    items = _Items.from_rows(stack, depth, buffer, heads, root, rank)
    arcs = (items.heads == root[:, None]) | ((items.heads[:, :, None] == items.words[:, None]).any(2))
    best = _most_arcs(items)
    most = (best + (items.heads == root[:, None])).amax(1)
    rooted = stack.gather(1, (depth - 1).clamp_min(0)[:, None])[:, 0] == root
    return torch.where((depth > 1) & ~rooted, arcs.sum(1) - most, 0)


class _Items(NamedTuple):
    """The words that join the tree: D words of the stack, the top first, and then M words of the buffer in order.

    Words of the buffer that have no arc with the stack are left out. Both parts are padded.

    words: (N, D + M); the positions of the words, `_NOTHING` for padding
    heads: (N, D + M); the gold heads of the words. If a head is left out, its nearest ancestor that is not left out
        stands here. Heads that are neither in `words` nor the root do not matter
    sizes: D and M
    """

    words: Tensor
    heads: Tensor
    sizes: tuple[int, int]

    @classmethod
    def from_rows(
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
        above = torch.where(buffer & ~joined, heads, positions)  # leads from each left-out word to its head
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
        """Return the table `trees` after one more word joins each tree: as a dependent of its root, or as its new root.

        Rows in which the item is padding stay unchanged.

        trees: (N, D + M); the largest number of gold arcs of a tree with the given word as its root
        item: the index of the word that joins
        """
        word, head = self.words[:, item], self.heads[:, item]
        longer = trees + (head[:, None] == self.words)
        longer[:, item] = (trees + (self.heads == word[:, None])).amax(1)
        return torch.where((word == _NOTHING)[:, None], trees, longer)


def _most_arcs(items: _Items) -> Tensor:
    """Return (N, D + M), the largest number of gold arcs of a tree over all items whose root is the given item."""
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
