"""Several parses of one sentence: each a different graph, ranked, with probabilities."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeVar

R = TypeVar("R", bound="Ranked")
Parts = Sequence[Hashable]  # what is the same in two graphs of a sentence: an arc with its relation, a node, …


class Place(NamedTuple):
    """The rank of a parse, from 1, and how many parses of its sentence there are."""

    rank: int
    of: int


@dataclass(frozen=True, kw_only=True)
class Ranked(ABC):
    """A parse among those that search found for a sentence.

    probability: that of the graph, as far as search has seen it: the sum of the probabilities of the derivations that
    it found for it (log-sum-exp of their log-probabilities). A graph may have others, so the model gives it this much
    at least; those of different graphs of a sentence sum to 1 at most.
    place: None where no alternatives were asked for. alternatives: the next best parses, each a different graph, best
    first; they have none themselves.
    """

    probability: float = 1.0
    place: Place | None = None
    alternatives: tuple[Self, ...] = ()

    @property
    def ranked(self) -> tuple[Self, ...]:
        """This parse and its alternatives, best first."""
        return (self, *self.alternatives)

    @abstractmethod
    def graph_key(self) -> Hashable:
        """Equal for parses with the same graph."""

    @abstractmethod
    def parts(self) -> Mapping[str, Parts]:
        """The name of each field of confidences, and which parts of the graph they are of."""

    def rescored(self, change: Mapping[str, Callable[[float], float]]) -> Self:
        """The parse, and its alternatives, with other confidences in the named fields."""
        fields: dict[str, Any] = {name: tuple(map(of_one, getattr(self, name))) for name, of_one in change.items()}
        alternatives = tuple(parse.rescored(change) for parse in self.alternatives)
        return replace(self, **fields, alternatives=alternatives)


def ranked(parses: Sequence[R], most: int) -> R:
    """The best of a sentence's parses, with `most` − 1 alternatives or as many as there are.

    parses: of all derivations that search found, best first. Those with the same graph are merged: it stands where the
    best of them does, so that the first parse is the one that would be found without alternatives. The confidence in a
    part of a graph is the mass of the derivations found that have it, and of the mass that was not found the share
    that they themselves give it: their mean confidence. It is the same in all alternatives that have the part.
    """
    scale = 1.0 / max(sum(parse.probability for parse in parses), 1.0)  # more than 1 by rounding alone
    parses = [replace(parse, probability=parse.probability * scale) for parse in parses]
    groups: dict[Hashable, list[R]] = {}
    for parse in parses:
        groups.setdefault(parse.graph_key(), []).append(parse)
    confidences = _confidences(parses)
    best = []
    for group in list(groups.values())[:most]:
        parts = group[0].parts().items()
        fields: dict[str, Any] = {name: tuple(confidences[name, part] for part in some) for name, some in parts}
        best.append(replace(group[0], **fields, probability=sum(parse.probability for parse in group)))
    first, *others = (replace(parse, place=Place(rank, len(best))) for rank, parse in enumerate(best, 1))
    return replace(first, alternatives=tuple(others))


def _confidences(parses: Sequence[Ranked]) -> dict[tuple[str, Hashable], float]:
    """Of all parts of all parses, by the name of the field and the part."""
    with_part: dict[tuple[str, Hashable], list[tuple[float, float]]] = {}
    for parse in parses:
        # long derivations have probabilities that are 0 as numbers
        weight = max(parse.probability, sys.float_info.min)
        for name, parts in parse.parts().items():
            for part, own in dict(zip(parts, getattr(parse, name), strict=True)).items():
                with_part.setdefault((name, part), []).append((weight, own))
    left = max(1.0 - sum(parse.probability for parse in parses), 0.0)
    return {key: _confidence(found, left) for key, found in with_part.items()}


def _confidence(found: Sequence[tuple[float, float]], left: float) -> float:
    """found: the weights of derivations, and the confidence of each. left: the mass that was not found."""
    mass = sum(weight for weight, _ in found)
    return min(mass + left * sum(weight * own for weight, own in found) / mass, 1.0)
