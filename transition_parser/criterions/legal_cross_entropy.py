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

    A target that is not legal (in validation data: an action that the training data did not have, and
    what follows it) has no finite loss and is left out.
    """

    def compute_loss(self, model, net_output, sample, reduce=True):
        """(loss, negative log-likelihood), summed over the batch, both in nats."""
        lprobs = model.get_normalized_probs(net_output, log_probs=True).flatten(0, 1)
        target = model.get_targets(sample, net_output).flatten()
        gold = lprobs.gather(1, target[:, None])[:, 0]
        counted = (target != self.padding_idx) & gold.isfinite()
        legal = lprobs.isfinite()
        choices = legal.sum(1).clamp_min(1)
        smooth = -lprobs.masked_fill(~legal, 0.0).sum(1) / choices
        nll = torch.where(counted, -gold, 0.0)
        loss = (1.0 - self.eps) * nll + self.eps * torch.where(counted, smooth, 0.0)
        return (loss.sum(), nll.sum()) if reduce else (loss, nll)
