"""Losses for states in which several actions may be correct, for training on explored states."""

from __future__ import annotations

import torch
from torch import Tensor

MARGIN = 1.0


def cross_entropy_of_correct(scores: Tensor, legal: Tensor, correct: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return (loss, negative log-probability of the set of correct actions) for each of N states, (N,) each, in nats.

    scores: (N, V), before the softmax, for V actions
    legal: (N, V), 1 for the actions that compete, 0 for others
    correct: (N, V) bool, the correct actions, which are among the competing actions
    smoothing: the share of the loss that rewards all competing actions equally
    """
    scores = scores.float()
    competing = scores.masked_fill(legal == 0, float("-inf"))
    normaliser = competing.logsumexp(1)
    nll = normaliser - scores.masked_fill(~correct, float("-inf")).logsumexp(1)
    mean = (scores * legal).sum(1) / legal.sum(1).clamp_min(1)
    return (1.0 - smoothing) * nll + smoothing * (normaliser - mean), nll.detach()


def hinge_and_relations(
    scores: Tensor, legal: Tensor, correct: Tensor, gold_arcs: Tensor, kind: Tensor, kinds: int, weight: float
) -> Tensor:
    """Return the loss of N states, (N,): weight · hinge + (1 − weight) · cross-entropy of the relations.

    Source: Ji et al. 2021, sec. 5.1. Their classifier scores kinds of actions (SHIFT, LEFT-ARC, …); here the score of a
    kind is the log-sum-exp over its legal actions. For a model that scores kinds first and relations second, the two
    definitions differ only by a term that all kinds share. The hinge is 0 if the best correct kind leads the best wrong
    kind by `MARGIN`. The relation of each correct arc of the gold tree competes with the other relations of its kind.

    scores, legal, correct: as in `cross_entropy_of_correct`
    gold_arcs: (N, V) bool, the correct actions that build an arc of the gold tree
    kind: (V,) int64, the kind of each action
    kinds: the number of kinds
    weight: the weight of the hinge
    """
    competing = scores.float().masked_fill(legal == 0, float("-inf"))
    highest = competing.amax(1, keepdim=True).detach()
    # summed by index_add, because autocasting would round the sums that a matrix product makes
    nothing = competing.new_zeros(len(competing), kinds)
    summed = nothing.index_add(1, kind, (competing - highest).exp())
    of_kinds = summed.clamp_min(torch.finfo(summed.dtype).tiny).log() + highest
    is_correct, is_legal = (nothing.index_add(1, kind, some.float()) > 0 for some in (correct, legal > 0))
    right = of_kinds.masked_fill(~is_correct, float("-inf")).amax(1)
    wrong = of_kinds.masked_fill(is_correct | ~is_legal, float("-inf")).amax(1)
    hinge = (MARGIN - right + wrong).clamp_min(0.0)
    relations = torch.where(gold_arcs, of_kinds[:, kind] - competing, 0.0).sum(1)
    return weight * hinge + (1.0 - weight) * relations
