"""The scores that `fairseq-generate` logs: UAS and LAS, or Smatch, in place of BLEU."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from dataclasses import dataclass

from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.scoring import BaseScorer, register_scorer

SCORING = "transition_parsing"  # the value of --scoring
GENERATED = "generated"  # the name under which fairseq's metrics collect the counts of `fairseq-generate`


@dataclass
class ParsingScoreConfig(FairseqDataclass):
    """The options of the scorer: none."""


@register_scorer(SCORING, dataclass=ParsingScoreConfig)
class ParsingScorer(BaseScorer):
    """A scorer that reports the scores that the task has counted.

    The scorer itself can't count, because fairseq gives it only strings of actions, without words and gold graphs.
    """

    def __init__(self, cfg: ParsingScoreConfig) -> None:
        super().__init__(cfg)
        metrics.reset_meters(GENERATED)

    def add_string(self, ref: str, pred: str) -> None:
        """Do nothing: the task has counted this parse already."""

    def score(self) -> float:
        """Return LAS or Smatch, the last score of the task; 0 if nothing was scored."""
        return [0.0, *_scores().values()][-1]

    def result_string(self) -> str:
        """Return the scores with their names."""
        return ", ".join(f"{name.upper()} {value}" for name, value in _scores().items()) or (
            "nothing was scored: gold graphs are known only for validation and test data, not for training data"
        )


def _scores() -> dict[str, float]:
    meters = metrics.get_meters(GENERATED)
    return {} if meters is None else meters.get_smoothed_values()
