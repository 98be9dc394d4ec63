"""The criterion: fairseq's label-smoothed cross-entropy over legal actions, and a loss for each kind of target."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq import utils
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.dataclass import ChoiceEnum
from fairseq.logging import metrics
from torch import Tensor

from transition_parser.base.errors import InputError
from transition_parser.modules.contract import Decision, StateDecoder
from transition_parser.modules.options import fairseq_option
from transition_parser.states.table import ActionClass
from transition_parser.text.columns import predicted
from transition_parser.transitions import TreeSystem

Sample = Mapping[str, Any]  # a batch of fairseq, as `TransitionDataset.collater` makes it


class ActionLoss:
    """The cross-entropy of the gold action or of the set of `correct` actions."""

    def __init__(self, smoothing: float, padding: int, only_legal: bool = True) -> None:
        self.smoothing, self.padding, self.only_legal = smoothing, padding, only_legal

    def __call__(
        self, decoder: StateDecoder, scores: Tensor, extra: Mapping[str, Any], sample: Sample
    ) -> tuple[Tensor, Tensor]:
        """Return the loss and the negative log-likelihood of each step, (B · T,), in nats."""
        legal, target = extra["legal"], sample["target"]
        real = target != self.padding
        illegal = real & (legal.gather(2, target[..., None])[..., 0] == 0)
        if decoder.training:
            _check_none(illegal, sample, "action {} of sentence {} is illegal")
        counted = real & (illegal.cumsum(1) == 0)
        if not self.only_legal:
            if decoder.shifts_are_alike and decoder.table.labeled_shift:
                raise InputError(
                    "--softmax-over all is not for models that give all SHIFTs one score: preprocess without "
                    "--labeled-shift"
                )
            legal = torch.ones_like(legal)
        sampled_steps = extra.get("sampled_steps")
        if sampled_steps is None:
            return self.of_steps(decoder, Decision(scores, legal, target, counted), sample)
        some = counted & sampled_steps
        loss, nll = self.of_steps(decoder, Decision(scores, legal, target, some), sample)
        # scales the loss of some steps up to all steps of the derivation that count
        share = counted.sum(1, keepdim=True) / some.sum(1, keepdim=True).clamp_min(1)
        share = share.expand_as(counted).flatten()
        return loss * share, nll * share

    def of_steps(self, decoder: StateDecoder, steps: Decision, sample: Sample) -> tuple[Tensor, Tensor]:
        return cross_entropy(steps, self.smoothing, sample.get("correct"))


class HingeLoss(ActionLoss):
    """A hinge between kinds of actions, and the cross-entropy of relations of gold arcs; see `hinge_and_relations`."""

    def __init__(self, padding: int, weight: float) -> None:
        super().__init__(0.0, padding)
        self.weight = weight

    def of_steps(self, decoder: StateDecoder, steps: Decision, sample: Sample) -> tuple[Tensor, Tensor]:
        if decoder.shifts_compete:
            raise InputError("--action-loss hinge does not train the words of SHIFT: leave out --predict-shift-words")
        correct = sample.get("correct")
        if correct is None:
            correct = torch.zeros_like(steps.competing, dtype=torch.bool).scatter_(2, steps.target[..., None], True)
        table = decoder.device_table
        gold_arcs = sample.get("gold_arcs", correct & (table.relation > 0)).flatten(0, 1)
        _, nll = cross_entropy(steps, 0.0, correct)
        scores, legal, correct = (part.flatten(0, 1) for part in (steps.scores, steps.competing, correct))
        loss = hinge_and_relations(scores, legal, correct, gold_arcs, table.kind, len(ActionClass), self.weight)
        return torch.where(steps.counted.flatten(), loss, 0.0), nll


def decision_loss(
    decisions: Sequence[Decision], sample: Sample, training: bool, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy and the negative log-likelihood of each decision."""
    losses, nlls = [], []
    for decision in decisions:
        unknown = decision.counted & (decision.competing.gather(2, decision.target[..., None])[..., 0] == 0)
        if training:
            _check_none(unknown, sample, "word {} of sentence {} gets no head, or no relation that its arc may have")
        known = decision._replace(counted=decision.counted & ~unknown)
        loss, nll = cross_entropy(known, smoothing)
        losses.append(decision.share * loss)
        nlls.append(decision.share * nll)
    return torch.cat(losses), torch.cat(nlls)


def _check_none(wrong: Tensor, sample: Sample, problem: str) -> None:
    if bool(wrong.any()):
        row, place = wrong.nonzero()[0].tolist()
        raise ValueError(
            f"{problem.format(place, int(sample['id'][row]))}: were the sentences and actions made by one "
            "`transition-parser preprocess`?"
        )


_FAR = 1e9  # lowers choices that do not compete below all others; −inf · 0 would be NaN


