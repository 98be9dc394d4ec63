"""Each loss of a batch, against a sum over its steps written out."""

import math
from types import SimpleNamespace

import pytest
import torch

from transition_parser.base.errors import InputError
from transition_parser.modules.contract import Decision
from transition_parser.tasks.losses import ActionLoss, cross_entropy, decision_loss, hinge_and_relations

PADDING = 1
TARGET = torch.tensor([[2, 3, 4], [5, 2, PADDING]])
IDS = torch.tensor([7, 8])


def make_decoder(training=False, alike=False):
    return SimpleNamespace(
        training=training, shifts_are_alike=alike, shifts_compete=False, table=SimpleNamespace(labeled_shift=True)
    )


def make_scores(illegal=()):
    """Scores and legality, (2, 3, 6), where all actions are legal but some (sentence, step, action) and padding."""
    scores = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(3))
    legal = torch.ones(2, 3, 6)
    legal[..., :2] = 0.0
    for place in illegal:
        legal[place] = 0.0
    return scores, legal


def plain(scores, legal, target, smoothing):
    """The loss of one step."""
    log_probabilities = scores.masked_fill(legal == 0, float("-inf")).log_softmax(0)
    mean = log_probabilities[legal > 0].mean()
    return -(1 - smoothing) * log_probabilities[target] - smoothing * mean


def test_actions_from_the_first_illegal_one_on_have_no_loss():
    scores, legal = make_scores([(0, 1, 3)])
    batch = {"target": TARGET, "id": IDS}
    loss, nll = (x.view(2, 3) for x in ActionLoss(0.1, PADDING)(make_decoder(), scores, {"legal": legal}, batch))
    for row, step in [(0, 0), (1, 0), (1, 1)]:
        gold = TARGET[row, step]
        assert torch.isclose(loss[row, step], plain(scores[row, step], legal[row, step], gold, 0.1), atol=1e-5)
        assert torch.isclose(nll[row, step], plain(scores[row, step], legal[row, step], gold, 0.0), atol=1e-5)
    assert loss.count_nonzero() == nll.count_nonzero() == 3
    with pytest.raises(ValueError, match="action 1 of sentence 7 is illegal"):
        ActionLoss(0.1, PADDING)(make_decoder(training=True), scores, {"legal": legal}, batch)


def test_drawn_steps_stand_for_the_whole_derivation():
    scores, legal = make_scores()
    sampled_steps = torch.tensor([[False, True, False], [True, True, False]])
    batch, loss_of = {"target": TARGET, "id": IDS}, ActionLoss(0.0, PADDING)
    every, _ = loss_of(make_decoder(), scores, {"legal": legal, "sampled_steps": None}, batch)
    some, _ = loss_of(make_decoder(), scores, {"legal": legal, "sampled_steps": sampled_steps}, batch)
    weights = torch.tensor([[0.0, 3.0, 0.0], [1.0, 1.0, 0.0]])
    assert torch.allclose(some, every * weights.flatten())


def test_all_actions_compete_where_legality_is_left_to_search():
    scores, legal = make_scores()
    batch, loss_of = {"target": TARGET, "id": IDS}, ActionLoss(0.1, PADDING, only_legal=False)
    loss, _ = loss_of(make_decoder(), scores, {"legal": legal}, batch)
    assert torch.isclose(loss[0], plain(scores[0, 0], torch.ones(6), TARGET[0, 0], 0.1), atol=1e-5)
    with pytest.raises(InputError, match="preprocess without --labeled-shift"):
        loss_of(make_decoder(alike=True), scores, {"legal": legal}, batch)


def test_decisions_have_a_share_and_none_for_targets_that_do_not_compete():
    scores, legal = make_scores([(1, 0, 5)])
    counted = torch.tensor([[True, True, False], [True, True, True]])
    decision = Decision(scores, legal, TARGET.clamp_min(2), counted, 0.5)
    loss, _ = decision_loss([decision], {"id": IDS}, training=False, smoothing=0.1)
    wanted = [
        0.5 * plain(scores[row, place], legal[row, place], decision.target[row, place], 0.1)
        if (row, place) not in [(0, 2), (1, 0)]
        else torch.tensor(0.0)
        for row in range(2)
        for place in range(3)
    ]
    assert torch.allclose(loss, torch.stack(wanted), atol=1e-5)
    with pytest.raises(ValueError, match="word 0 of sentence 8 gets no head"):
        decision_loss([decision], {"id": IDS}, training=True, smoothing=0.1)


KINDS = torch.tensor([0, 1, 1, 1, 2, 2])  # of six actions


def log_sum(values):
    return math.log(sum(map(math.exp, values)))


def loss_of(scores, legal, target, smoothing, correct=None):
    """The loss and the negative log-likelihood of each of some states."""
    counted = torch.ones(1, len(scores), dtype=torch.bool)
    steps = Decision(scores[None], legal[None], target[None], counted)
    return cross_entropy(steps, smoothing, None if correct is None else correct[None])


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
    wanted, wanted_nll = loss_of(scores, legal, target, smoothing)
    rows = zip(scores, legal, target, strict=True)
    assert torch.allclose(wanted, torch.stack([plain(*row, smoothing) for row in rows]), atol=1e-5)
    (wanted_grad,) = torch.autograd.grad(wanted.sum(), scores)
    loss, nll = loss_of(scores, legal, target, smoothing, correct)
    (grad,) = torch.autograd.grad(loss.sum(), scores)
    assert torch.allclose(loss, wanted, atol=1e-5) and torch.allclose(nll, wanted_nll, atol=1e-5)
    assert torch.allclose(grad, wanted_grad, atol=1e-5)


def test_correct_actions_share_the_target():
    scores, legal, correct = make_states(50)
    loss, nll = loss_of(scores, legal, correct.byte().argmax(1), 0.0, correct)
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
