"""fairseq's label-smoothed cross-entropy, over legal actions."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from dataclasses import dataclass

from fairseq import utils
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.dataclass import ChoiceEnum
from fairseq.logging import metrics

from transition_parser.base.errors import InputError
from transition_parser.criterions.losses import ActionLoss, HingeLoss, decision_loss
from transition_parser.modules.options import fairseq_option
from transition_parser.text.columns import predicted
from transition_parser.transitions import TreeSystem


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

    For a `GraphDecoder`, decisions take the place of actions; the loss is still divided by the number of actions.
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
            if task.teacher is not None:
                raise InputError("--action-loss hinge learns from gold actions alone: leave out --teacher")
            self.action_loss: ActionLoss = HingeLoss(self.padding_idx, hinge_weight)
        else:
            self.action_loss = ActionLoss(label_smoothing, self.padding_idx, only_legal)

    def forward(self, model, sample, reduce=True):
        """Return the loss, in nats, summed over the batch if `reduce` is True, its denominator, and what is logged."""
        logits, extra = model(**sample["net_input"], mask_illegal=False)
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
