"""Thin wrappers that adapt the models, which are plain modules, to the interfaces of fairseq.

Importing this file registers each architecture with fairseq, under its own name.
"""

from __future__ import annotations

from typing import Any, cast

from fairseq.models import (
    BaseFairseqModel,
    FairseqEncoder,
    FairseqEncoderDecoderModel,
    FairseqIncrementalDecoder,
    register_model,
    register_model_architecture,
)
from torch import Tensor

import transition_parser.models  # noqa: F401  (registers the architectures of the package)
from transition_parser.models.registry import Architecture, architecture_of, on_registration
from transition_parser.modules.contract import (
    GraphDecoder,
    ParserModel,
    SearchState,
    StateDecoder,
    only_legal,
)
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.words import WordTensors
from transition_parser.states.states import States

LONGEST = (int(1e6), int(1e9))  # the largest lengths of sentences and of derivations: practically any is allowed
_CACHE = "transition_parser"  # the key in fairseq's incremental state


class TrainingModel(BaseFairseqModel):
    """A model with the interface of `fairseq-train`. Its parameters have the same names as in `plain`.

    plain: the model itself, whose submodules are also submodules of this module
    """

    def __init__(self, plain: ParserModel) -> None:
        super().__init__()
        self.__dict__["plain"] = plain  # not registered: its parts are registered below
        for name, part in plain.named_children():
            self.add_module(name, part)

    @classmethod
    def build_model(cls, args, task) -> TrainingModel:
        """Build the model of `args` over the dictionaries of `task`."""
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
        plain = self.plain
        batch = (src_tokens, prev_output_tokens, given, features, words)
        if plain.searches_directly:
            encoder_out, read = plain.read(*batch)
            decisions = cast(GraphDecoder, plain.decoder).decisions(encoder_out, read)
            scores, legal, extra = decisions[0].scores, decisions[0].competing, {"decisions": decisions}
        else:
            decoder = cast(StateDecoder, plain.decoder)
            sampled_steps = decoder.sampled_steps(prev_output_tokens) if plain.training else None
            scores, legal, encoder_out = plain(*batch, sampled_steps)
            extra = {"legal": legal, "sampled_steps": sampled_steps}
        extra |= {"attn": None, "tagged": encoder_out.tagged, "tag_heads": plain.tag_heads}
        return only_legal(scores, legal) if mask_illegal else scores, extra

    def get_normalized_probs(self, net_output, log_probs: bool, sample=None) -> Tensor:
        """Return the probabilities of the scores, or their logarithms."""
        scores = net_output[0].float()
        return scores.log_softmax(-1) if log_probs else scores.softmax(-1)

    def max_positions(self) -> tuple[int, int]:
        """Return the longest source and target."""
        return LONGEST


class GenerationModel(FairseqEncoderDecoderModel):
    """A trained model with the interface of `fairseq-generate`.

    greedy: True if search keeps one hypothesis for each sentence, see `SearchState`
    """

    def __init__(self, model: TrainingModel, task, greedy: bool = False) -> None:
        plain = model.plain
        super().__init__(_Encoder(plain, task.source_dictionary), _Decoder(plain, task.target_dictionary, greedy))


class _Encoder(FairseqEncoder):
    def __init__(self, plain: ParserModel, dictionary) -> None:
        super().__init__(dictionary)
        self.encoder = plain.encoder
        self.__dict__["plain"] = plain

    def forward(self, src_tokens: Tensor, **net_input):
        return self.plain.encode({"src_tokens": src_tokens, **net_input})

    def forward_torchscript(self, net_input: dict[str, Tensor]) -> EncoderOut:
        return self.plain.encode(net_input)

    def reorder_encoder_out(self, encoder_out: EncoderOut, new_order: Tensor) -> EncoderOut:
        return encoder_out.rows(new_order)

    def max_positions(self) -> int:
        return LONGEST[0]


class _Decoder(FairseqIncrementalDecoder):
    def __init__(self, plain: ParserModel, dictionary, greedy: bool) -> None:
        super().__init__(dictionary)
        self.decoder, self.greedy = plain.decoder, greedy

    def forward(self, prev_output_tokens: Tensor, encoder_out: EncoderOut, incremental_state: dict | None = None, **_):
        """Return the log-probabilities (R, 1, V) of V actions for R hypotheses, −inf for actions not to take."""
        if incremental_state is None:
            raise ValueError("search needs fairseq's incremental state")
        tokens = prev_output_tokens[:, -1]
        if _CACHE not in incremental_state:
            incremental_state[_CACHE] = self.decoder.start(encoder_out)
            incremental_state[_CACHE].greedy = self.greedy
        else:
            incremental_state[_CACHE].machine.apply(tokens)
        search: SearchState = incremental_state[_CACHE]
        scores = self.decoder.step(tokens, search)
        actions = len(self.decoder.table.tokens)
        found = scores.log_probabilities(actions).masked_fill(~scores.may_be_taken(actions), float("-inf"))
        return found.unsqueeze(1), {"attn": None}

    def get_normalized_probs(self, net_output, log_probs: bool, sample=None) -> Tensor:
        return net_output[0] if log_probs else net_output[0].exp()

    def reorder_incremental_state(self, incremental_state: dict, new_order: Tensor) -> None:
        """Reorder, copy and drop hypotheses as fairseq's beam does. Finished sentences are dropped too."""
        if _CACHE in incremental_state:
            incremental_state[_CACHE].select_sentences(new_order)

    def max_positions(self) -> int:
        return LONGEST[1]


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
