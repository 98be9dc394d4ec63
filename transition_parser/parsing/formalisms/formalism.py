"""What differs between kinds of graphs, outside the state machines."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from transition_parser.text.lengths import LONGEST

if TYPE_CHECKING:
    from transition_parser.data.resources import Resources
    from transition_parser.modules.contract import Hypothesis
    from transition_parser.transitions import Action, TransitionSystem

E = TypeVar("E", bound="ToParse")  # a sentence, as it is read and written
P = TypeVar("P")  # a parse of one
G = TypeVar("G")  # a graph


class ToParse(Protocol):
    """A sentence to parse."""

    @property
    def path(self) -> str | None:
        """The file that it was read from."""

    @property
    def line(self) -> int | None:
        """Where it begins there."""

    @property
    def id(self) -> str | None:
        """What the file calls it."""

    @property
    def forms(self) -> list[str]:
        """Its words."""


class Report(NamedTuple):
    """Scores of a file. figures: by name, as `--json` prints them. text: the same for people."""

    figures: dict[str, Any]
    text: str


class Gold(NamedTuple):
    """A sentence of a file with its graph, and the derivation that builds it."""

    sentence: Any
    system: TransitionSystem
    actions: Sequence[Action]


class Formalism(ABC, Generic[E, P, G]):
    """A kind of graph: how sentences of it are read, replayed, annotated, drawn, scored and validated.

    There is one object of each kind, `TREES` and `AMR`; `formalism_of` selects it by the transition system, once.
    Nothing here needs torch.

    name: of the graphs, in messages. files: the format of its files. suffix: of their names. systems: the transition
    systems that build such graphs; default_system: the one that is used where none is named. sentence: the class of its
    sentences. annotations: the options of `annotated` of its parses. confidences: the names of their fields of
    confidences. lenpen: of search with a beam, see `search`. grows: what of `configuration` grows with a derivation,
    each a list. sums: names of what is counted in validation.
    figures: name → what it is, from these sums.
    """

    name: ClassVar[str]
    files: ClassVar[str]
    suffix: ClassVar[str]
    systems: ClassVar[tuple[str, ...]]
    default_system: ClassVar[str]
    sentence: ClassVar[type]
    annotations: ClassVar[tuple[str, ...]]
    confidences: ClassVar[tuple[str, ...]]
    lenpen: ClassVar[float]
    grows: ClassVar[tuple[str, ...]]
    sums: ClassVar[tuple[str, ...]]
    figures: ClassVar[Mapping[str, Callable[[Mapping[str, float]], float]]]

    # --- parsing ----------------------------------------------------------------------------

    @abstractmethod
    def read(
        self, path: str | os.PathLike, tokenised: bool | None = None, raw: bool = False, longest: int = LONGEST
    ) -> Iterator[E]:
        """Yield the sentences to parse of a file, `-` for standard input; see `parsing.sentences`."""

    @abstractmethod
    def replay(
        self,
        resources: Resources,
        sentence: E,
        words: Sequence[str],
        hypothesis: Hypothesis,
        tags: Mapping[str, Sequence[str]],
    ) -> P:
        """The graph that a derivation builds, as a parse of the sentence. words: its normalised forms. tags: column →
        predicted values."""

    @abstractmethod
    def right_parts(self, gold: E, parse: P) -> Mapping[str, Sequence[bool | None]]:
        """By field of confidences of a parse: whether each is about what the gold graph has; None where gold does not
        say. Raises `InputError` where the gold sentence has no graph."""

    def marks(self, sentence: E) -> Mapping[str, Sequence[str]]:
        """Column → its values for the words of a sentence, for models that read them; `_` where none is given."""
        return {}

    # --- files ------------------------------------------------------------------------------

    @abstractmethod
    def opens_with(self, line: bytes) -> bool:
        """True where a file whose first line that is neither blank nor a comment is this holds such graphs."""

    @abstractmethod
    def read_graphs(self, path: str | os.PathLike) -> Iterator[E]:
        """Yields the sentences of a file with their graphs. Raises `InputError` for a malformed one."""

    @abstractmethod
    def draw(self, path: str | os.PathLike, wanted: str | None, system: str | None, picture: Path) -> None:
        """Draws a sentence of a file. wanted: its id, None for the first. system: whose derivation to draw, where the
        pictures have one. Raises `InputError` where there is no such sentence."""

    @abstractmethod
    def gold(self, path: str | os.PathLike, system: str | None = None) -> Iterator[Gold]:
        """Yields the sentences of a file with the derivations of their graphs. system: its name, by default
        `default_system`. Raises `InputError` for a graph that the system can't build."""

    @abstractmethod
    def score(self, gold: str, system: str, options: Mapping[str, Any] | None = None) -> Report:
        """Scores a file against a gold one. options: those of the subcommand `score`, by
        default none."""

    # --- plain data, for JSON ---------------------------------------------------------------

    @abstractmethod
    def as_data(self, sentence: E) -> dict[str, Any]:
        """A sentence with its graph. In all: `id`, `text`, `words`, and `written`, as files have it."""

    @abstractmethod
    def written_confidences(self, parse: P) -> Sequence[float]:
        """Of each word's arc, or of each node but those of `:wiki`, in the order of `as_data`."""

    def parse_as_data(self, parse: Any) -> dict[str, Any]:
        """`as_data` of a parse, and `confidences`: see `written_confidences`."""
        confidences = [round(confidence, 4) for confidence in self.written_confidences(parse)]
        return {**self.as_data(parse.annotated()), "confidences": confidences}

    @abstractmethod
    def configuration(self, state: Any) -> dict[str, Any]:
        """A configuration of its transition systems; words, and nodes, are counted from 0."""

    # --- validation in training -------------------------------------------------------------

    @abstractmethod
    def gold_graphs(
        self, resources: Resources, folder: str | os.PathLike, split: str, sources: Iterable, targets: Iterable
    ) -> list[G | None]:
        """The gold graph of each sentence of a split of a data folder, None for those that validation leaves out.

        sources, targets: tensors of piece ids and of action ids. Raises `InputError` where a file is missing.
        """

    @abstractmethod
    def count(self, gold: G, system: G | None) -> Mapping[str, float]:
        """What parsing a sentence adds to `sums`. system: None for a derivation that builds no graph."""
