"""Losses where several actions may be correct, as training on explored states needs them."""

from __future__ import annotations

import torch
from torch import Tensor

MARGIN = 1.0


def cross_entropy_of_correct(scores: Tensor, legal: Tensor, correct: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """(loss, negative log-probability of all correct actions together) of each of N states, (N,), in nats.

    scores: (N, V), before the softmax. legal: (N, V), 1 and 0: the actions that compete. correct: (N, V) bool, some of
    them. smoothing: the share of the loss that asks for all that compete alike.
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
    """The loss of each of N states, (N,): weight · hinge + (1 − weight) · cross-entropy of the relations.

    Source: Ji et al. 2021, sec. 5.1. Their classifier scores kinds of actions; the score of a kind (SHIFT, LEFT-ARC, …)
    here is the log-sum-exp over its legal actions, for a model of two stages the same but for what all kinds share.
    The hinge asks that the best correct kind is ahead of the best wrong one by `MARGIN`; the relation of each arc of
    the gold tree that is correct competes with the other relations of its kind.

    scores, legal, correct as in `cross_entropy_of_correct`. gold_arcs: (N, V) bool. kind: (V,), that of each action;
    kinds: how many there are.
    """
    competing = scores.float().masked_fill(legal == 0, float("-inf"))
    highest = competing.amax(1, keepdim=True).detach()
    # not a product of matrices, which autocasting would round
    nothing = competing.new_zeros(len(competing), kinds)
    summed = nothing.index_add(1, kind, (competing - highest).exp())
    of_kinds = summed.clamp_min(torch.finfo(summed.dtype).tiny).log() + highest
    is_correct, is_legal = (nothing.index_add(1, kind, some.float()) > 0 for some in (correct, legal > 0))
    right = of_kinds.masked_fill(~is_correct, float("-inf")).amax(1)
    wrong = of_kinds.masked_fill(is_correct | ~is_legal, float("-inf")).amax(1)
    hinge = (MARGIN - right + wrong).clamp_min(0.0)
    relations = torch.where(gold_arcs, of_kinds[:, kind] - competing, 0.0).sum(1)
    return weight * hinge + (1.0 - weight) * relations
