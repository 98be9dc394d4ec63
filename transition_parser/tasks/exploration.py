"""Training on states that the model itself reaches, through mistakes too: greedy derivations, and which actions would
have been correct at each step.

Source: Goldberg and Nivre 2013 (training with exploration), Kiperwasser and Goldberg 2016 (aggressive exploration), as
Ji et al. 2021 use it (sec. 5.1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from transition_parser.modules.contract import ActionScores, ParserModel, StateDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.states.correct import Correct, CorrectActions, GoldTrees
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.states import States

MARGIN = 1.0  # a correct action that is ahead of all wrong ones by more is taken


@dataclass(frozen=True)
class Explored:
    """Derivations of B sentences, T steps, the last of which is `</s>`.

    actions: (B, T), those that were taken; `</s>` again and again once a derivation has ended. steps: (B,), how many
    are of the derivation, one `</s>` counted. states: (B, T, …), those before each of them. correct, gold_arcs:
    (B, T, V) bool, see `Correct`.
    """

    actions: Tensor
    steps: Tensor
    states: States
    correct: Tensor
    gold_arcs: Tensor


class Draws(NamedTuple):
    """How a model explores. share: of the steps where a correct action is ahead, but not by more than `MARGIN`, that
    take the best wrong one all the same. generator: what draws them, on the CPU."""

    share: float
    generator: torch.Generator


@torch.no_grad()
def explore(model: ParserModel, net_input: Mapping[str, Any], gold: GoldTrees, draws: Draws | None) -> Explored:
    """The greedy derivation of each sentence of a batch. net_input: see `ParserModel.encode`.

    draws: with it the model follows its own mistakes: a wrong action that scores best is taken, and sometimes one that
    almost does; arcs have the relation that the model prefers. Without it only correct actions are taken, those that
    the model prefers, and arcs of the gold tree have their relations.
    """
    was_training = model.training
    model.eval()
    try:
        return _explore(model, model.encode(net_input), gold, draws)
    finally:
        model.train(was_training)


def _explore(model: ParserModel, encoder_out: EncoderOut, gold: GoldTrees, draws: Draws | None) -> Explored:
    decoder = cast(StateDecoder, model.decoder)
    search = decoder.start(encoder_out)
    machine = cast(DependencyMachine, search.machine)
    machine.swaps_left = None  # the bound of search: SWAP is taken only where the gold tree needs it, so that this ends
    oracle = CorrectActions(machine, gold)
    tokens = torch.full_like(encoder_out.lengths, decoder.table.end)
    taken: list[Tensor] = []
    states: list[States] = []
    correct: list[Correct] = []
    steps = torch.zeros_like(tokens)
    while True:
        states.append(machine.observe())
        correct.append(oracle.now())
        going_on = ~machine.is_final()
        steps += going_on
        if not bool(going_on.any()):
            break
        scores = decoder.step(tokens, search, going_on)
        tokens = _actions_to_take(scores, correct[-1], machine, draws)
        taken.append(tokens)
        machine.advance(tokens)
    taken.append(torch.full_like(tokens, decoder.table.end))
    return Explored(
        torch.stack(taken, 1),
        steps + 1,
        States.of_steps(states),
        torch.stack([step.actions for step in correct], 1),
        torch.stack([step.gold_arcs for step in correct], 1),
    )


def _actions_to_take(scores: ActionScores, correct: Correct, machine: DependencyMachine, draws: Draws | None) -> Tensor:
    """(R,): the action that each row takes; `</s>` where it is final."""
    column = machine.table.column
    values = scores.log_probabilities(len(column))  # −inf for what is not legal
    if draws is None:
        return values.masked_fill(~correct.actions, float("-inf")).argmax(1)
    of_columns = _log_sums(values, column, correct.columns.size(1))
    right = of_columns.masked_fill(~correct.columns, float("-inf"))
    wrong = of_columns.masked_fill(~correct.wrong_columns, float("-inf"))
    ahead = right.amax(1) - wrong.amax(1)
    drawn = torch.rand(len(values), generator=draws.generator).to(values.device) < draws.share
    taken = torch.where((ahead < 0) | ((ahead <= MARGIN) & drawn), wrong.argmax(1), right.argmax(1))
    return values.masked_fill(column != taken[:, None], float("-inf")).argmax(1)


def _log_sums(values: Tensor, column: Tensor, count: int) -> Tensor:
    """(R, count): for each column the log of the sum of exp(values) (R, V) of its tokens; finite where any value is."""
    index = column.expand_as(values)
    highest = values.new_full((len(values), count), float("-inf")).scatter_reduce(1, index, values, "amax")
    finite = highest.clamp_min(torch.finfo(values.dtype).min)
    return finite + torch.zeros_like(finite).scatter_add(1, index, (values - finite.gather(1, index)).exp()).log()
