"""Given facts as masks of the actions that search may take next.

Search keeps to the spans of given nodes and to words without nodes, and `completion` adds the other facts to the
finished graph. Masks of nodes and edges, too, would give worse graphs: they lead search to states that training lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.completion import SentenceFacts
from transition_parser.states.amr_machine import AmrMachine
from transition_parser.states.amr_rules import Rows
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Kind
from transition_parser.transitions.amr_state import MAKE_NODES


class Guide:
    """The masks for the search of one batch of S sentences, with V tokens of actions.

    facts: the facts about each sentence, None for sentences without facts
    """

    def __init__(self, table: ActionTable, facts: Sequence[SentenceFacts | None], device: torch.device) -> None:
        width = 2 + max(len(one.words) for one in facts if one is not None)
        kinds = [action and action.kind for action in table.actions]
        self._merge = torch.tensor([kind is Kind.MERGE for kind in kinds], device=device)  # (V,) bool
        self._makes = torch.tensor([kind in MAKE_NODES for kind in kinds], device=device)
        joins, cuts, bare = torch.zeros(3, len(facts), width, dtype=torch.long)
        for sentence, one in enumerate(facts):
            if one is not None:
                joins[sentence, [*one.merged]] = 1
                cuts[sentence, [*one.cut]] = 1
                bare[sentence, [word + 1 for word in one.given.none]] = 1
        self._joins, self._cuts = (
            joins.bool().to(device),
            cuts.bool().to(device),
        )  # (S, P): MERGE at this position, or not
        self._bare = bare.cumsum(1).to(device)  # words without nodes before each position

    def restrict(self, scores: ActionScores, machine: AmrMachine) -> ActionScores:
        """Return the scores with another legality, −1 for legal actions that contradict facts.

        The most important mask comes first; a mask that leaves a row without actions is passed over.
        """
        rows = Rows(*machine.numbers.unbind(1))
        last = self._bare.size(1) - 1  # sentences without facts may be longer
        sentence, first, position = rows.sentence, rows.first.clamp(max=last), rows.position.clamp(max=last)
        merge, makes = self._merge, self._makes
        is_bare = self._bare[sentence, position] > self._bare[sentence, first]
        join, cut = self._joins[sentence, position], self._cuts[sentence, position]
        allowed = legal = scores.legal > 0
        for where, forbidden in ((join, ~merge), (cut, merge), (is_bare, makes)):
            narrowed = allowed & ~(where[:, None] & forbidden)
            allowed = torch.where(narrowed.any(1, keepdim=True), narrowed, allowed)
        return scores._replace(legal=scores.legal.masked_fill(legal & ~allowed, -1))
