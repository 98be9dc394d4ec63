"""The interface of formalisms: the differences between kinds of graphs, outside the state machines."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.text.columns import KNOWN

if TYPE_CHECKING:
    from transition_parser.data.resources import Resources
    from transition_parser.modules.contract import Hypothesis
    from transition_parser.modules.tagging import Tags
    from transition_parser.parsing.given import Given
    from transition_parser.parsing.parses import AmrParse, Parse


class ToParse(NamedTuple):
    """A sentence to parse, its words as the network reads them (`normalize`), the facts about it, and its domain."""

    sentence: Any
    words: list[str]
    facts: Given | None = None
    domain: str | None = None


ReadTrees = Callable[[Sequence[Sequence[str]]], Sequence[DependencyTree]]  # words of sentences → their trees


class Report(NamedTuple):
    """Scores of a file."""

    figures: dict[str, Any]  # the scores by name, as `--json` prints them
    text: str  # the scores as a text for people


class Formalism(ABC):
    """A kind of graph, with the ways to read, replay, annotate, draw, score and validate sentences of this kind."""

    name: ClassVar[str]  # the name of the graphs in messages
    files: ClassVar[str]  # the format of its files
    suffix: ClassVar[str]  # the suffix of the names of its files
    systems: ClassVar[tuple[str, ...]]  # the transition systems that build such graphs
    default_system: ClassVar[str]  # the transition system that is used where none is named
    sentence: ClassVar[type]  # the class of its sentences
    read_graphs: Callable[[str | os.PathLike], Iterator[Any]]  # file → its sentences with their graphs
    annotations: ClassVar[tuple[str, ...]]  # the names of the options of `annotated`, the method of its parses
    score_options: ClassVar[Mapping[str, Any]]  # the options of `score`, with their defaults
    lenpen: ClassVar[float]  # the default of `lenpen` for search with a beam, see `search`
    grows: ClassVar[tuple[str, ...]]  # the entries of `configuration` that are lists and grow with a derivation
    sums: ClassVar[tuple[str, ...]]  # the names of the counts that validation adds up, see `count`
    figures: ClassVar[Mapping[str, Callable[[Mapping[str, float]], float]]]  # name of a figure → from the counts

    # --- parsing ----------------------------------------------------------------------------

    @abstractmethod
    def replay(
        self,
        resources: Resources,
        found: Iterable[tuple[ToParse, Hypothesis, Tags]],
        edits: bool = True,
        trees: ReadTrees | None = None,
    ) -> list[Any]:
        """Return the parses of sentences with the graphs that derivations build, completed by facts, and edited.

        trees: a parser of the sentences whose trees edits ask for; None for edits without trees
        """

    @abstractmethod
    def right_parts(self, gold: Any, parse: Any) -> Mapping[str, Sequence[bool | None]]:
        """Return field of confidences (`arc_scores` …) → for each confidence True if its part of the graph is right."""

    def annotations_of(self, sentence: Any, columns: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return column → its values for the words of a sentence (`_` for no value), for models that read columns."""
        read = {name: KNOWN[name] for name in columns if KNOWN[name].of_words and self.name in KNOWN[name].graphs}
        return {name: column.values(sentence) for name, column in read.items()}

    # --- files ------------------------------------------------------------------------------

    def draw(self, path: str | os.PathLike, wanted: str | None, picture: Path) -> None:
        """Write the picture of the sentence of a file whose id is `wanted`; None for the first sentence.

        picture: its suffix is `.svg`, `.png`, `.pdf`, or `.tex`
        """
        from transition_parser.drawing.svg import write_drawing

        found = next((one for one in self.read_graphs(path) if wanted is None or one.id == wanted), None)
        if found is None:
            raise input_error("the file holds no sentences" if wanted is None else f"no sentence {wanted!r}", path)
        if picture.suffix == ".tex":
            picture.write_text(self.latex(found), encoding="utf-8")
        else:
            write_drawing(self.from_gold(found).drawings()[0], picture)

    def steps_drawings(self, words: Sequence[str], configurations: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return what a derivation builds as pictures, like `drawings` of parses; none where these show it."""
        return []

    def latex(self, sentence: Any) -> str:
        """Return a tree as LaTeX."""
        raise input_error(f"LaTeX is for trees, not {self.name}: write .svg or .pdf")

    @abstractmethod
    def from_gold(self, sentence: Any) -> Parse | AmrParse:
        """Return a sentence of a file with its graph as a parse without scores."""

    @abstractmethod
    def score(self, gold: str, system: str, options: Mapping[str, Any] | None = None) -> Report:
        """Return the scores of a file against a gold file."""

    @abstractmethod
    def configuration(self, state: Any) -> dict[str, Any]:
        """Return a configuration of a transition system as plain data."""

    # --- validation in training -------------------------------------------------------------

    @abstractmethod
    def gold_graphs(
        self,
        resources: Resources,
        folder: str | os.PathLike,
        split: str,
        sentences: Sequence[Sequence[str]],
        targets: Iterable,
    ) -> list[Any]:
        """Return the gold graph of each sentence of a split, None for sentences that validation leaves out.

        sentences: the normalized words of each; targets: the ids of the actions of each, with `</s>`
        """

    @abstractmethod
    def count(self, gold: Any, system: Any) -> Mapping[str, float]:
        """Return name of a count of `sums` → its value for one sentence."""