def cross_entropy(steps: Decision, smoothing: float, correct: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Return the label-smoothed cross-entropy and the negative log-likelihood of each place, (B · N,), in nats.

    correct: (B, N, K) bool; choices of which any is right, in place of the target
    """
    competing = steps.competing
    log_probabilities = (steps.scores.float() + (competing - 1.0) * _FAR).log_softmax(-1)
    if correct is None:
        nll = -log_probabilities.gather(2, steps.target[..., None])[..., 0]
    else:
        nll = -log_probabilities.masked_fill(~correct, -_FAR).logsumexp(-1)
    mean = (log_probabilities * competing).sum(-1) / competing.sum(-1).clamp_min(1)
    loss = (1.0 - smoothing) * nll - smoothing * mean
    return tuple(torch.where(steps.counted, one, 0.0).flatten() for one in (loss, nll.detach()))


MARGIN = 1.0


def hinge_and_relations(
    scores: Tensor, legal: Tensor, correct: Tensor, gold_arcs: Tensor, kind: Tensor, kinds: int, weight: float
) -> Tensor:
    """Return weight · hinge + (1 − weight) · cross-entropy of relations, (N,). Source: Ji et al. 2021, sec. 5.1"""
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


@dataclass
class LegalCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    softmax_over: ChoiceEnum(["legal", "all"]) = fairseq_option("legal", "actions that compete in training")
    action_loss: ChoiceEnum(["cross_entropy", "hinge"]) = fairseq_option(
        "cross_entropy",
        "loss of actions; cross_entropy: of all correct actions; hinge (dependency trees): of the best correct and the "
        "best wrong kind of action, and the cross-entropy of the relations of gold arcs",
    )
    hinge_weight: float = fairseq_option(0.5, "weight of --action-loss hinge; relations have 1 minus this weight")


@register_criterion("legal_cross_entropy", dataclass=LegalCrossEntropyConfig)
class LegalCrossEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """Label-smoothed cross-entropy over legal actions, or over all (Fernandez Astudillo et al. 2020).

    For a `TreeDecoder`, decisions take the place of actions; the loss is still divided by the number of actions.
    """

    def __init__(
        self,
        task,
        sentence_avg,
        label_smoothing,
        ignore_prefix_size=0,
        report_accuracy=False,
        softmax_over="legal",
        action_loss="cross_entropy",
        hinge_weight=0.5,
    ) -> None:
        if ignore_prefix_size or report_accuracy:
            raise InputError("--criterion legal_cross_entropy has no --ignore-prefix-size and no --report-accuracy")
        super().__init__(task, sentence_avg, label_smoothing)
        if not 0.0 <= hinge_weight <= 1.0:
            raise InputError(f"--hinge-weight {hinge_weight} is not between 0 and 1")
        only_legal = str(softmax_over) == "legal"
        if str(action_loss) == "hinge":
            if not only_legal or label_smoothing:
                raise InputError("--action-loss hinge needs --softmax-over legal and --label-smoothing 0")
            if not isinstance(task.table.system, TreeSystem):
                raise InputError(f"--action-loss hinge is for dependency trees, not for {task.table.system.name}")
            self.action_loss: ActionLoss = HingeLoss(self.padding_idx, hinge_weight)
        else:
            self.action_loss = ActionLoss(label_smoothing, self.padding_idx, only_legal)

    def forward(self, model, sample, reduce=True):
        """Return the loss, in nats, summed over the batch if `reduce` is True, its denominator, and what is logged."""
        logits, extra = model(**sample["net_input"])
        if extra.get("decisions") is None:
            loss, nll = self.action_loss(model.decoder, logits, extra, sample)
        elif isinstance(self.action_loss, HingeLoss):
            raise InputError("--action-loss hinge is for models that score actions, which this one does not")
        else:
            loss, nll = decision_loss(extra["decisions"], sample, model.training, self.eps)
        if reduce:
            loss, nll = loss.sum(), nll.sum()
        heads, tagged = extra["tag_heads"], {}
        if heads is not None and "tags" in sample:
            tag_loss, of_columns = heads.loss(extra["tagged"], sample["tags"])
            loss = loss + tag_loss
            tagged = {"tag_loss": tag_loss.item()}
            for name, (_, right, words) in of_columns.items():
                tagged |= {f"{name}_right": right.item(), f"{name}_words": words.item()}
        sample_size = sample["target"].size(0) if self.sentence_avg else sample["ntokens"]
        logged = {
            **tagged,
            "loss": utils.item(loss.data) if reduce else loss.data,
            "nll_loss": utils.item(nll.data) if reduce else nll.data,
            "ntokens": sample["ntokens"],
            "nsentences": sample["target"].size(0),
            "sample_size": sample_size,
        }
        return loss, sample_size, logged

    @classmethod
    def reduce_metrics(cls, logging_outputs) -> None:
        """Log fairseq's figures, and the accuracies of tags and lemmas in percent (of values seen in training)."""
        super().reduce_metrics(logging_outputs)
        for name in predicted():
            words = sum(log.get(f"{name}_words", 0) for log in logging_outputs)
            if words:
                right = sum(log.get(f"{name}_right", 0) for log in logging_outputs)
                metrics.log_scalar(name, 100.0 * right / words, words, round=2)
