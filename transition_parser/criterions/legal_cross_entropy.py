"""fairseq's label-smoothed cross-entropy, over legal actions."""

from __future__ import annotations

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)


@register_criterion("legal_cross_entropy", dataclass=LabelSmoothedCrossEntropyCriterionConfig)
class LegalCrossEntropyCriterion(LabelSmoothedCrossEntropyCriterion):
    """The smoothing mass is spread over the actions that are legal, not over the whole vocabulary.

    Validation data may have actions that the training data does not have (relations never seen): they and what
    follows them in the sentence have no loss, but count in the denominators. In training an illegal target
    is an error.
    """

    def compute_loss(self, model, net_output, sample, reduce=True):
        """(loss, negative log-likelihood), summed over the batch, both in nats."""
        lprobs = model.get_normalized_probs(net_output, log_probs=True)
        target = model.get_targets(sample, net_output)
        gold = lprobs.gather(2, target[..., None])[..., 0]
        real = target != self.padding_idx
        illegal = real & ~gold.isfinite()
        if model.training and bool(illegal.any()):
            row, step = illegal.nonzero()[0].tolist()
            raise ValueError(
                f"action {step} of sentence {int(sample['id'][row])} is illegal: were the sentences and "
                "actions made by one `transition-parser preprocess`?"
            )
        counted = (real & (illegal.cumsum(1) == 0)).flatten()
        lprobs, gold = lprobs.flatten(0, 1), gold.flatten()
        legal = lprobs.isfinite()
        choices = legal.sum(1).clamp_min(1)
        smooth = -lprobs.masked_fill(~legal, 0.0).sum(1) / choices
        nll = torch.where(counted, -gold, 0.0)
        loss = (1.0 - self.eps) * nll + self.eps * torch.where(counted, smooth, 0.0)
        return (loss.sum(), nll.sum()) if reduce else (loss, nll)
