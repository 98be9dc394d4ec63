"""fairseq's label-smoothed cross-entropy, over legal actions."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from dataclasses import dataclass, field

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
from transition_parser.criterions.correct_actions import cross_entropy_of_correct, hinge_and_relations
from transition_parser.modules.contract import Decision
from transition_parser.text.columns import OF_WORDS
from transition_parser.transitions import TreeSystem
from transition_parser.transitions.spec import Column


@dataclass
class LegalCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """The options of the criterion."""

    softmax_over: ChoiceEnum(["legal", "all"]) = field(
        default="legal",
        metadata={
            "help": "actions that compete in training; legal: the actions that the state machine "
            "allows; all: all actions"
        },
    )
    action_loss: ChoiceEnum(["cross_entropy", "hinge"]) = field(
        default="cross_entropy",
        metadata={
            "help": "loss of actions; cross_entropy: the cross-entropy of all correct actions; hinge "
            "(dependency trees): a hinge between the best correct and the best wrong kind of action, "
            "and the cross-entropy of the relations of gold arcs"
        },
    )
    hinge_weight: float = field(
        default=0.5,
        metadata={
            "help": "with --action-loss hinge: weight of the hinge; the weight of the relations is 1 minus this weight"
        },
    )


@register_criterion("legal_cross_entropy", dataclass=LegalCrossEntropyConfig)
class LegalCrossEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """Cross-entropy whose softmax is over the legal actions, with the smoothing mass spread over them.

    With `softmax_over` "all" both are over the whole vocabulary, as Fernandez Astudillo et al. 2020 train; legality
    then limits search alone.

    Validation data may have actions that the training data does not have (unseen relations). These actions and the
    actions after them in the sentence have no loss, but count in the denominators. In training an illegal target is an
    error. Where the model predicts tags, the loss of the tags is added (`TagHeads.loss`).

    Where the batch says which actions are correct (`--oracle dynamic`), all of them are targets together. With
    `action_loss` "hinge" the loss of actions is the loss of Ji et al. 2021, see `hinge_and_relations`.

    For models that score graphs (`GraphDecoder`), the decisions about graphs take the place of the actions. There are
    about two decisions a word, as many as actions, and the number of actions remains the denominator. The choices that
    a graph may have compete. A sentence of validation data with an unseen action has no loss then.
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
            raise InputError("legal_cross_entropy has no --ignore-prefix-size and no --report-accuracy")
        super().__init__(task, sentence_avg, label_smoothing)
        if not 0.0 <= hinge_weight <= 1.0:
            raise InputError(f"--hinge-weight {hinge_weight} is not between 0 and 1")
        # fairseq adds up values by name, so processes with batches of different corpora must log the same names
        of_tags = ["tag_loss", *(f"{name}_{what}" for name in OF_WORDS for what in ("right", "words"))]
        self._logged_by_any = dict.fromkeys(of_tags if task.also_resources is not None else [], 0.0)
        self.only_legal = str(softmax_over) == "legal"
        self.hinge_weight = hinge_weight if str(action_loss) == "hinge" else None
        if self.hinge_weight is not None:
            self._check_hinge(task)

    def _check_hinge(self, task) -> None:
        if not self.only_legal or self.eps:
            raise InputError("--action-loss hinge is for --softmax-over legal and --label-smoothing 0")
        if not isinstance(task.table.system, TreeSystem):
            raise InputError(f"--action-loss hinge is for dependency trees, not for {task.table.system.name}")
        if task.also_resources is not None:
            raise InputError("--action-loss hinge is for one corpus: leave out --also")

    def forward(self, model, sample, reduce=True):
        """Return (loss, sample size, figures to log), as fairseq's criteria do."""
        logits, extra = model(**sample["net_input"], mask_illegal=False)
        loss, nll = self.compute_loss(model, (logits, extra), sample, reduce)
        heads = extra["tag_heads"]
        tagged = heads.loss(extra["words"], sample["tags"]) if heads is not None and "tags" in sample else None
        if tagged is not None:
            loss = loss + tagged.loss
        sample_size = sample["target"].size(0) if self.sentence_avg else sample["ntokens"]
        logged = {
            **self._logged_by_any,
            "loss": utils.item(loss.data) if reduce else loss.data,
            "nll_loss": utils.item(nll.data) if reduce else nll.data,
            "ntokens": sample["ntokens"],
            "nsentences": sample["target"].size(0),
            "sample_size": sample_size,
        }
        if tagged is not None:
            logged["tag_loss"] = utils.item(tagged.loss.data)
            logged |= {f"{name}_right": utils.item(right) for name, right in tagged.right.items()}
            logged |= {f"{name}_words": utils.item(words) for name, words in tagged.words.items()}
        return loss, sample_size, logged

    @classmethod
    def reduce_metrics(cls, logging_outputs) -> None:
        """Log fairseq's figures, and the accuracy of tags and lemmas in percent, over values seen in training."""
        super().reduce_metrics(logging_outputs)
        for name in OF_WORDS:
            words = sum(log.get(f"{name}_words", 0) for log in logging_outputs)
            if words:
                right = sum(log.get(f"{name}_right", 0) for log in logging_outputs)
                metrics.log_scalar(name, 100.0 * right / words, words, round=2)

    def compute_loss(self, model, net_output, sample, reduce=True):
        """Return (loss, negative log-likelihood), summed over the batch, both in nats.

        Raises `InputError` for the hinge with a model that scores graphs.
        """
        decisions = net_output[1].get("decisions")
        if decisions is None:
            parts = [self._loss_of_actions(model, net_output, sample)]
        else:
            if self.hinge_weight is not None:
                raise InputError("--action-loss hinge is for models that score actions, which this one does not")
            parts = [self._loss_of(decision, model.training, sample) for decision in decisions]
        loss, nll = (torch.cat(column) for column in zip(*parts, strict=True))
        return (loss.sum(), nll.sum()) if reduce else (loss, nll)

    def _loss_of_actions(self, model, net_output, sample) -> tuple[Tensor, Tensor]:
        """Return (loss, negative log-likelihood) of all steps, (B · T,) each."""
        logits, legal = net_output[0], net_output[1]["legal"]
        target = model.get_targets(sample, net_output)
        real = target != self.padding_idx
        illegal = real & (legal.gather(2, target[..., None])[..., 0] == 0)
        if model.training:
            _check_none(illegal, sample, "action {} of sentence {} is illegal")
        counted = (real & (illegal.cumsum(1) == 0)).flatten()
        if not self.only_legal and model.decoder.shifts_are_alike and model.decoder.table.labelled_shift:
            raise InputError(
                "--softmax-over all is not for models that give all SHIFTs one score: "
                "preprocess without --labeled-shift"
            )
        sampled_steps = net_output[1].get("sampled_steps")
        if sampled_steps is None:
            return self._loss_of_steps(model, logits, legal, target, counted, sample)
        every = counted.view_as(real)
        some = every & sampled_steps  # these steps stand for the whole derivation
        share = (every.sum(1, keepdim=True) / some.sum(1, keepdim=True).clamp_min(1)).expand_as(real).flatten()
        loss, nll = self._loss_of_steps(model, logits, legal, target, some.flatten(), sample)
        return loss * share, nll * share

    def _loss_of_steps(self, model, logits, legal, target, counted, sample) -> tuple[Tensor, Tensor]:
        """Return (loss, negative log-likelihood) of all steps, (B · T,) each, 0 for steps that do not count."""
        if not self.only_legal:
            legal = torch.ones_like(legal)
        if self.hinge_weight is None and "correct" not in sample:
            return self._legal_loss(logits, legal, target, counted)
        loss, nll = self._loss_of_correct(model, logits, legal, target, sample)
        return torch.where(counted, loss, 0.0), torch.where(counted, nll, 0.0)

    def _loss_of_correct(self, model, logits, legal, target, sample) -> tuple[Tensor, Tensor]:
        """Return (loss, negative log-likelihood) of all steps, (B · T,) each, also for steps that do not count."""
        correct = sample.get("correct")
        if correct is None:
            correct = torch.zeros_like(legal, dtype=torch.bool).scatter_(2, target[..., None], True)
        flat = logits.flatten(0, 1), legal.flatten(0, 1), correct.flatten(0, 1)
        loss, nll = cross_entropy_of_correct(*flat, self.eps)
        if self.hinge_weight is None:
            return loss, nll
        if model.decoder.shifts_compete:
            raise InputError("--action-loss hinge does not train the words of SHIFT: leave out --predict-shift-words")
        table = model.decoder.device_table
        gold_arcs = sample.get("gold_arcs", correct & (table.relation > 0)).flatten(0, 1)
        return hinge_and_relations(*flat, gold_arcs, table.column, len(Column), self.hinge_weight), nll

    def _loss_of(self, decision: Decision, training: bool, sample) -> tuple[Tensor, Tensor]:
        """Return (loss, negative log-likelihood) of the places of a decision, (B · N,) each."""
        scores, competing, target, counted, share = decision
        unknown = counted & (competing.gather(2, target[..., None])[..., 0] == 0)
        if training:
            _check_none(unknown, sample, "word {} of sentence {} gets no head, or no relation that its arc may have")
        loss, nll = self._legal_loss(scores, competing, target, (counted & ~unknown).flatten())
        return share * loss, share * nll

    def _legal_loss(self, scores: Tensor, legal: Tensor, target: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
        return _LegalLoss.apply(
            scores.flatten(0, 1), legal.flatten(0, 1), target.flatten(), counted.float(), self.eps
        )  # fmt: skip


def _check_none(wrong: Tensor, sample, problem: str) -> None:
    """Raise `ValueError` where any of `wrong` is True.

    wrong: (B, N) bool
    problem: the message, with gaps for the column in `wrong` and the sentence
    """
    if bool(wrong.any()):
        row, place = wrong.nonzero()[0].tolist()
        raise ValueError(
            f"{problem.format(place, int(sample['id'][row]))}: were the sentences and actions made by one "
            "`transition-parser preprocess`?"
        )


_FAR = 1e9  # lowers illegal scores below all others; −inf · 0 would be NaN


class _LegalLoss(torch.autograd.Function):
    """Label-smoothed cross-entropy over legal actions with few passes over the vocabulary.

    With a large vocabulary, the passes that autograd would make cost as much as the network.
    """

    @staticmethod
    def forward(ctx, logits: Tensor, legal: Tensor, target: Tensor, counted: Tensor, eps: float):
        """Return (loss, negative log-likelihood) of each row, (N,) each.

        logits: (N, V)
        legal: (N, V), 1 and 0
        counted: (N,), 1 and 0
        """
        scores = logits.float()
        gold = scores.gather(1, target[:, None])[:, 0]
        share = 1.0 / legal.sum(1).clamp_min(1)
        mean = (scores * legal).sum(1) * share
        scores = scores + (legal - 1.0) * _FAR
        # the largest score and its probability give the normaliser without another pass
        highest = scores.amax(1)
        probability = scores.softmax(1)
        normaliser = highest - probability.amax(1).log()
        nll = (normaliser - gold) * counted
        loss = (1.0 - eps) * nll + eps * (normaliser - mean) * counted
        ctx.save_for_backward(probability, legal, target, counted, share)
        ctx.eps, ctx.dtype = eps, logits.dtype
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx, loss_grad: Tensor, _nll_grad: Tensor | None):
        probability, legal, target, counted, share = ctx.saved_tensors
        weight = (counted * loss_grad)[:, None]
        grad = probability * weight
        grad.addcmul_(legal, -ctx.eps * share[:, None] * weight)
        grad.scatter_add_(1, target[:, None], -(1.0 - ctx.eps) * weight)
        return grad.to(ctx.dtype), None, None, None, None
