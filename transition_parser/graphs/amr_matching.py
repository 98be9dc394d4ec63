"""The mapping between the nodes of two AMRs under which most triples match: the hill-climbing of the package `smatch`.

Source: Cai and Knight 2013, sec. 3
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import smatch

from transition_parser.graphs.amr_triples import Triples

_GOLD, _SYSTEM = "b", "a"  # what the package calls the nodes of each


def best_mapping(system: Triples, gold: Triples, restarts: int = 4, seed: int = 0) -> tuple[int, list[int | None]]:
    """The most matching triples that were found, and for each node of `system` that of `gold`, or None.

    One climb from a start that joins equal concepts, then `restarts` from random ones. The same seed gives the
    same result for the same pair, whatever was scored before.
    """
    with _settings(restarts, seed):
        mapping, match = smatch.get_best_match(
            *_named(system, _SYSTEM), *_named(gold, _GOLD), prefix1=_SYSTEM, prefix2=_GOLD
        )
    return match, [None if node == -1 else node for node in mapping]


class _Seeded(random.Random):
    """Random numbers that the package can't seed anew: it does so from the clock, before each start."""

    def seed(self, *args: Any) -> None:
        if args and args[0] is not None:
            super().seed(*args)


@contextmanager
def _settings(restarts: int, seed: int) -> Iterator[None]:
    """The package keeps its number of climbs, its source of random numbers and its cache in the module."""
    before = smatch.iteration_num, smatch.random
    smatch.iteration_num, smatch.random = restarts + 1, _Seeded(seed)
    smatch.match_triple_dict.clear()
    try:
        yield
    finally:
        smatch.iteration_num, smatch.random = before
        smatch.match_triple_dict.clear()


def _named(triples: Triples, prefix: str) -> tuple[list[tuple], list[tuple], list[tuple]]:
    """Instances, attributes and relations as the package passes them on."""
    instances = [("instance", f"{prefix}{node}", concept) for node, concept in enumerate(triples.concepts)]
    attributes = [(role, f"{prefix}{node}", value) for role, node, value in triples.attributes]
    relations = [(role, f"{prefix}{source}", f"{prefix}{target}") for role, source, target in triples.relations]
    return instances, attributes, relations
