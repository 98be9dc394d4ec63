"""Adapters: a parser as a model that fairseq trains; for `fairseq-generate` a generator, and scores for BLEU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from fairseq.scoring import BaseScorer, register_scorer
from torch import Tensor, nn

import transition_parser.models  # noqa: F401  (registers the architectures of the package)
from transition_parser.base.errors import InputError
from transition_parser.models.registry import Architecture, architecture_of, on_registration
from transition_parser.modules.contract import GraphDecoder, Hypothesis, ParserModel, StateDecoder, only_legal
from transition_parser.modules.words import WordTensors
from transition_parser.parsing.search import search
from transition_parser.states.states import States

LONGEST = (int(1e6), int(1e9))  # the largest lengths of sentences and of derivations: practically any is allowed


class TrainingModel(BaseFairseqModel):
    """The model `plain` with the interface of `fairseq-train`; parameters keep their names."""

    def __init__(self, plain: ParserModel) -> None:
        super().__init__()
        self.__dict__["plain"] = plain  # not registered: its parts are registered below
        for name, part in plain.named_children():
            self.add_module(name, part)

    @classmethod
    def build_model(cls, args, task) -> TrainingModel:
        architecture = architecture_of(args.arch)
        options = architecture.options.of_namespace(args, architecture.defaults)
        return cls(architecture.build(options, task.resources))

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        prev_output_tokens: Tensor | None = None,
        states: dict[str, Tensor] | None = None,
        features: Tensor | None = None,
        words: WordTensors | None = None,
        mask_illegal: bool = True,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return the scores before the softmax, (B, T, V), and fairseq's dictionary of extras."""
        given = None if states is None else States(**states)
        plain, decoder, sampled_steps = self.plain, self.plain.decoder, None
        if plain.training and isinstance(decoder, StateDecoder):
            sampled_steps = decoder.sampled_steps(prev_output_tokens)
        encoder_out, read = plain.read(src_tokens, prev_output_tokens, given, features, words)
        if isinstance(decoder, StateDecoder):
            scores, legal = decoder.scores(prev_output_tokens, encoder_out, read, sampled_steps), decoder.legality(read)
            extra = {"legal": legal, "sampled_steps": sampled_steps}
        else:
            decisions = cast(GraphDecoder, decoder).decisions(encoder_out, read)
            scores, legal, extra = decisions[0].scores, decisions[0].competing, {"decisions": decisions}
        extra |= {"attn": None, "tagged": encoder_out.tagged, "tag_heads": plain.tag_heads}
        return only_legal(scores, legal) if mask_illegal else scores, extra

    def max_positions(self) -> tuple[int, int]:
        return LONGEST


def _add_to_fairseq(architecture: Architecture) -> None:
    options, defaults = architecture.options, architecture.defaults

    def fill_in(args) -> None:
        for name, value in options.of_namespace(args, defaults).completed().as_config().items():
            setattr(args, name, value)

    members = {"__doc__": f"`{architecture.name}`", "add_args": staticmethod(options.add_arguments)}
    model = type(f"Fairseq_{architecture.name}", (TrainingModel,), members)
    register_model(architecture.name)(model)
    register_model_architecture(architecture.name, architecture.name)(fill_in)


on_registration(_add_to_fairseq)


SCORING = "transition_parsing"  # the value of --scoring
GENERATED = "generated"  # the name under which fairseq's metrics collect the counts of `fairseq-generate`


class Generator(nn.Module):
    """A generator of derivations by our own search, with the interface of fairseq's generator."""

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
