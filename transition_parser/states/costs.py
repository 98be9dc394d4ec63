"""The costs of actions for a batch. `oracles.dynamic` is the pure-Python twin and explains the costs.

Shapes: R rows, P positions and C columns as for `DependencyMachine`; K actions (`Costs.actions`); N = K · R
configurations: those after each action in each row, where the first action does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.kernels import loader, trees
from transition_parser.states.machine import DependencyMachine, effects_table
from transition_parser.states.table import KIND_OF_CLASS, ActionClass
from transition_parser.transitions import TREE_SYSTEMS, TreeSystem
from transition_parser.transitions.arc_eager import ArcEager
from transition_parser.transitions.arc_hybrid import ArcHybrid
from transition_parser.transitions.arc_standard import ArcStandard
from transition_parser.transitions.tree_system import NO_HEAD

ILLEGAL = 1_000_000  # the cost of illegal actions: above the number of words of any sentence
# The actions whose loss of gold arcs is computed. NEVER does nothing: its loss is that of the current configuration.
_ACTIONS = (ActionClass.NEVER, ActionClass.SHIFT, ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC, ActionClass.REDUCE)


class Costs:
    """The costs of the actions of a machine, in its current configurations.

    machine: the machine of a system of dependency trees; it may have taken actions. Each row must keep its sentence
        (see `reorder`). With SWAP, the machine must not limit the number of swaps.
    heads: (R, L); the gold head of each of L ≥ P − 1 words, numbered as in `DependencyTree`, 0 for the root. Numbers
        behind the last word of a row do not matter. The trees must be projective where the system builds projective
        trees only; this is not checked. With SWAP the host reads `heads`, so that they should be on the CPU.

    Raises `InputError` for a system that has no costs. Raises `ValueError` if `heads` does not have R rows, or has too
    few words.
    """

    def __init__(self, machine: DependencyMachine, heads: Tensor) -> None:
        self.loss = _loss_of(machine.table.system)
        rows, longest = len(machine.root), machine.width - 1
        if len(heads) != rows or heads.size(1) < longest:
            raise ValueError(f"heads must be of {rows} rows of {longest} words or more, not {tuple(heads.shape)}")
        self.machine = machine
        system, device, width = machine.table.system, machine.root.device, machine.width
        self.swaps = not TREE_SYSTEMS[system].projective_only
        known = {ActionClass.NEVER, *(ActionClass[kind.name] for kind in machine.spec.rules)}
        self.actions = [column for column in _ACTIONS if column in known]
        self.effects = effects_table(system, device)[torch.tensor(self.actions, device=device)]
        self.columns = torch.tensor([self._number(column) for column in ActionClass], device=device)
        root, positions = machine.root[:, None], torch.arange(width + 1, device=device)
        given = heads[:, : width - 1].to(device)
        inside = positions[: width - 1] < root
        # (R, P + 1), numbered as in the machine; the head of the root, and of all positions behind it, is the root.
        self.heads = root.repeat(1, width + 1)
        self.heads[:, : width - 1] = torch.where(inside & (given > 0), given - 1, root)
        self.rank: Tensor | None = None
        if self.swaps:
            rank, component = _orders(heads, machine.root, width)
            self.rank, self.component = rank.to(device), component.to(device)

    def now(self) -> Tensor:
        """Return the costs of all columns in the current configurations, (R, C) int64.

        Legal columns have the costs of `oracles.costs`, illegal columns have `ILLEGAL`, and END costs 0. With SWAP,
        an action that must not be explored costs more than the number of words.

        The host waits for the device once for arc-standard, and never for other systems.
        """
        legal = self.machine.legal_columns()
        found = self._lost_arcs()
        if self.swaps:
            found = self._with_swap(found, legal)
        padded = torch.cat([found, torch.zeros_like(found[:1])])
        return torch.where(legal, padded.index_select(0, self.columns).t(), ILLEGAL)

    def _number(self, column: ActionClass) -> int:
        """Return the row of a column in the cost matrix of `now`.

        SWAP has the row after all `actions`, if the system has SWAP. Columns without a cost have the last row.
        """
        column = KIND_OF_CLASS.get(column, column)
        if column is ActionClass.SWAP and self.swaps:
            return len(self.actions)
        return self.actions.index(column) if column in self.actions else len(self.actions) + self.swaps

    @cached_property
    def _gold(self) -> _Gold:
        """The gold trees of all N = K · R configurations."""
        kinds = len(self.actions)
        hanging = self._hanging().repeat(kinds, 1) if self.machine.spec.reads_arcs else None
        rank = None if self.rank is None else self.rank.repeat(kinds, 1)
        return _Gold(self.heads.repeat(kinds, 1), self.machine.root.repeat(kinds), rank, hanging)

    def _hanging(self) -> Tensor:
        """Return for each position the nearest ancestor of the last word that stands before the position, (R, P + 1).

        The last word counts as its own ancestor. The result is the root where no ancestor stands before the position.
        """
        machine = self.machine
        positions = torch.arange(machine.width + 1, device=machine.root.device)
        word = (machine.root - 1)[:, None].expand_as(self.heads)
        for _ in range(machine.width):
            above = self.heads.gather(1, word)
            word = torch.where((word >= positions) & (word < machine.root[:, None]), above, word)
        return word

    def _lost_arcs(self) -> Tensor:
        """Return how many gold arcs each action loses, (K, R). Illegal actions get numbers too."""
        machine = self.machine
        if self.heads.is_cpu and loader.library() is not None:
            arcs = machine.heads if machine.spec.reads_arcs else None
            state = (
                machine.root,
                machine.stack,
                machine.depth,
                machine.buffer,
                machine.buffer_size,
                arcs,
                machine.words(),
            )
            return trees.lost_arcs(self.loss.kernel, self.effects, *state, self.heads, self.rank)
        configurations, wrong = self._configurations()
        if self.swaps:
            configurations = _swapped(configurations, self._gold, machine.spec.closes_on_stack)
        lost = self.loss.function(configurations, self._gold).view(len(self.actions), -1)
        return lost + wrong - lost[0]

    def _configurations(self) -> tuple[_Configurations, Tensor]:
        """Return the N = K · R configurations after the K actions, and (K, R) bool, True for wrong arcs.

        The first action does nothing. Illegal actions get configurations too. A wrong arc is not in the gold tree.
        """
        machine, effects = self.machine, self.effects
        rows, kinds, dummy = len(machine.root), len(effects), machine.width
        words = machine.words()
        dependent, head, pops, push, taken, *_ = effects[:, :, None].expand(-1, -1, rows).unbind(1)
        dependent, head, pushed = (words.gather(1, which.t()).t() for which in (dependent, head, push))
        depth = (machine.depth - pops).clamp_min(0)
        stack = machine.stack.repeat(kinds, 1)
        stack.scatter_(1, torch.where(push > 0, depth, dummy).flatten()[:, None], pushed.flatten()[:, None])
        depth = depth + (push > 0)
        buffer = torch.zeros_like(machine.stack, dtype=torch.bool)
        positions = torch.arange(dummy + 1, device=depth.device)
        buffered = torch.where(positions < machine.buffer_size[:, None], machine.buffer, dummy)
        buffer.scatter_(1, buffered, True).scatter_(1, machine.root[:, None], False)
        buffer = buffer.repeat(kinds, 1)
        gone = torch.where(taken > 0, words[:, -1], dummy)
        buffer.scatter_(1, gone.flatten()[:, None], False)
        arc = effects[:, :1] > 0
        wrong = arc & (self.heads.gather(1, dependent.t()).t() != head)
        free = None
        if machine.spec.reads_arcs:
            assert machine.heads is not None, "a spec that reads arcs needs them"
            free = (machine.heads == NO_HEAD).repeat(kinds, 1)
            free.scatter_(1, torch.where(arc, dependent, dummy).flatten()[:, None], False)
        return _Configurations(stack, depth.flatten(), buffer, free), wrong

    def _with_swap(self, found: Tensor, legal: Tensor) -> Tensor:
        """Return the costs of all actions in a system with SWAP, (K + 1, R); the last row is for SWAP.

        The cost of SHIFT is raised where SHIFT must not be explored (`oracles.dynamic`).

        found: (K, R); the gold arcs that each action loses; changed in place
        legal: (R, C) bool; the legal columns
        """
        on_stack = self.machine.spec.closes_on_stack
        inverted, waits, kept = (_order_in_standard if on_stack else _order_in_hybrid)(self)
        forbidden = self.machine.root + 1
        arcs = [self.actions.index(column) for column in (ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC)]
        arc_legal = legal[:, ActionClass.LEFT_ARC_ANY], legal[:, ActionClass.RIGHT_ARC]
        free_arc = sum((found[i] == 0) & may for i, may in zip(arcs, arc_legal, strict=True)) > 0
        buries = ~kept & (free_arc | ~waits)
        found[self.actions.index(ActionClass.SHIFT)] += torch.where(buries, forbidden, 0)
        swap = torch.where(inverted & ~waits, 0, forbidden)
        return torch.cat([found, swap[None]])


class _Gold(NamedTuple):
    """The gold trees of N configurations.

    heads: (N, P + 1); the head of each position, numbered as in the machine; the head of the root is the root
    root: (N,); the position of the root
    rank: (N, P + 1); the place of each word in projective order, see `oracles.dynamic`; None for the sentence's order
    hanging: (N, P + 1); the result of `Costs._hanging`, for arc-eager; None for other systems
    """

    heads: Tensor
    root: Tensor
    rank: Tensor | None = None
    hanging: Tensor | None = None


class _Configurations(NamedTuple):
    """N configurations.

    stack: (N, P + 1); the words of the stack, bottom first; entries at index `depth` and above do not matter
    depth: (N,); the number of words on the stack
    buffer: (N, P + 1) bool; True for words in the buffer, and False for the root
    free: (N, P + 1) bool; True for words without a head; None for systems whose stacks hold no words with a head
    """

    stack: Tensor
    depth: Tensor
    buffer: Tensor
    free: Tensor | None

    def inside(self) -> Tensor:
        """Return (N, P + 1) bool, True for the entries of `stack` that hold a word of the stack."""
        return torch.arange(self.stack.size(1), device=self.stack.device) < self.depth[:, None]

    def spread(self, values: Tensor | bool, into: Tensor) -> Tensor:
        """Write the values of the words on the stack into `into` at the positions of these words, and return `into`.

        values: (N, P + 1), in the order of `stack`, or one value for all words
        into: (N, P + 1), in the order of positions
        """
        dummy = self.stack.size(1) - 1
        return into.scatter_(1, torch.where(self.inside(), self.stack, dummy), values)

    def on_stack(self) -> Tensor:
        """Return (N, P + 1) bool, True for words on the stack."""
        return self.spread(True, torch.zeros_like(self.buffer))

    def there(self, root: Tensor) -> Tensor:
        """Return (N, P + 1) bool, True for the root and for the words on the stack or in the buffer."""
        return (self.on_stack() | self.buffer).scatter_(1, root[:, None], True)


def _count(lost: Tensor) -> Tensor:
    """Return (N,), the number of True words in each row of `lost` (N, P + 1). The last column is not a word."""
    return lost[:, :-1].sum(1)


def _arc_hybrid(c: _Configurations, gold: _Gold) -> Tensor:
    below = torch.cat([gold.root[:, None], c.stack[:, :-1]], 1)
    direct = c.spread(below, torch.full_like(c.stack, -1)) == gold.heads
    head_in_buffer = c.buffer.gather(1, gold.heads)
    lost = (c.on_stack() & ~direct & ~head_in_buffer) | (c.buffer & ~c.there(gold.root).gather(1, gold.heads))
    return _count(lost)


def _arc_eager(c: _Configurations, gold: _Gold) -> Tensor:
    assert c.free is not None and gold.hanging is not None
    headless = c.on_stack() & c.free
    none = c.stack.size(1)
    position = torch.arange(none, device=c.stack.device)
    numbers = torch.where(headless, position, none)[:, :-1]
    lowest = numbers.amin(1, keepdim=True)
    second = torch.where(numbers == lowest, none, numbers).amin(1)
    rooted = (gold.heads == gold.root[:, None]) & (position == lowest)
    lost = headless & ~rooted & ~c.buffer.gather(1, gold.heads)
    lost |= c.buffer & ~c.there(gold.root).gather(1, gold.heads)
    words_left = c.buffer[:, :-1].sum(1)
    hanging = gold.hanging.gather(1, (gold.root - words_left)[:, None])[:, 0]
    on_stack = c.on_stack().gather(1, hanging[:, None])[:, 0]
    return _count(lost) + ((words_left > 0) & on_stack & (hanging >= second))


def _arc_standard(c: _Configurations, gold: _Gold) -> Tensor:
    there = c.there(gold.root)
    lost = there & ~there.gather(1, gold.heads)
    return _count(lost) + arcs_given_up(c.stack, c.depth, c.buffer, gold.heads, gold.root, gold.rank)


class _Loss(NamedTuple):
    """The batched form of `TreeSystem.lost_arcs`.

    function: maps N configurations and their gold trees to the numbers of lost arcs, (N,)
    kernel: the name of the loss in `kernels/trees.py`
    """

    function: Callable[[_Configurations, _Gold], Tensor]
    kernel: str


# One entry for each system without SWAP. Systems with SWAP inherit the loss, as they inherit `TreeSystem.lost_arcs`.
_LOSSES: dict[type[TreeSystem], _Loss] = {
    ArcStandard: _Loss(_arc_standard, "arc-standard"),
    ArcHybrid: _Loss(_arc_hybrid, "arc-hybrid"),
    ArcEager: _Loss(_arc_eager, "arc-eager"),
}


def _loss_of(system: str) -> _Loss:
    for ancestor in TREE_SYSTEMS[system].__mro__ if system in TREE_SYSTEMS else ():
        if ancestor in _LOSSES:
            return _LOSSES[ancestor]
    known = [name for name, kind in TREE_SYSTEMS.items() if issubclass(kind, tuple(_LOSSES))]
    raise InputError(f"{system} has no costs: choose from {', '.join(known)}")


# --- SWAP -----------------------------------------------------------------------------------


def _orders(heads: Tensor, lengths: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return each word's place in projective order and the head of its projective component, (R, P + 1) each."""
    ranks = torch.arange(width + 1).repeat(len(heads), 1)
    components = ranks.clone()
    for row, (given, n) in enumerate(zip(heads.tolist(), lengths.tolist(), strict=True)):
        tree = DependencyTree(tuple(given[:n]), ("",) * n)
        ranks[row, torch.tensor(tree.projective_order()) - 1] = torch.arange(n)
        components[row, :n] = torch.tensor(tree.projective_components()) - 1
    return ranks, components


