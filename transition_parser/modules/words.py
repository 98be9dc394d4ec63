"""All inputs by which a network reads words besides pieces: which ones the options ask for, and what adds them up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.modules.options import dropout_option, flag_of, option, size_option
from transition_parser.modules.pretrained import PretrainedWords
from transition_parser.modules.word_inputs import (
    ADD,
    CONCAT,
    NO_ANNOTATIONS,
    AffixInput,
    CharacterInput,
    DomainInput,
    TableInput,
    TagInput,
    WordInput,
)
from transition_parser.text.columns import FILE_NAME as COLUMNS
from transition_parser.text.columns import FORMS_FILE, Annotations

TAGS = TagInput.name
WordTensors = Mapping[str, Mapping[str, Tensor]]  # input → name → tensor
# The inputs are made in this order. The random numbers of their weights depend on it.
INPUTS: tuple[type[WordInput], ...] = (
    TagInput, DomainInput, CharacterInput, AffixInput, TableInput, PretrainedWords,
)  # fmt: skip


@dataclass(frozen=True)
class WordOptions(
    TableInput.Options,
    AffixInput.Options,
    CharacterInput.Options,
    DomainInput.Options,
    TagInput.Options,
    PretrainedWords.Options,
):
    """The options of all inputs of words; the flags of the last base class come first."""

    no_pieces: bool = option(False, "words are not read by their pieces, only by other inputs")
    join_inputs: str = option(
        ADD,
        "the vectors of pieces and of other inputs of a word are added up, or stand side by side (concat)",
        choices=(ADD, CONCAT),
    )
    word_dropout: float = dropout_option(0.0, "dropout of whole words of the sentence")
    tag_loss: float = option(
        0.0, "weight of the loss of predicting the columns `upos`, `lemma`, `xpos` and `feats` of the data", least=0.0
    )
    tag_hidden: int = size_option(
        0, "width of a hidden layer between words and the prediction of each column; 0: none", least=0, most=4096
    )

    def contradictions(self) -> str | None:
        for kind in INPUTS:
            if kind.width_option and getattr(self, kind.width_option) and not kind.is_wanted(self):
                switch = flag_of(kind.switch)
                return f"{flag_of(kind.width_option)} does nothing without {switch}: give {switch}, too"
        if self.tag_hidden and not self.tag_loss:
            return "--tag-hidden is for models that predict tags: give --tag-loss, too"
        if self.no_pieces and not any(kind.reads_forms and kind.is_wanted(self) for kind in INPUTS):
            *flags, last = (flag_of(kind.switch) for kind in reversed(INPUTS) if kind.reads_forms)
            return f"--no-pieces leaves nothing to read words by: give {', '.join(flags)} or {last}"
        if self.join_inputs == CONCAT and not any(kind.is_wanted(self) for kind in INPUTS):
            all_flags = ", ".join(flag_of(kind.switch) for kind in INPUTS)
            return f"--join-inputs concat: words are read by their pieces alone; give some of {all_flags}, too"
        return super().contradictions()

    def unread(self, files: Collection[str]) -> Collection[str]:
        of_tags = (COLUMNS, FORMS_FILE) if self.tag_loss else ()
        read = {*of_tags, *chain.from_iterable(kind.files for kind in INPUTS if kind.is_wanted(self))}
        return [name for name in files if name not in read]


@dataclass(frozen=True)
class TaggedWordOptions(WordOptions):
    """The options of models whose columns may be predicted from inputs of words, too."""

    tags_read_words: bool = option(
        False,
        "predict tags, lemmas and features from the input vectors of words, too, not only from the encoder; the layers "
        "of a pretrained encoder then read its pieces alone",
    )

    def contradictions(self) -> str | None:
        if self.tags_read_words and not self.tag_loss:
            return "--tags-read-words is for models that predict tags: give --tag-loss, too"
        return super().contradictions()


class WordInputs(nn.ModuleDict):
    """The inputs of words, besides pieces, that the options ask for, added up or concatenated; by default none."""

    def __init__(self, options: WordOptions = WordOptions(), dim: int = 0, resources: Resources | None = None) -> None:
        made: dict[str, WordInput] = {}
        if resources is not None:
            made = {kind.name: kind(options, dim, resources) for kind in INPUTS if kind.is_wanted(options)}
        super().__init__(made)
        self.concatenated, self._pieces = options.join_inputs == CONCAT, not options.no_pieces
        self.width = dim
        if self.concatenated:
            self.width = dim * self._pieces + sum(input.output_width for input in made.values())

    @property
    def columns(self) -> Collection[str]:
        """The columns of the data that are read."""
        return [input.column for input in self.values() if input.column is not None]

    @property
    def given_columns(self) -> Collection[str]:
        """The columns of `columns` that sentences must have, because the model does not predict them."""
        return [input.column for input in self.values() if input.column is not None and input.needs_values]

    def masked(self, training: bool) -> dict[str, float]:
        """Return, for each column that is read, the fraction of sentences in which the column is masked."""
        return {input.column: input.masked(training) for input in self.values() if input.column is not None}

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations = NO_ANNOTATIONS) -> WordTensors:
        """Return what each input makes of sentences of normalized words, on the CPU."""
        return {name: module.read(sentences, annotations) for name, module in self.items()}

    def forward(self, x: Tensor, words: WordTensors | None) -> Tensor:
        """Return the sum of x and the vectors that inputs make of `words`, or their concatenation, (B, P, width)."""
        parts = []
        for name, module in self.items():
            assert words is not None
            parts.append(module(words[name], x).to(x.dtype))
        if self.concatenated:
            parts = [part.expand(*x.shape[:2], -1) for part in parts]
            return torch.cat([x, *parts] if self._pieces else parts, -1)
        for part in parts:
            x = x + part
        return x
