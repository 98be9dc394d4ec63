"""The dynamic oracles of trees: the costs of actions in any state of a batch, and the actions that are correct.

The cost of an action is the number of gold arcs that could be built before the action but not after it. The legality
rules guarantee that trees have one root (`TreeSystem`). The formulas of the papers are for machines without such rules,
so they are wrong in some configurations. The costs here are exact for every projective tree, in every configuration
that legal actions reach. With SWAP this holds only if all actions so far have cost 0: SWAP costs nothing where the
static oracle would take it, and is not explored elsewhere; SHIFT is not explored where it would put a word onto a word
that is out of order, unless SWAP has to wait and no arc costs 0.

Shapes: R rows, P positions, C columns and V tokens as for `DependencyMachine`; K actions (`Costs.actions`).

Source: Goldberg and Nivre 2012 and 2013 (arc-eager, arc-hybrid); Goldberg, Sartorio and Satta 2014 (arc-standard); de
Lhoneux, Stymne and Nivre 2017, sec. 4 (SWAP); Nivre, Kuhlmann and Hall 2009, sec. 3 (when to take SWAP)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.graphs.dependency import DependencyTree
from transition_parser.kernels import loader, trees
from transition_parser.states.machine import DependencyMachine, effects_table
from transition_parser.states.states import States
from transition_parser.states.table import KIND_OF_CLASS, ActionClass
from transition_parser.transitions import TREE_SYSTEMS, Action, Kind, State
from transition_parser.transitions.tree_system import NO_HEAD, GoldTree

ILLEGAL = 1_000_000  # the cost of illegal actions: above the number of words of any sentence
# The actions whose loss of gold arcs is computed. NEVER does nothing: its loss is that of the current configuration.
_ACTIONS = (ActionClass.NEVER, ActionClass.SHIFT, ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC, ActionClass.REDUCE)
_LEGAL = {ActionClass.LEFT_ARC: ActionClass.LEFT_ARC_ANY}  # action → the column that is legal where the action is


class GoldTrees(NamedTuple):
    """The gold trees of B sentences, (B, P) each: positions of heads (the root is last) and ids of relations."""

    heads: Tensor
    relations: Tensor

    @classmethod
    def of_last(cls, states: States) -> GoldTrees:
        """Return the trees in the last of the states (B, T, …) of derivations, which have the fields in `TREE`."""
        assert states.head is not None and states.relation is not None, "trees need the fields in `TREE`"
        offsets = states.head[:, -1].long()
        return cls(offsets + torch.arange(offsets.size(1), device=offsets.device), states.relation[:, -1].long())


class Correct(NamedTuple):
    """The correct columns, (R, C) bool, and actions, (R, V) bool, in R states.

    A correct action that builds a gold arc has the gold relation. One that builds another arc may have any relation,
    because the dependent can no longer get its gold head.
    """

    columns: Tensor  # the legal columns whose actions lose the fewest arcs of the gold tree
    wrong_columns: Tensor  # the other legal columns, except those that must not be explored (`Costs.now`)
    actions: Tensor  # the legal actions of correct columns
    gold_arcs: Tensor  # the correct actions that build an arc of the gold tree, at most one for each kind


class CorrectActions:
    """The correct actions in the current states of a batched machine. Each row is a sentence."""

    def __init__(self, machine: DependencyMachine, gold: GoldTrees) -> None:
        self.machine, self.gold, self.costs = machine, gold, Costs(machine, gold.heads)

    def now(self) -> Correct:
        """Return the correct actions in the current states."""
        machine, table = self.machine, self.machine.table
        costs, legal_columns = self.costs.now(), machine.legal_columns()
        columns = legal_columns & (costs == costs.amin(1, keepdim=True))
        effects, words = effects_table(table.system, self.gold.heads.device), machine.words()
        dependents, heads = words[:, effects[:, 0]], words[:, effects[:, 1]]
        index = dependents.clamp(0, self.gold.heads.size(1) - 1)
        is_gold = (effects[:, 0] > 0) & (self.gold.heads.gather(1, index) == heads)
        is_gold, relation = is_gold[:, table.column], self.gold.relations.gather(1, index)[:, table.column]
        actions = machine.legal() & columns[:, table.column] & ((table.relation == relation) | ~is_gold)
        explorable = legal_columns & (costs <= machine.root[:, None])
        return Correct(columns, explorable & ~columns, actions, actions & is_gold)


class Costs:
    """The costs of the actions of a machine, which does not limit swaps, in its current configurations."""

    def __init__(self, machine: DependencyMachine, heads: Tensor) -> None:
        self.machine, self.system = machine, TREE_SYSTEMS[machine.table.system]()
        self.swaps = not self.system.projective_only
        known = {ActionClass.NEVER, *(ActionClass[kind.name] for kind in machine.spec.rules)}
        self.actions = [column for column in _ACTIONS if column in known]
        self.effects = effects_table(machine.table.system, torch.device("cpu"))[torch.tensor(self.actions)]
        # the row of each column in the cost matrix: SWAP stands after all actions, actions without costs after SWAP
        rows = {column: row for row, column in enumerate((*self.actions, *[ActionClass.SWAP] * self.swaps))}
        self.columns = torch.tensor([rows.get(KIND_OF_CLASS.get(c, c), len(rows)) for c in ActionClass])
        # (R, P + 1), numbered as in the machine; the head of the root, and of all positions after it, is the root
        root, words = machine.root.cpu()[:, None], machine.width - 1
        self.heads = root.repeat(1, words + 2)
        self.heads[:, :words] = torch.where(torch.arange(words) < root, heads[:, :words].cpu(), root)
        self.gold: list[GoldTree] = []
        self.rank: Tensor | None = None
        self.compiled = bool(self.system.loss) and loader.library() is not None
        if self.swaps or not self.compiled:
            for given, n in zip(self.heads.tolist(), root[:, 0].tolist(), strict=True):
                self.gold.append(GoldTree(DependencyTree(tuple((head + 1) % (n + 1) for head in given[:n]), ("",) * n)))
        if self.swaps:
            after_root = [range(gold.root + 1, words + 2) for gold in self.gold]
            both = zip(self.gold, after_root, strict=True)
            ranks, components = zip(*(((*g.rank, *rest), (*g.component, *rest)) for g, rest in both), strict=True)
            self.rank, self.component = torch.tensor(ranks), torch.tensor(components)

    def now(self) -> Tensor:
        """Return (R, C), the costs: `ILLEGAL` for illegal actions, more than all words for SWAPs not to explore."""
        c = _Configurations.from_machine(self.machine)
        if self.compiled:
            found = trees.lost_arcs(self.system.loss, self.effects, *c[:-1], self.heads, self.rank)
        else:
            found = self._lost_by_states(c)
        if self.swaps:
            found = self._with_swap(c, found)
        padded = torch.cat([found, torch.zeros_like(found[:1])])
        costs = torch.where(c.legal, padded.index_select(0, self.columns).t(), ILLEGAL)
        return costs.to(self.machine.root.device)

    def _lost_by_states(self, c: _Configurations) -> Tensor:
        """Return how many gold arcs each legal action loses, (K, R), by the pure-Python system."""
        lost = torch.zeros(len(self.actions), len(c.root), dtype=torch.long)
        for row, gold in enumerate(self.gold):
            stack, buffer = c.stack[row, : c.depth[row]], c.buffer[row, : c.buffer_size[row]].flip(0)
            heads = [NO_HEAD] * gold.root if c.arcs is None else c.arcs[row, : gold.root].tolist()
            state = State([""] * gold.root, stack.tolist(), buffer.tolist(), heads, [None] * gold.root)
            before = self.system.missing_arcs(state, gold)
            for number, column in enumerate(self.actions):
                if c.legal[row, _LEGAL.get(column, column)]:
                    after = self.system.apply(state, Action(Kind[column.name]))
                    lost[number, row] = self.system.missing_arcs(after, gold) - before
        return lost

    def _with_swap(self, c: _Configurations, found: Tensor) -> Tensor:
        """Return (K + 1, R), the costs of all actions in a system with SWAP, given the arcs that each loses, (K, R).

        inverted: the two words that SWAP exchanges are not in projective order
        waits: a lazy oracle delays the swap
        kept: SHIFT would not put a word onto words that are out of order
        """
        order = self._order_in_standard if self.system.spec.closes_on_stack else self._order_in_hybrid
        inverted, waits, kept = order(c)
        forbidden = c.root + 1
        arcs = [self.actions.index(column) for column in (ActionClass.LEFT_ARC, ActionClass.RIGHT_ARC)]
        arc_legal = c.legal[:, ActionClass.LEFT_ARC_ANY], c.legal[:, ActionClass.RIGHT_ARC]
        free_arc = sum((found[i] == 0) & may for i, may in zip(arcs, arc_legal, strict=True)) > 0
        buries = ~kept & (free_arc | ~waits)
        found[self.actions.index(ActionClass.SHIFT)] += torch.where(buries, forbidden, 0)
        return torch.cat([found, torch.where(inverted & ~waits, 0, forbidden)[None]])

    def _order_in_hybrid(self, c: _Configurations) -> tuple[Tensor, Tensor, Tensor]:
        """Return `inverted`, `waits` and `kept` of arc-hybrid, (R,) bool each.

        SWAP waits for a left arc to the front in its projective component.
        """
        root, top, _, front = c.words.unbind(1)
        of_top, of_front = _of_words(self.rank, top, front)
        inverted = (c.depth > 0) & (of_top > of_front)
        (head,) = _of_words(self.heads, front)
        component, of_head = _of_words(self.component, front, head)
        return inverted, (front < root) & (head > front) & (component == of_head), ~inverted

    def _order_in_standard(self, c: _Configurations) -> tuple[Tensor, Tensor, Tensor]:
        """Return `inverted`, `waits` and `kept` of arc-standard, (R,) bool each.

        SWAP waits while the top and the front share a projective component.
        """
        assert self.rank is not None, "a system with SWAP has it"
        _, top, second, front = c.words.unbind(1)
        of_second, of_top = _of_words(self.rank, second, top)
        component, of_front = _of_words(self.component, top, front)
        waits = (c.depth > 0) & (c.buffer_size > 0) & (component == of_front)
        ranks = self.rank.gather(1, c.stack)
        above = torch.arange(1, ranks.size(1)) < c.depth[:, None]
        kept = ~(above & (ranks[:, :-1] > ranks[:, 1:])).any(1)
        return (c.depth > 1) & (of_second > of_top), waits, kept


class _Configurations(NamedTuple):
    """The configurations of a machine, on the host: what `trees.lost_arcs` reads of them, and the legal columns."""

    root: Tensor
    stack: Tensor
    depth: Tensor
    buffer: Tensor
    buffer_size: Tensor
    arcs: Tensor | None
    words: Tensor
    legal: Tensor

    @classmethod
    def from_machine(cls, machine: DependencyMachine) -> _Configurations:
        """Return the current configurations by one copy, so that the host waits for a device once."""
        arcs = machine.heads if machine.spec.reads_arcs else None
        parts = [machine.root, machine.stack, machine.depth, machine.buffer, machine.buffer_size, arcs, machine.words()]
        parts.append(machine.legal_columns())
        if machine.root.is_cpu:
            return cls(*parts)
        there = [part.view(len(part), -1) for part in parts if part is not None]
        copies = iter(torch.cat(there, 1).cpu().split([part.size(1) for part in there], 1))
        return cls(
            *(None if part is None else next(copies).reshape(part.shape).to(part.dtype).contiguous() for part in parts)
        )


def _of_words(values: Tensor | None, *words: Tensor) -> tuple[Tensor, ...]:
    """Return, for each tensor of words (R,), the entry of `values` (R, P + 1) at this word in each row, (R,)."""
    assert values is not None
    return tuple(values.gather(1, word[:, None])[:, 0] for word in words)
