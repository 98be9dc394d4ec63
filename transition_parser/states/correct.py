"""The correct actions in any state, including states that no derivation of the gold tree reaches."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.states.costs import Costs
from transition_parser.states.machine import DependencyMachine, effects_table
from transition_parser.states.states import States


class GoldTrees(NamedTuple):
    """The gold trees of B sentences, with P positions as in `States`. Values at the root and behind it do not matter.

    heads: (B, P); the position of each word's head; the artificial root's position is the number of words
    relations: (B, P); ids of `ActionTable.relations`
    """

    heads: Tensor
    relations: Tensor

    @classmethod
    def of_last(cls, states: States) -> GoldTrees:
        """Return the trees that derivations have built before their last action.

        states: (B, T, …); the states before each of T actions, with the fields in `TREE`

        Raises `ValueError` for states without these fields.
        """
        if states.head is None or states.relation is None:
            raise ValueError("the states have no trees")
        offsets = states.head[:, -1].long()
        return cls(offsets + torch.arange(offsets.size(1), device=offsets.device), states.relation[:, -1].long())


class Correct(NamedTuple):
    """The correct columns and actions in R states, for the C columns and V tokens of `ActionTable`.

    columns: (R, C) bool; the legal columns whose actions lose the fewest arcs of the gold tree
    wrong_columns: (R, C) bool; the other legal columns, except those that must not be explored (`Costs.now`)
    actions: (R, V) bool; the correct actions: the legal actions of correct columns. An action that builds a gold arc
        must have the gold relation. An action that builds another arc may have any relation, because the dependent
        can no longer get its gold head.
    gold_arcs: (R, V) bool; the correct actions that build an arc of the gold tree, at most one for each kind
    """

    columns: Tensor
    wrong_columns: Tensor
    actions: Tensor
    gold_arcs: Tensor


class CorrectActions:
    """The correct actions in the current states of a batched machine. Each row is a sentence.

    Source: Goldberg and Nivre 2012 (dynamic oracles). `Costs` computes the costs of each system.
    """

    def __init__(self, machine: DependencyMachine, gold: GoldTrees) -> None:
        self.machine, self.gold = machine, gold
        self.costs = Costs(machine, torch.where(gold.heads == machine.root[:, None], 0, gold.heads + 1))

    def now(self) -> Correct:
        """Return the correct actions in the current states."""
        table, legal_columns = self.machine.table, self.machine.legal_columns()
        costs = self.costs.now()
        columns = legal_columns & (costs == costs.amin(1, keepdim=True))
        is_gold, relation = self._gold_columns()
        is_gold, relation = is_gold[:, table.column], relation[:, table.column]
        actions = self.machine.legal() & columns[:, table.column] & ((table.relation == relation) | ~is_gold)
        explorable = legal_columns & (costs <= self.machine.root[:, None])
        return Correct(columns, explorable & ~columns, actions, actions & is_gold)

    def _gold_columns(self) -> tuple[Tensor, Tensor]:
        """Return (R, C) bool, True where a column's arc is in the gold tree, and (R, C), the relation of that arc."""
        effects = effects_table(self.machine.table.system, self.gold.heads.device)
        words = self.machine.words()
        dependents, heads = words[:, effects[:, 0]], words[:, effects[:, 1]]
        index = dependents.clamp(0, self.gold.heads.size(1) - 1)
        is_gold = (effects[:, 0] > 0) & (self.gold.heads.gather(1, index) == heads)
        return is_gold, self.gold.relations.gather(1, index)
