"""The interface of word inputs: modules that make vectors of words for an encoder (B sentences, P positions)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.modules.linear import linear
from transition_parser.modules.options import ModelOptions, flag_of
from transition_parser.text.columns import Annotations

NO_ANNOTATIONS: Annotations = MappingProxyType({})
ADD, CONCAT = "add", "concat"  # the values of `--join-inputs`


class WordInput(nn.Module, ABC):
    """A module that makes vectors of words, which an encoder reads.

    column: the annotation column of the data that the module reads; None if it reads none.
    """

    column: ClassVar[str | None] = None

    @property
    def needs_values(self) -> bool:
        """True if the sentences to parse must have values in the column, because the model does not predict them."""
        return False

    def masked(self, training: bool) -> float:
        """Return the fraction of sentences in which the column is masked (its values read as unknown), by default 0."""
        return 0.0

    @abstractmethod
    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the tensors of sentences that `forward` reads, by name, on the CPU.

        P is one more than the number of words of the longest sentence: the root is the last position.

        sentences: B sentences of normalised words.
        annotations: the columns of these sentences; columns may be missing.
        """

    @abstractmethod
    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors of words, (B, P, width) or of a shape that broadcasts to (B, P, width).

        inputs: the result of `read`.
        x: (B, P, dim); the vectors of the words, before the vectors of this input are added or appended.
        """


class OptionalInput(WordInput):
    """An input that an option switches on, for every model.

    `word_inputs.INPUTS` lists the classes.

    name: the name of the input in the tensors of a batch and in the names of parameters.
    switch: the name of the option, in `Options`, that switches the input on.
    reads_forms: True if it reads the form of each word, so that words need not be read by their pieces.
    files: the files of a data folder that the input needs; models without this input are exported without these files.
    Options: the options of the input; every model has their flags.
    project: the last layer of the input, see `project_to`.
    output_width: width of the input's vectors.
    """

    name: ClassVar[str]
    switch: ClassVar[str]
    reads_forms: ClassVar[bool] = False
    files: ClassVar[tuple[str, ...]] = ()
    Options: ClassVar[type[ModelOptions]]
    project: nn.Module
    output_width: int

    @classmethod
    @abstractmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> OptionalInput:
        """Make the input. Raises `InputError` if the data lacks something that the input needs.

        options: the options of the model, which include `Options`.
        dim: width of the words.
        """

    @classmethod
    def is_wanted(cls, options: ModelOptions) -> bool:
        """Return True if the options switch the input on."""
        return bool(getattr(options, cls.switch))

    @classmethod
    def without_switch(cls, options: ModelOptions, *names: str) -> str | None:
        """Return a message if one of the named options is given although the input is switched off; else None."""
        given = [name for name in names if getattr(options, name)]
        if not given or cls.is_wanted(options):
            return None
        return f"{flag_of(given[0])} does nothing without {flag_of(cls.switch)}: give {flag_of(cls.switch)}, too"

    def project_to(self, width: int | None, own: int) -> None:
        """Add the layer that projects the vectors of the input to their final width.

        width: the result of `projected_width`; None for no projection.
        own: width of the vectors before the layer.
        """
        self.project = nn.Identity() if width is None else linear(own, width)
        self.output_width = own if width is None else width

    def start(self, resources: Resources) -> None:
        """Initialise weights from the data, for a new training. By default do nothing.

        Raises `InputError` if the data lacks the values of these weights, or if the values do not fit.
        """

    def start_at_zero(self) -> None:
        """Set weights to 0 so that the input adds nothing until it learns."""
        for parameter in self.project.parameters():
            nn.init.zeros_(parameter)


def projected_width(options: Any, dim: int) -> int | None:
    """Return the width that the vectors of an input are projected to; None where they keep their own width.

    Vectors that are added up are as wide as the words. Vectors that are concatenated keep their own widths.

    options: the options of the model.
    dim: width of the words.
    """
    return None if options.join_inputs == CONCAT else dim


def padded_rows(rows: Sequence[Sequence[int]], sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return rows with one number per word as a tensor (B, P) int64, with 0 at the root and at padding."""
    padded = np.zeros((len(rows), max(map(len, sentences), default=0) + 1), np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return torch.from_numpy(padded)
