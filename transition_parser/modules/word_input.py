"""The contract of an input of words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.modules.options import ModelOptions
from transition_parser.text.columns import Annotations

NO_ANNOTATIONS: Annotations = MappingProxyType({})


class WordInput(nn.Module, ABC):
    """A module that makes vectors of words, which are added to the words of an encoder.

    column: the column of the data that it reads; None if it reads none.
    """

    column: ClassVar[str | None] = None

    @property
    def needs_values(self) -> bool:
        """True if the sentences to parse must have values in the column, because the model does not predict them."""
        return False

    def masked(self, training: bool) -> float:
        """Return the fraction of sentences in which the column is masked. By default it never is."""
        return 0.0

    @abstractmethod
    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the tensors that it reads of sentences, by name, on the CPU.

        P is one more than the number of words of the longest sentence: the root is the last position.

        sentences: B sentences of normalised words.
        annotations: the columns of these sentences; columns may be missing.
        """

    @abstractmethod
    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors, (B, P, dim) or of a shape that broadcasts to it.

        inputs: the result of `read`.
        x: (B, P, dim); the words without these vectors.
        """


class OptionalInput(WordInput):
    """An input that an option switches on, for every model.

    `word_inputs.INPUTS` lists the classes.

    name: its name in the tensors of a batch, and in the names of parameters.
    switch: the option that switches it on; see `Options`.
    reads_forms: True if it reads the form of each word, so that words need not be read by their pieces.
    files: the files of a data folder that it needs; models that do not have it are exported without them.
    Options: its options; the flags of every model come from it.
    """

    name: ClassVar[str]
    switch: ClassVar[str]
    reads_forms: ClassVar[bool] = False
    files: ClassVar[tuple[str, ...]] = ()
    Options: ClassVar[type[ModelOptions]]

    @classmethod
    @abstractmethod
    def make(cls, options: Any, dim: int, resources: Resources) -> OptionalInput:
        """Make the input. Raises `InputError` where the data lacks something that it needs.

        options: the options of the model, which include `Options`.
        dim: width of the words.
        """

    @classmethod
    def is_wanted(cls, options: ModelOptions) -> bool:
        """Return True if the options switch it on."""
        return bool(getattr(options, cls.switch))

    @abstractmethod
    def start_at_zero(self) -> None:
        """Set weights to 0 so that the input adds nothing until it learns."""
