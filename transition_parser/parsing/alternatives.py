"""Ranked parses of one sentence, each a different graph with its probability."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

R = TypeVar("R", bound="Ranked")
# keys that identify the parts of a graph (an arc with its relation, a node): equal for a part that two graphs share
Parts = Sequence[Hashable]


class NbestRank(NamedTuple):
    """The rank of a parse among the parses of its sentence."""

    rank: int  # counted from 1
    of: int  # the number of parses


@dataclass(frozen=True, kw_only=True)
class Ranked(ABC):
    """A parse among the parses that search found for a sentence.

    probability: the probability of the graph as far as search has seen it, which is the sum of the probabilities of the
        derivations that search found for the graph (log-sum-exp of their log-probabilities). The graph may have other
        derivations, so this is a lower bound. The probabilities of different graphs of a sentence sum to 1 at most.
    place: the rank of the parse; None if no alternatives were asked for
    alternatives: the next best parses, each a different graph, best first; they have no alternatives themselves
    model: the name and the version of the model (`Parser.version`); None for a gold graph
    """

    probability: float = 1.0
    place: NbestRank | None = None
    alternatives: tuple[Self, ...] = ()
    model: str | None = None

    @property
    def ranked(self) -> tuple[Self, ...]:
        """This parse and its alternatives, best first."""
        return (self, *self.alternatives)

    @abstractmethod
    def graph_key(self) -> Hashable:
        """Return a key that is equal for parses with the same graph."""

    @abstractmethod
    def parts(self) -> Mapping[str, Parts]:
        """Return field of confidences (`arc_scores` …) → the part of the graph for each confidence in the field."""

    def rescored(self, change: Mapping[str, Callable[[float], float]]) -> Self:
        """Return the parse, and its alternatives, with other confidences in the named fields.

        change: the name of a field → the function that maps each of its confidences
        """
        fields: dict[str, Any] = {name: tuple(map(of_one, getattr(self, name))) for name, of_one in change.items()}
        alternatives = tuple(parse.rescored(change) for parse in self.alternatives)
        return replace(self, **fields, alternatives=alternatives)


def ranked(parses: Sequence[R], most: int) -> R:
    """Return the best of a sentence's parses, with up to `most` − 1 alternatives; parses of one graph are merged.

    Confidence in a part is the mass of the derivations that have it, and its mean confidence over the mass not found.
    """
    scale = 1.0 / max(sum(parse.probability for parse in parses), 1.0)  # only rounding makes the sum exceed 1
    parses = [replace(parse, probability=parse.probability * scale) for parse in parses]
    groups: dict[Hashable, list[R]] = {}
    for parse in parses:
        groups.setdefault(parse.graph_key(), []).append(parse)
    confidences = _confidences(parses)
    best = [replace(group[0], probability=sum(parse.probability for parse in group)) for group in groups.values()]
    for i, parse in enumerate(best[:most]):
        parts = parse.parts().items()
        fields: dict[str, Any] = {name: tuple(confidences[name, part] for part in of_field) for name, of_field in parts}
        best[i] = replace(parse, place=NbestRank(i + 1, min(most, len(best))), **fields)
    return replace(best[0], alternatives=tuple(best[1:most]))


def _confidences(parses: Sequence[Ranked]) -> dict[tuple[str, Hashable], float]:
    """Return (name of a field of confidences, part) → the confidence in the part, for all parts of all parses."""
    with_part: dict[tuple[str, Hashable], list[tuple[float, float]]] = {}
    for parse in parses:
        # the probabilities of long derivations underflow to 0
        weight = max(parse.probability, sys.float_info.min)
        for name, parts in parse.parts().items():
            for part, own in dict(zip(parts, getattr(parse, name), strict=True)).items():
                with_part.setdefault((name, part), []).append((weight, own))
    unseen = max(1.0 - sum(parse.probability for parse in parses), 0.0)
    confidences = {}
    for key, found in with_part.items():
        mass = sum(weight for weight, _ in found)
        confidences[key] = min(mass + unseen * sum(weight * own for weight, own in found) / mass, 1.0)
    return confidences
