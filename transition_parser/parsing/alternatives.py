"""Ranked parses of one sentence, each a different graph with its probability."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from transition_parser.parsing.parses import NbestRank, SentenceParse

P = TypeVar("P", bound=SentenceParse)


def ranked(parses: Sequence[P], most: int) -> P:
    """Return the best of a sentence's parses, with up to `most` − 1 alternatives; parses of one graph are merged.

    Confidence in a part is the mass of the derivations that have it, and its mean confidence over the mass not found.
    """
    scale = 1.0 / max(sum(parse.probability for parse in parses), 1.0)  # only rounding makes the sum exceed 1
    parses = [replace(parse, probability=parse.probability * scale) for parse in parses]
    groups: dict[Hashable, list[P]] = {}
    for parse in parses:
        groups.setdefault(parse.graph_key(), []).append(parse)
    confidences = _confidences(parses)
    best = [replace(group[0], probability=sum(parse.probability for parse in group)) for group in groups.values()]
    for i, parse in enumerate(best[:most]):
        parts = parse.parts().items()
        fields: dict[str, Any] = {name: tuple(confidences[name, part] for part in of_field) for name, of_field in parts}
        best[i] = replace(parse, place=NbestRank(i + 1, min(most, len(best))), **fields)
    return replace(best[0], alternatives=tuple(best[1:most]))


def _confidences(parses: Sequence[SentenceParse]) -> dict[tuple[str, Hashable], float]:
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
