"""The dynamic oracles of trees: the costs of actions in any state of a batch, and the actions that are correct.

The cost of an action is the number of gold arcs that could be built before the action but not after it. The legality
rules guarantee that trees have one root (`TreeSystem`). The formulas of the papers are for machines without such rules,
so they are wrong in some configurations. The costs here are exact for every projective tree, in every configuration
that legal actions reach. With SWAP this holds only if all actions so far have cost 0: SWAP costs nothing where the
static oracle would take it, and is not explored elsewhere; SHIFT is not explored where it would put a word onto a word
that is out of order, unless SWAP has to wait and no arc costs 0.

Shapes: R rows, P positions, C columns and V tokens as for `DependencyMachine`; K actions (`_ACTIONS`).

Source: Goldberg and Nivre 2013 (arc-hybrid); de Lhoneux, Stymne and Nivre 2017, sec. 4 (SWAP)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.states.machine import DependencyMachine, effects_table
from transition_parser.states.states import States
from transition_parser.states.table import KIND_OF_CLASS, ActionClass
from transition_parser.transitions.tree_system import GoldTree

SYSTEMS = ("arc-hybrid", "arc-hybrid-swap")  # the systems whose actions have costs here
ILLEGAL = 1_000_000  # the cost of illegal actions: above the number of words of any sentence
# The K actions whose loss of gold arcs is computed. NEVER does nothing: its loss is that of the current configuration.
_ACTIONS = (ActionClass.NEVER, ActionClass.SHIFT, ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC)
_, _SHIFT, _LEFT_ARC, _RIGHT_ARC, _SWAP, _OTHERS = range(6)  # the rows of the cost matrix; END is one of the others


class GoldTrees(NamedTuple):
    """The gold trees of B sentences, (B, P) each: positions of heads (the root is last) and ids of relations."""

    heads: Tensor
    relations: Tensor

    @classmethod
    def of_last(cls, states: States) -> GoldTrees:
        """Return the trees in the last of the states (B, T, …) of derivations, which have the fields in `TREE`.

        In a derivation that does not end, each word has itself for a head, and no relation.
        """
        assert states.head is not None and states.relation is not None, "trees need the fields in `TREE`"
        ended = states.columns[:, -1, ActionClass.END, None].long()
        offsets, relations = (ended * values[:, -1].long() for values in (states.head, states.relation))
        return cls(offsets + torch.arange(offsets.size(1), device=offsets.device), relations)


class Correct(NamedTuple):
    """The correct columns, (R, C) bool, and actions, (R, V) bool, in R states.

    A correct action that builds a gold arc has the gold relation. One that builds another arc may have any relation,
    because the dependent can no longer get its gold head.
    """

    columns: Tensor  # the legal columns whose actions lose the fewest arcs of the gold tree
    wrong_columns: Tensor  # the other legal columns, except those that must not be explored (`Costs.now`)
    actions: Tensor  # the legal actions of correct columns
    gold_arcs: Tensor  # the correct actions that build an arc of the gold tree, at most one for each kind


class Costs:
    """The costs of the actions of a machine, which does not limit swaps, in its current configurations."""

    def __init__(self, machine: DependencyMachine, heads: Tensor) -> None:
        self.machine = machine
        self.effects = effects_table(machine.table.system, heads.device)[torch.tensor(_ACTIONS, device=heads.device)]
        rows = dict(zip((*_ACTIONS, ActionClass.SWAP), range(_OTHERS), strict=True))
        self.rows = torch.tensor([rows.get(KIND_OF_CLASS.get(c, c), _OTHERS) for c in ActionClass], device=heads.device)
        self.gold = _Gold.of_heads(heads, machine.root, machine.width)

    def now(self) -> Tensor:
        """Return (R, C), the costs: `ILLEGAL` for illegal actions, more than all words for SWAPs not to explore."""
        after, words = _After.of_actions(self.machine, self.effects), self.machine.words()
        dependents, heads = words[:, self.effects[:, 0]], words[:, self.effects[:, 1]]
        wrong = (self.effects[:, 0] > 0) & (self.gold.heads.gather(1, dependents) != heads)
        lost = _lost_arcs(after.swapped(self.gold.rank), self.gold) + wrong.t()
        legal = self.machine.legal_columns()
        found = self._with_swap(lost - lost[:1], legal)
        return torch.where(legal, found.index_select(0, self.rows).t(), ILLEGAL)

    def correct(self, gold: GoldTrees) -> Correct:
        """Return the correct actions in the current states, given the trees whose heads the costs are of."""
        machine, table = self.machine, self.machine.table
        costs, legal_columns = self.now(), machine.legal_columns()
        columns = legal_columns & (costs == costs.amin(1, keepdim=True))
        effects, words = effects_table(table.system, gold.heads.device), machine.words()
        dependents, heads = words[:, effects[:, 0]], words[:, effects[:, 1]]
        index = dependents.clamp(0, gold.heads.size(1) - 1)
        is_gold = (effects[:, 0] > 0) & (gold.heads.gather(1, index) == heads)
        is_gold, relation = is_gold[:, table.column], gold.relations.gather(1, index)[:, table.column]
        actions = machine.legal() & columns[:, table.column] & ((table.relation == relation) | ~is_gold)
        explorable = legal_columns & (costs <= machine.root[:, None])
        return Correct(columns, explorable & ~columns, actions, actions & is_gold)

    def _with_swap(self, found: Tensor, legal: Tensor) -> Tensor:
        """Return (K + 2, R), the costs of all actions, given the arcs that K actions lose, (K, R).

        SWAP waits for a left arc to the front in its projective component, as in a lazy oracle.
        """
        gold, forbidden = self.gold, self.machine.root + 1
        root, top, _, front = self.machine.words().unbind(1)
        inverted = (self.machine.depth > 0) & (_of_words(gold.rank, top) > _of_words(gold.rank, front))
        head = _of_words(gold.heads, front)
        waits = (front < root) & (head > front) & (_of_words(gold.component, front) == _of_words(gold.component, head))
        free_left = (found[_LEFT_ARC] == 0) & legal[:, ActionClass.LEFT_ARC_ANY]
        free_right = (found[_RIGHT_ARC] == 0) & legal[:, ActionClass.RIGHT_ARC]
        found[_SHIFT] += torch.where(inverted & (free_left | free_right | ~waits), forbidden, 0)
        return torch.cat([found, torch.where(inverted & ~waits, 0, forbidden)[None], torch.zeros_like(found[:1])])


class _Gold(NamedTuple):
    """The gold trees of R rows, (R, P + 1) each; positions as in the machine."""

    heads: Tensor  # the head of the root, and of all positions after it, is the root
    rank: Tensor  # the places of words in projective order
    component: Tensor  # the heads of the projective components of words

    @classmethod
    def of_heads(cls, heads: Tensor, root: Tensor, width: int) -> _Gold:
        positions = torch.arange(width + 1, device=heads.device)
        heads = torch.where(positions < root[:, None], F.pad(heads[:, : width - 1], (0, 2)), root[:, None])
        trees = [
            GoldTree(DependencyTree(tuple((head + 1) % (n + 1) for head in row[:n]), ("",) * n))
            for row, n in zip(heads.tolist(), root.tolist(), strict=True)
        ]
        after_root = [range(tree.root + 1, width + 1) for tree in trees]
        rows = [((*tree.rank, *rest), (*tree.component, *rest)) for tree, rest in zip(trees, after_root)]
        return cls(heads, *torch.tensor(rows, device=heads.device).unbind(1))


class _After(NamedTuple):
    """The configurations of R rows after each of K actions. Only legal actions lead to meaningful ones."""

    root: Tensor  # (R, 1)
    stack: Tensor  # (K, R, P + 1); the words of the stack, bottom first
    on_stack: Tensor  # (K, R, P + 1) bool; True for entries of `stack` that are in use
    buffer: Tensor  # (K, R, P + 1) bool; True for words in the buffer; False for the root

    @classmethod
    def of_actions(cls, machine: DependencyMachine, effects: Tensor) -> _After:
        shape, width, words = (len(effects), *machine.stack.shape), machine.width, machine.words()
        _, _, pops, push, buffer_pops, *_ = effects.unbind(1)
        positions, root = torch.arange(width + 1, device=words.device), machine.root[:, None]
        depth = (machine.depth - pops[:, None]).clamp_min(0)
        pushes = (push > 0)[:, None]
        stack, place = machine.stack.expand(shape).clone(), torch.where(pushes, depth, width)
        stack.scatter_(2, place[..., None], words[:, push].t()[..., None])
        in_buffer = torch.where(positions < machine.buffer_size[:, None], machine.buffer, width)
        buffer = torch.zeros(shape[1:], dtype=torch.bool, device=words.device).scatter_(1, in_buffer, True)
        buffer = (buffer & (positions < root)).expand(shape).clone()
        buffer.scatter_(2, torch.where(buffer_pops[:, None] > 0, words[:, 3], width)[..., None], False)
        return cls(root, stack, positions < (depth + pushes)[..., None], buffer)

    def swapped(self, rank: Tensor) -> _After:
        """Return the configurations after all pending swaps, which move words that are out of order to the buffer."""
        far, of_words = rank.size(1), rank.expand_as(self.stack)
        first = torch.where(self.buffer, of_words, far).amin(2, keepdim=True)
        ranks = of_words.gather(2, self.stack)
        least_above = torch.where(self.on_stack, ranks, far).flip(2).cummin(2).values.flip(2)
        in_order = self.on_stack & (ranks <= torch.minimum(least_above, first))
        moved = torch.where(self.on_stack & ~in_order, self.stack, far - 1)
        buffer = self.buffer.scatter(2, moved, True)
        buffer[..., -1] = False
        return self._replace(on_stack=in_order, buffer=buffer)


def _lost_arcs(after: _After, gold: _Gold) -> Tensor:
    """Return (K, R), the lost arcs word by word, as if the root were below the stack, where heads may be, too."""
    lower = torch.where(after.on_stack, torch.arange(after.stack.size(2), device=after.stack.device), -1).cummax(2)
    lower = F.pad(lower.values[..., :-1], (1, 0), value=-1)
    below = torch.where(lower < 0, after.root, after.stack.gather(2, lower.clamp_min(0)))
    heads = gold.heads.expand_as(after.stack).gather(2, after.stack)
    lost_on_stack = after.on_stack & (heads != below) & ~after.buffer.gather(2, heads)
    there = after.buffer.scatter(2, torch.where(after.on_stack, after.stack, after.stack.size(2) - 1), True)
    there.scatter_(2, after.root.expand(*after.stack.shape[:2], 1), True)
    lost_in_buffer = after.buffer & ~there.gather(2, gold.heads.expand_as(after.stack))  # their heads were popped
    return lost_on_stack.sum(2) + lost_in_buffer.sum(2)


def _of_words(values: Tensor, words: Tensor) -> Tensor:
    """Return the entry of `values` (R, P + 1) at a word in each row, (R,)."""
    return values.gather(1, words[:, None])[:, 0]
