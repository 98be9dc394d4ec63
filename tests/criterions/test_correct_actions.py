"""Losses where several actions may be correct, against sums written out."""

import math

import pytest
import torch

from transition_parser.criterions.correct_actions import cross_entropy_of_correct, hinge_and_relations
from transition_parser.criterions.losses import LegalLoss

KINDS = torch.tensor([0, 1, 1, 1, 2, 2])  # of six actions


def log_sum(values):
    return math.log(sum(map(math.exp, values)))


def make_states(count):
    """(scores, legal, correct): at least one correct action each, most with wrong ones."""
    generator = torch.Generator().manual_seed(count)
    scores = 3 * torch.randn(count, len(KINDS), generator=generator)
    legal = torch.rand(scores.shape, generator=generator) < 0.7
    correct = legal & (torch.rand(scores.shape, generator=generator) < 0.4)
    some = correct.any(1)
    return scores[some].requires_grad_(), legal[some].float(), correct[some]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_one_correct_action_is_the_loss_of_gold_derivations(smoothing):
    scores, legal, _ = make_states(50)
    target = legal.argmax(1)
    correct = torch.zeros_like(legal, dtype=torch.bool).scatter_(1, target[:, None], True)
    wanted, wanted_nll = LegalLoss.apply(scores, legal, target, torch.ones(len(target)), smoothing)
    (wanted_grad,) = torch.autograd.grad(wanted.sum(), scores)
    loss, nll = cross_entropy_of_correct(scores, legal, correct, smoothing)
    (grad,) = torch.autograd.grad(loss.sum(), scores)
    assert torch.allclose(loss, wanted, atol=1e-5) and torch.allclose(nll, wanted_nll, atol=1e-5)
    assert torch.allclose(grad, wanted_grad, atol=1e-5)


def test_correct_actions_share_the_target():
    scores, legal, correct = make_states(50)
    loss, nll = cross_entropy_of_correct(scores, legal, correct, 0.0)
    for row, (values, may, good) in enumerate(zip(scores.tolist(), legal.tolist(), correct.tolist(), strict=True)):
        competing = [value for value, legal_here in zip(values, may, strict=True) if legal_here]
        right = [value for value, good_here in zip(values, good, strict=True) if good_here]
        assert loss[row].item() == pytest.approx(log_sum(competing) - log_sum(right), abs=1e-5)
    assert torch.equal(loss, nll)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_hinge_is_over_kinds_and_relations_compete_within_theirs(weight):
    scores, legal, correct = make_states(60)
    arcs = correct & (KINDS > 0)
    for kind in (1, 2):  # one relation of a kind is that of the gold arc
        arcs &= (arcs & (kind == KINDS)).cumsum(1).le(1) | (kind != KINDS)
    loss = hinge_and_relations(scores, legal, correct, arcs, KINDS, 3, weight)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(loss, hinge_and_relations(scores, legal, correct, arcs, KINDS, 3, weight))
    (grad,) = torch.autograd.grad(loss.sum(), scores)
    assert bool(grad.isfinite().all())
    rows = zip(scores.tolist(), legal.tolist(), correct.tolist(), arcs.tolist(), strict=True)
    for row, (values, may, good, gold) in enumerate(rows):
        kinds = {}
        for action, kind in enumerate(KINDS.tolist()):
            if may[action]:
                kinds.setdefault(kind, []).append(action)
        score = {kind: log_sum([values[a] for a in actions]) for kind, actions in kinds.items()}
        right = max(score[kind] for kind, actions in kinds.items() if any(good[a] for a in actions))
        wrong = [score[kind] for kind, actions in kinds.items() if not any(good[a] for a in actions)]
        hinge = max(0.0, 1.0 - right + max(wrong)) if wrong else 0.0
        relations = sum(score[int(KINDS[a])] - values[a] for a, is_gold in enumerate(gold) if is_gold)
        assert loss[row].item() == pytest.approx(weight * hinge + (1 - weight) * relations, abs=1e-4)
