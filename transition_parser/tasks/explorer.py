"""The training batches of `--oracle dynamic`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import ParserModel
from transition_parser.states.correct import GoldTrees
from transition_parser.tasks.exploration import ExplorationPolicy, explore
from transition_parser.transitions import TreeSystem

SHARE, AFTER = 0.1, 1  # the defaults of --explore and --explore-after


@dataclass
class Explorer:
    """An object that replaces the derivations of batches by derivations that the model prefers, see `explore`.

    share: see `ExplorationPolicy`
    after: the number of epochs, from the first on, in which only correct actions are taken
    padding: the id of `<pad>`
    epoch: the number of the current epoch, from 1
    """

    share: float
    after: int
    seed: int
    padding: int
    epoch: int = 1

    def explored(self, model: ParserModel, sample: Mapping[str, Any], update: int) -> dict[str, Any]:
        """Return the batch with explored derivations, and with `correct` and `gold_arcs` of `Rollout`.

        The random numbers depend on the seed, the number of the update and the first sentence of the batch, so that
        resumed training continues in the same way.
        """
        net_input = sample["net_input"]
        found = explore(model, net_input, GoldTrees(**sample["trees"]), self._policy(update, int(sample["id"][0])))
        steps = torch.arange(found.actions.size(1), device=found.actions.device)
        target = found.actions.masked_fill(steps >= found.steps[:, None], self.padding)
        ends = found.actions[:, -1:]
        return {
            **sample,
            "target": target,
            "ntokens": int(found.steps.sum()),
            "correct": found.correct,
            "gold_arcs": found.gold_arcs,
            "net_input": {
                **net_input,
                "prev_output_tokens": torch.cat([ends, target[:, :-1]], 1),
                "states": found.states.tensors(),
            },
        }

    def _policy(self, update: int, sentence: int) -> ExplorationPolicy | None:
        if self.epoch <= self.after:
            return None
        seed = (self.seed * 1_000_003 + update) * 1_000_003 + sentence
        return ExplorationPolicy(self.share, torch.Generator().manual_seed(seed % 2**63))


def explorer_of(options: Any, resources: Resources) -> Explorer | None:
    """Return the explorer for the options of the task; None if they ask for the derivations of the data.

    Raises `InputError` for options that do not fit the oracle, are out of range, or ask for a dynamic oracle of graphs
    other than dependency trees.
    """
    if str(options.oracle) == "static":
        for name in ("explore", "explore_after"):
            if getattr(options, name) is not None:
                raise InputError(f"--{name.replace('_', '-')} is for --oracle dynamic")
        return None
    if not isinstance(resources.table.system, TreeSystem):
        raise InputError(
            f"--oracle dynamic is for dependency trees: nothing says what the actions of "
            f"{resources.table.system.name} cost"
        )
    share = SHARE if options.explore is None else options.explore
    after = AFTER if options.explore_after is None else options.explore_after
    if not 0.0 <= share <= 1.0:
        raise InputError(f"--explore {share} is not between 0 and 1")
    if after < 0:
        raise InputError(f"--explore-after {after} is negative")
    return Explorer(share, after, options.seed, resources.target_dictionary.pad())
