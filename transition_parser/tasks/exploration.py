"""Training on states that the model itself reaches, with a dynamic oracle's correct actions.

Source: Goldberg and Nivre 2013, Kiperwasser and Goldberg 2016 (aggressive), as Ji et al. 2021 use it (sec. 5.1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from fairseq.utils import model_eval
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import ActionScores, ParserModel, StateDecoder
from transition_parser.states.costs import SYSTEMS, Correct, Costs, GoldTrees
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.states import States

MARGIN = 1.0  # a correct kind of action that leads all wrong kinds by more than this log-probability is always taken


@dataclass(frozen=True)
class Rollout:
    """Derivations of B sentences, padded to T steps, over a vocabulary of V actions."""

    actions: Tensor  # (B, T); `</s>` ends each derivation and fills its row
    steps: Tensor  # (B,); the length of each, with one `</s>`
    states: States  # (B, T, …); before each action
    correct: Tensor  # (B, T, V) bool, see `Correct.actions`
    gold_arcs: Tensor  # (B, T, V) bool, see `Correct.gold_arcs`


class ExplorationPolicy(NamedTuple):
    """The settings for exploring wrong actions at random."""

    share: float  # probability of the best wrong kind where the best correct kind leads by at most `MARGIN`
    generator: torch.Generator  # on the CPU


@torch.no_grad()
def explore(
    model: ParserModel, net_input: Mapping[str, Any], gold: GoldTrees, policy: ExplorationPolicy | None
) -> Rollout:
    """Return the greedy derivation of each sentence: of correct actions, or with `policy` of the model's own."""
    decoder = cast(StateDecoder, model.decoder)
    with model_eval(model):
        encoder_out = model.encode(net_input)
        search = decoder.start(encoder_out)
        machine = cast(DependencyMachine, search.machine)
        # no limit on SWAPs, unlike in search: derivations end, because SWAP is taken only where the gold tree needs it
        machine.swaps_left = None
        costs = Costs(machine, gold.heads)
        tokens = torch.full_like(encoder_out.lengths, decoder.table.end)
        taken: list[Tensor] = []
        states: list[States] = []
        correct: list[Correct] = []
        steps = torch.zeros_like(tokens)
        while True:
            states.append(machine.observe())
            correct.append(costs.correct(gold))
            going_on = ~machine.is_final()
            steps += going_on
            if not bool(going_on.any()):
                break
            scores = decoder.step(tokens, search)
            tokens = _actions_to_take(scores, correct[-1], machine, policy)
            taken.append(tokens)
            machine.apply(tokens)
    taken.append(torch.full_like(tokens, decoder.table.end))
    return Rollout(
        torch.stack(taken, 1),
        steps + 1,
        States.of_steps(states),
        torch.stack([step.actions for step in correct], 1),
        torch.stack([step.gold_arcs for step in correct], 1),
    )


def _actions_to_take(
    scores: ActionScores, correct: Correct, machine: DependencyMachine, policy: ExplorationPolicy | None
) -> Tensor:
    """Return the next action of each of R derivations, (R,) int64; `</s>` for derivations in a final state."""
    column, kind = machine.table.column, machine.table.kind
    values = scores.log_probabilities()  # −inf for illegal actions
    if policy is None:
        return values.masked_fill(~correct.actions, float("-inf")).argmax(1)
    right, wrong = (
        _log_sums(values.masked_fill(~columns[:, column], float("-inf")), kind, columns.size(1))
        for columns in (correct.columns, correct.wrong_columns)
    )
    ahead = right.amax(1) - wrong.amax(1)
    sampled = torch.rand(len(values), generator=policy.generator).to(values.device) < policy.share
    taken = torch.where((ahead < 0) | ((ahead <= MARGIN) & sampled), wrong.argmax(1), right.argmax(1))
    return values.masked_fill(kind != taken[:, None], float("-inf")).argmax(1)


def _log_sums(values: Tensor, kind: Tensor, count: int) -> Tensor:
    """Return the log-sum-exp of the values of the tokens of each kind, (R, count)."""
    index = kind.expand_as(values)
    highest = values.new_full((len(values), count), float("-inf")).scatter_reduce(1, index, values, "amax")
    finite = highest.clamp_min(torch.finfo(values.dtype).min)
    return finite + torch.zeros_like(finite).scatter_add(1, index, (values - finite.gather(1, index)).exp()).log()


@dataclass
class Explorer:
    """An object that replaces the derivations of batches by derivations that the model prefers, see `explore`."""

    share: float
    after: int  # the number of first epochs in which only correct actions are taken
    seed: int
    padding: int  # the id of `<pad>`
    epoch: int = 1  # from 1

    def explored(self, model: ParserModel, sample: Mapping[str, Any], update: int) -> dict[str, Any]:
        """Return the batch with explored derivations; random numbers depend on seed, update and first sentence."""
        net_input, policy = sample["net_input"], None
        if self.epoch > self.after:
            seed = (self.seed * 1_000_003 + update) * 1_000_003 + int(sample["id"][0])
            policy = ExplorationPolicy(self.share, torch.Generator().manual_seed(seed % 2**63))
        found = explore(model, net_input, GoldTrees(**net_input["trees"]), policy)
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
                "trees": None,
            },
        }


def explorer_of(options: Any, resources: Resources) -> Explorer | None:
    if str(options.oracle) == "static":
        return None
    if resources.parser.system not in SYSTEMS:
        known = ", ".join(SYSTEMS)
        raise InputError(f"--oracle dynamic is for {known}: nothing says what {resources.parser.system}'s actions cost")
    if not 0.0 <= options.explore <= 1.0:
        raise InputError(f"--explore {options.explore} is not between 0 and 1")
    if options.explore_after < 0:
        raise InputError(f"--explore-after {options.explore_after} is negative")
    return Explorer(options.explore, options.explore_after, options.seed, resources.target_dictionary.pad())
