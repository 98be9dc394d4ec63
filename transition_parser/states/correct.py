"""Which actions are correct in states that no derivation of the gold tree need reach."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.states.costs import Costs
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.specs import effects_table
from transition_parser.states.states import States


class GoldTrees(NamedTuple):
    """The trees of B sentences. heads: (B, P), the position of the head of each word, which for the root's dependent is
    the number of words. relations: (B, P), ids of `ActionTable.relations`. Both are anything at the root and behind it.
    """

    heads: Tensor
    relations: Tensor

    @classmethod
    def of_last(cls, states: States) -> GoldTrees:
        """Those that derivations have built before the last of their actions. states: (B, T, …), with `TREE`."""
        if states.head is None or states.relation is None:
            raise ValueError("the states have no trees")
        offsets = states.head[:, -1].long()
        return cls(offsets + torch.arange(offsets.size(1), device=offsets.device), states.relation[:, -1].long())


class Correct(NamedTuple):
    """What is correct in R states.

    columns: (R, C) bool, the legal columns whose actions lose the fewest arcs of the gold tree. actions: (R, V) bool,
    the legal actions that are correct: those of correct columns, but an arc of the gold tree has its relation; where
    a word can't get its head any more, all relations are as good. wrong_columns: (R, C) bool, the other legal columns
    whose actions may be explored. gold_arcs: (R, V) bool, the correct actions that build an arc of the gold tree, one
    at the most for each column.
    """

    columns: Tensor
    wrong_columns: Tensor
    actions: Tensor
    gold_arcs: Tensor


class CorrectActions:
    """What is correct in each state of a batched machine, as it moves on; a row is a sentence.

    Source: Goldberg and Nivre 2012 (dynamic oracles), for each system as `Costs` says.
    """

    def __init__(self, machine: DependencyMachine, gold: GoldTrees) -> None:
        self.machine, self.gold = machine, gold
        self.costs = Costs(machine, torch.where(gold.heads == machine.root[:, None], 0, gold.heads + 1))

    def now(self) -> Correct:
        """What is correct before the next action."""
        table, legal_columns = self.machine.table, self.machine.legal_columns()
        costs = self.costs.now()
        columns = legal_columns & (costs == costs.amin(1, keepdim=True))
        is_gold, relation = self._gold_columns()
        is_gold, relation = is_gold[:, table.column], relation[:, table.column]
        actions = self.machine.legal() & columns[:, table.column] & ((table.relation == relation) | ~is_gold)
        explorable = legal_columns & (costs <= self.machine.root[:, None])
        return Correct(columns, explorable & ~columns, actions, actions & is_gold)

    def _gold_columns(self) -> tuple[Tensor, Tensor]:
        """(R, C) each: whether the arc of a column is of the gold tree, and the relation that it has there."""
        effects = effects_table(self.machine.table.system, self.gold.heads.device)
        words = self.machine.words()
        dependents, heads = words[:, effects[:, 0]], words[:, effects[:, 1]]
        index = dependents.clamp(0, self.gold.heads.size(1) - 1)
        is_gold = (effects[:, 0] > 0) & (self.gold.heads.gather(1, index) == heads)
        return is_gold, self.gold.relations.gather(1, index)
