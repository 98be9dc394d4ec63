"""The replacement of fairseq's generator for models that find whole graphs (`GraphDecoder`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from fairseq.utils import apply_to_sample
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import Hypothesis, ParserModel
from transition_parser.modules.words import WordInputs
from transition_parser.parsing.search import search


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
        return [[self._as_fairseq_has_it(one, device) for one in hypotheses] for hypotheses in found]

    def _as_fairseq_has_it(self, hypothesis: Hypothesis, device: torch.device) -> dict[str, Any]:
        return {
            "tokens": torch.tensor([*hypothesis.tokens, self.eos], device=device),
            "score": torch.tensor(hypothesis.score, device=device),
            "positional_scores": torch.tensor([*hypothesis.step_scores, 0.0], device=device),
            "attention": None,
            "alignment": torch.empty(0),
        }


def complete(net_input: dict, resources: Resources, inputs: WordInputs | None) -> None:
    """Add the model's inputs other than tokens to `net_input`, because `fairseq-interactive` passes only the tokens.

    inputs: the reader of word inputs other than pieces; None if the model has no such inputs
    """
    tokens = net_input["src_tokens"]
    if "features" not in net_input:
        net_input["features"] = resources.features(tokens)
    if inputs and "words" not in net_input:
        words = inputs.read([resources.words(row) for row in tokens.tolist()])
        net_input["words"] = apply_to_sample(lambda tensor: tensor.to(tokens.device), words)