def _swapped(c: _Configurations, gold: _Gold, on_stack: bool) -> _Configurations:
    """Return the configurations after all pending swaps: stack words out of projective order go back to the buffer.

    on_stack: True where arcs join the two words on top of the stack. If the top has to move, another word must first be
        shifted onto it: the first word of the buffer in projective order
    """
    assert gold.rank is not None
    dummy = c.stack.size(1) - 1
    inside, ranks = c.inside(), gold.rank.gather(1, c.stack)
    in_buffer = torch.where(c.buffer, gold.rank, gold.root[:, None])
    ahead, first = in_buffer[:, :-1].min(1, keepdim=True)
    ranks = torch.where(inside, ranks, dummy)
    least = ranks.flip(1).cummin(1).values.flip(1).minimum(ahead)
    stays = inside & (ranks <= least)
    buffer = c.buffer.scatter(1, torch.where(inside & ~stays, c.stack, dummy), True)
    position = torch.where(stays, stays.cumsum(1) - 1, dummy)
    stack, depth = torch.zeros_like(c.stack).scatter_(1, position, c.stack), stays.sum(1)
    if on_stack:
        top = (c.depth - 1).clamp_min(0)[:, None]
        joins = (c.depth > 0)[:, None] & ~stays.gather(1, top)
        stack.scatter_(1, torch.where(joins, depth[:, None], dummy), first)
        buffer.scatter_(1, torch.where(joins, first, dummy), False)
        depth = depth + joins[:, 0]
    return _Configurations(stack, depth, buffer, c.free)


