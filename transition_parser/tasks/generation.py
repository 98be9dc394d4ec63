"""Search through `fairseq-generate`: its generators, and UAS and LAS, or Smatch, in place of BLEU."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.scoring import BaseScorer, register_scorer
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from fairseq.utils import apply_to_sample
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import Hypothesis, ParserModel
from transition_parser.modules.words import WordInputs
from transition_parser.parsing.search import search
from transition_parser.states.machine import max_search_actions

SCORING = "transition_parsing"  # the value of --scoring
GENERATED = "generated"  # the name under which fairseq's metrics collect the counts of `fairseq-generate`
_FILLER = -1e3  # score per action that separates derivations, which score higher, from fillers, which score lower


class BoundedGenerator(SequenceGenerator):
    """A generator that limits the length of the derivations of each batch by the bound of the transition system.

    Without this bound, fairseq would force `</s>` at its own limit, even where `</s>` is illegal.
    """

    def bind(self, resources: Resources, inputs: WordInputs | None) -> None:
        """Set the resources of the data, and the reader of word inputs other than pieces (None if there are none)."""
        self.resources, self.system, self.inputs = resources, resources.table.system, inputs
        self.opens = resources.opens_word()
        if type(self.search) is BeamSearch:
            self.search = _FillingBeamSearch(resources.target_dictionary)

    def _generate(self, sample, *args, **kwargs):
        net_input = sample["net_input"]
        tokens = net_input["src_tokens"]
        complete(net_input, self.resources, self.inputs)
        words = int(self.opens.to(tokens.device)[tokens].sum(1).max())
        self.max_len_a, self.max_len_b = 0, max_search_actions(self.system, words)
        sentences = super()._generate(sample, *args, **kwargs)
        return [[h for h in hypotheses if h["score"] > _FILLER] for hypotheses in sentences]


class _FillingBeamSearch(BeamSearch):
    """A beam search that also ends for sentences with fewer derivations than the beam is wide.

    fairseq waits until each sentence has as many finished hypotheses as the beam is wide. A short sentence may have
    fewer derivations (a single word has one). When no hypothesis is left, the search fills the rest of the beam with
    filler hypotheses. They score far below all others, and `BoundedGenerator` throws them away.
    """

    def step(self, step, lprobs, scores, *args, **kwargs):
        found_scores, tokens, beams = super().step(step, lprobs, scores, *args, **kwargs)
        none_left = (found_scores == float("-inf")).all(1, keepdim=True)
        low = 10 * _FILLER * (step + 2)
        return (
            found_scores.masked_fill(none_left, low),
            tokens.masked_fill(none_left, self.eos),
            beams,
        )


class GraphGenerator(nn.Module):
    """A generator of the derivations of the best graphs, with the interface of fairseq's generator but without a beam.

    Raises `InputError` for several models, and for options that need a model that scores actions.

    models: a list with the only model
    inputs: the reader of word inputs other than pieces; None if the model has no such inputs
    args: the arguments of `fairseq-generate`; its `nbest` is the largest number of hypotheses of a sentence
    """

    def __init__(self, models: Sequence[ParserModel], resources: Resources, inputs: WordInputs | None, args) -> None:
        super().__init__()
        if len(models) > 1:
            raise InputError("models that score graphs do not generate together: give --path one checkpoint")
        if getattr(args, "score_reference", False):
            raise InputError("--score-reference is for models that score actions, not for one that scores graphs")
        (self.model,) = models
        self.model.eval()
        self.resources, self.inputs, self.nbest = resources, inputs, getattr(args, "nbest", 1)
        self.eos = resources.table.end

    def generate(
        self, models: Sequence[nn.Module], sample: dict, prefix_tokens: Tensor | None = None, constraints=None
    ) -> list[list[dict[str, Any]]]:
        """Return the hypotheses of each sentence, best first, as `SequenceGenerator.generate` returns them."""
        if prefix_tokens is not None or constraints is not None:
            raise InputError("--prefix-size and --constraints are for models that score actions")
        net_input = sample["net_input"]
        complete(net_input, self.resources, self.inputs)
        found = search(self.model, self.model.encode(net_input), nbest=self.nbest)
        device = net_input["src_tokens"].device

        def as_fairseq_has_it(hypothesis: Hypothesis) -> dict[str, Any]:
            return {
                "tokens": torch.tensor([*hypothesis.tokens, self.eos], device=device),
                "score": torch.tensor(hypothesis.score, device=device),
                "positional_scores": torch.tensor([*hypothesis.step_scores, 0.0], device=device),
                "attention": None,
                "alignment": torch.empty(0),
            }

        return [[*map(as_fairseq_has_it, hypotheses)] for hypotheses in found]


def complete(net_input: dict, resources: Resources, inputs: WordInputs | None) -> None:
    """Add the model's inputs other than tokens to `net_input`, because `fairseq-interactive` passes only the tokens."""
    tokens = net_input["src_tokens"]
    if "features" not in net_input:
        net_input["features"] = resources.features(tokens)
    if inputs and "words" not in net_input:
        words = inputs.read([resources.words(row) for row in tokens.tolist()])
        net_input["words"] = apply_to_sample(lambda tensor: tensor.to(tokens.device), words)


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
