"""Search through `fairseq-generate`: a generator, and UAS and LAS, or Smatch, in place of BLEU."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.scoring import BaseScorer, register_scorer
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.modules.contract import Hypothesis, ParserModel
from transition_parser.parsing.search import search

SCORING = "transition_parsing"  # the value of --scoring
GENERATED = "generated"  # the name under which fairseq's metrics collect the counts of `fairseq-generate`


class Generator(nn.Module):
    """A generator of derivations by our own search, with the interface of fairseq's generator.

    Raises `InputError` for several models, and for other ways to generate.
    """

    def __init__(self, models: Sequence[ParserModel], end: int, args) -> None:
        super().__init__()
        if len(models) > 1:
            raise InputError("give --path one checkpoint; with several: `transition-parser parse --ensemble`")
        for name in ("score_reference", "sampling", "diverse_beam_groups"):
            if (getattr(args, name, None) or 0) > 0:
                raise InputError(f"--{name.replace('_', '-')} is not for models that parse: leave it out")
        self.model = models[0].eval()
        self.eos, self.beam, self.nbest = end, getattr(args, "beam", 1), getattr(args, "nbest", 1)
        self.lenpen = getattr(args, "lenpen", 1.0)

    def generate(
        self, models: Sequence[nn.Module], sample: dict, prefix_tokens: Tensor | None = None, constraints=None
    ) -> list[list[dict[str, Any]]]:
        """Return the hypotheses of each sentence, best first, as `SequenceGenerator.generate` returns them."""
        if prefix_tokens is not None or constraints is not None:
            raise InputError("--prefix-size and --constraints are not for models that parse: leave them out")
        found = search(self.model, self.model.encode(sample["net_input"]), self.beam, self.nbest, self.lenpen)
        device = sample["net_input"]["src_tokens"].device

        def as_fairseq_has_it(hypothesis: Hypothesis) -> dict[str, Any]:
            return {
                "tokens": torch.tensor([*hypothesis.tokens, self.eos], device=device),
                "score": torch.tensor(hypothesis.score, device=device),
                "positional_scores": torch.tensor([*hypothesis.step_scores, 0.0], device=device),
                "attention": None,
                "alignment": torch.empty(0),
            }

        return [[*map(as_fairseq_has_it, hypotheses)] for hypotheses in found]


@dataclass
class ParsingScoreConfig(FairseqDataclass):
    """The options of the scorer: none."""


@register_scorer(SCORING, dataclass=ParsingScoreConfig)
class ParsingScorer(BaseScorer):
    """A scorer that reports what the task has counted: fairseq gives scorers only strings of actions."""

    def __init__(self, cfg: ParsingScoreConfig) -> None:
        super().__init__(cfg)
        metrics.reset_meters(GENERATED)

    def add_string(self, ref: str, pred: str) -> None:
        """Do nothing: the task has counted this parse already."""

    def score(self) -> float:
        """Return LAS or Smatch, the last score of the task; 0 if nothing was scored."""
        return [0.0, *_scores().values()][-1]

    def result_string(self) -> str:
        return ", ".join(f"{name.upper()} {value}" for name, value in _scores().items()) or (
            "nothing was scored: gold graphs are known only for validation and test data, not for training data"
        )


def _scores() -> dict[str, float]:
    meters = metrics.get_meters(GENERATED)
    return {} if meters is None else meters.get_smoothed_values()
