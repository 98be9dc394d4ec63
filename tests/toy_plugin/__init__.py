"""A parser from outside the package: a linear layer over the two words on top of the stack, and nothing of the past."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.modules.contract import MemorylessDecoder, ParserModel
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, WordEncoder
from transition_parser.modules.options import ModelOptions, option
from transition_parser.states.states import States
from transition_parser.states.table import ActionTable


@dataclass(frozen=True)
class ToyOptions(ModelOptions):
    """How wide, how deep."""

    toy_width: int = option(32, "width of words", least=2, most=1024)
    toy_layers: int = option(1, "layers of the encoder", least=0, most=9)


class TopTwoDecoder(MemorylessDecoder):
    """Scores actions from the words of rank 1 and 2 on the stack; where several words share a rank, from their mean."""

    needs = ("stack",)

    def __init__(self, table: ActionTable, dim: int) -> None:
        super().__init__(table)
        self.output = nn.Linear(2 * dim, len(table.tokens))

    def score_states(self, encoder_out: EncoderOut, sentence: Tensor, states: States) -> Tensor:
        words = encoder_out.words[sentence]
        on_top = torch.stack([states.stack == rank for rank in (1, 2)], 1).to(words.dtype)  # (N, 2, P)
        means = on_top @ words / on_top.sum(2, keepdim=True).clamp_min(1)
        return self.output(means.flatten(1))


def build(options: ToyOptions, resources: Resources) -> ParserModel:
    """The model over the dictionaries of `resources`."""
    dim = options.toy_width
    encoder = WordEncoder(
        ReadingSettings.from_resources(resources), dim=dim, heads=2, inner=dim, layers=options.toy_layers
    )
    return ParserModel(encoder, TopTwoDecoder(resources.table, dim))


register("toy_top_two", ToyOptions, build, {"toy_top_two": {}, "toy_top_two_wide": {"toy_width": 64}})
