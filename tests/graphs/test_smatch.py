"""The search for the best mapping, step by step that of the package `smatch`; large graphs."""

import itertools
import random

import pytest
import smatch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import SAMPLE_AMR
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.smatch import Triples, best_mapping, entry_triples

RESTARTS = 4


class Seeded(random.Random):
    """The package would seed it from the clock."""

    def seed(self, a=None, version=2):
        if a is not None:
            super().seed(a, version)


def by_the_package(system: Triples, gold: Triples, seed: int) -> tuple[int, list[int | None]]:
    """What the package finds with our random numbers."""
    before = smatch.iteration_num, smatch.random
    smatch.iteration_num, smatch.random = RESTARTS + 1, Seeded(seed)
    smatch.match_triple_dict.clear()
    try:
        mapping, match = smatch.get_best_match(*named(system, "a"), *named(gold, "b"), prefix1="a", prefix2="b")
    finally:
        smatch.iteration_num, smatch.random = before
        smatch.match_triple_dict.clear()
    return match, [None if node == -1 else node for node in mapping]


def named(triples: Triples, prefix: str):
    return (
        [("instance", f"{prefix}{node}", concept) for node, concept in enumerate(triples.concepts)],
        [(role, f"{prefix}{node}", value) for role, node, value in triples.attributes],
        [(role, f"{prefix}{source}", f"{prefix}{target}") for role, source, target in triples.relations],
    )


@st.composite
def triples(draw, size=9) -> Triples:
    """Few names, so that much is alike; loops too."""
    count = draw(st.integers(1, size))
    node = st.integers(0, count - 1)
    concepts = draw(st.lists(st.sampled_from(["a", "A", "b", "c"]), min_size=count, max_size=count))
    attributes = st.tuples(st.sampled_from(["x", "X", "y"]), node, st.sampled_from(["1", '"1"', "2"]))
    relations = st.tuples(st.sampled_from(["r", "R", "s"]), node, node)
    return Triples(
        tuple(concepts),
        tuple(draw(st.lists(attributes, max_size=4))),
        tuple(draw(st.lists(relations, max_size=14))),
    ).normalized


@given(triples(), triples(), st.integers(0, 99))
def test_each_step_is_that_of_the_package(system, gold, seed):
    assert best_mapping(system, gold, RESTARTS, seed) == by_the_package(system, gold, seed)


def test_the_sample_as_the_package_matches_it():
    """Each graph with its neighbors in the file: other graphs, and other sizes."""
    graphs = [entry_triples(entry).normalized for entry in read_bank(SAMPLE_AMR)]
    for system, gold in zip(graphs, [*graphs[1:], graphs[0]], strict=True):
        assert best_mapping(system, gold, RESTARTS, 7) == by_the_package(system, gold, 7)


def chain(length: int, concepts: int = 1) -> Triples:
    """x0 :ARG0 x1 :ARG0 …"""
    return Triples(
        tuple(f"c{i % concepts}" for i in range(length)),
        (("TOP", 0, "top"),),
        tuple(("ARG0", i, i + 1) for i in range(length - 1)),
    )


def shuffled(graph: Triples, seed: int) -> Triples:
    """The same graph, its nodes in another order."""
    order = list(range(len(graph.concepts)))
    random.Random(seed).shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    return Triples(
        tuple(graph.concepts[old] for old in order),
        tuple((role, place[node], value) for role, node, value in graph.attributes),
        tuple((role, place[source], place[target]) for role, source, target in graph.relations),
    )


def matched(system: Triples, gold: Triples, mapping: list[int | None]) -> int:
    """How many triples match under a mapping."""
    ours = {("instance", mapping[node], concept) for node, concept in enumerate(system.concepts)}
    ours |= {(role, mapping[node], value) for role, node, value in system.attributes}
    ours |= {(role, mapping[source], mapping[target]) for role, source, target in system.relations}
    theirs = {("instance", node, concept) for node, concept in enumerate(gold.concepts)}
    return len(ours & (theirs | {*gold.attributes, *gold.relations}))


MORE_NODES = Triples(("a",) * 4, (), (("r", 2, 3),))


@given(triples(4), triples(4))
@example(MORE_NODES, Triples(("a", "a"), (), (("r", 0, 1),)))
def test_the_best_of_all_mappings_is_found(system, gold):
    """With so many starts that none of the mappings of tiny graphs is missed, in one direction: as in smatch, a start
    gives nodes of gold to the first nodes of a larger system alone."""
    nodes = [*range(len(gold.concepts)), *[None] * len(system.concepts)]
    mappings = {*itertools.permutations(nodes, len(system.concepts))}
    best = max(matched(system, gold, [*mapping]) for mapping in mappings)
    found = [best_mapping(*pair, restarts=300)[0] for pair in ((system, gold), (gold, system))]
    assert max(found) == best <= min(len(system), len(gold))


def test_graphs_of_many_nodes():
    graph = chain(401, 50)
    match, mapping = best_mapping(graph, graph)
    assert match == len(graph) and mapping == list(range(401))
    for other in (shuffled(graph, 1), chain(301, 50)):
        match, mapping = best_mapping(other, graph)
        assert match == matched(other, graph, mapping) and match > 0.5 * len(other)


def test_graphs_that_are_too_large():
    with pytest.raises(InputError, match="graphs of 2000 and 2001 nodes are too large for Smatch"):
        best_mapping(chain(2000), chain(2001))


@pytest.mark.slow
def test_corpora_as_the_package_matches_them(corpora):
    for name in ("lpp-v3.0/dev.amr", "bio-isi-aligned/train.amr"):
        graphs = [entry_triples(entry).normalized for entry in read_bank(corpora / "amr" / name)]
        graphs = graphs[:150]
        for system, gold in zip(graphs, [*graphs[1:], graphs[0]], strict=True):
            if len(system.concepts) * len(gold.concepts) < 900:  # the package takes long
                assert best_mapping(system, gold, RESTARTS, 7) == by_the_package(system, gold, 7)
