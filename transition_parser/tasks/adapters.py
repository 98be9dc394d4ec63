"""Adapters: a parser as a model that fairseq trains."""

from __future__ import annotations

from typing import Any, cast

from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from torch import Tensor

import transition_parser.models  # noqa: F401  (registers the architectures of the package)
from transition_parser.models.registry import Architecture, architecture_of, on_registration
from transition_parser.modules.contract import GraphDecoder, ParserModel, StateDecoder
from transition_parser.modules.words import WordTensors
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
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return the scores before the softmax, (B, T, V), and fairseq's dictionary of extras."""
        given = None if states is None else States(**states)
        plain, decoder, sampled_steps = self.plain, self.plain.decoder, None
        if plain.training and isinstance(decoder, StateDecoder):
            sampled_steps = decoder.sampled_steps(prev_output_tokens)
        encoder_out, read = plain.read(src_tokens, prev_output_tokens, given, features, words)
        if isinstance(decoder, StateDecoder):
            scores = decoder.scores(prev_output_tokens, encoder_out, read, sampled_steps)
            extra = {"legal": decoder.legality(read), "sampled_steps": sampled_steps}
        else:
            decisions = cast(GraphDecoder, decoder).decisions(encoder_out, read)
            scores, extra = decisions[0].scores, {"decisions": decisions}
        return scores, extra | {"tagged": encoder_out.tagged, "tag_heads": plain.tag_heads}

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