def _of_words(values: Tensor, *words: Tensor) -> tuple[Tensor, ...]:
    """Return, for each tensor of words (R,), the entry of `values` (R, P + 1) at this word in each row, (R,)."""
    return tuple(values.gather(1, word[:, None])[:, 0] for word in words)


def _order_in_hybrid(costs: Costs) -> tuple[Tensor, Tensor, Tensor]:
    """Return `inverted`, `waits` and `kept` of arc-hybrid, (R,) bool each, see `_Order` in `oracles.dynamic`."""
    machine = costs.machine
    root, top, _, front = machine.words().unbind(1)
    of_top, of_front = _of_words(costs.rank, top, front)
    inverted = (machine.depth > 0) & (of_top > of_front)
    (head,) = _of_words(costs.heads, front)
    component, of_head = _of_words(costs.component, front, head)
    return inverted, (front < root) & (head > front) & (component == of_head), ~inverted


def _order_in_standard(costs: Costs) -> tuple[Tensor, Tensor, Tensor]:
    """Return `inverted`, `waits` and `kept` of arc-standard, (R,) bool each, see `_Order` in `oracles.dynamic`."""
    machine = costs.machine
    assert costs.rank is not None, "a system with SWAP has it"
    _, top, second, front = machine.words().unbind(1)
    of_second, of_top = _of_words(costs.rank, second, top)
    component, of_front = _of_words(costs.component, top, front)
    waits = (machine.depth > 0) & (machine.buffer_size > 0) & (component == of_front)
    ranks = costs.rank.gather(1, machine.stack)
    above = torch.arange(1, ranks.size(1), device=ranks.device) < machine.depth[:, None]
    kept = ~(above & (ranks[:, :-1] > ranks[:, 1:])).any(1)
    return (machine.depth > 1) & (of_second > of_top), waits, kept


# --- arc-standard: the order in which words join the tree ----------------------------------------
# Source: Goldberg, Sartorio and Satta 2014, sec. 4; see `ArcStandard.lost_arcs`

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
