"""Relations that a head has at most once, against all choices of relations for a few dependents."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.modules.tree_decoder import OnceRelations

NAMES = ["", "nsubj", "csubj", "obj", "obl", "advmod"]
GROUPS = [["csubj", "nsubj"], ["obj"], ["unknown"]]


def repeats(heads: list[int], relations: list[int]) -> bool:
    """Return True if a head has several relations of one group."""
    held = [
        (head, number)
        for head, relation in zip(heads, relations)
        for number, group in enumerate(GROUPS)
        if NAMES[relation] in group
    ]
    return len(set(held)) < len(held)


@st.composite
def dependents(draw) -> tuple[np.ndarray, np.ndarray]:
    count = draw(st.integers(1, 4))
    heads = draw(st.lists(st.integers(0, 1), min_size=count, max_size=count))
    values = st.sampled_from([0.0, -1.0, -2.0, -5.0]) | st.floats(-4.0, 0.0)
    scores = [[-np.inf, *draw(st.lists(values, min_size=5, max_size=5))] for _ in heads]
    return np.array(heads), np.array(scores)


@given(dependents())
def test_the_relations_are_the_best_that_repeat_none(case):
    heads, scores = case
    best = scores.argmax(1)
    found = OnceRelations(NAMES, GROUPS).choose(heads, best, scores)
    every = [some for some in itertools.product(range(1, 6), repeat=len(heads)) if not repeats([*heads], some)]
    wanted = max(sum(row[relation] for row, relation in zip(scores, some)) for some in every)
    assert not repeats([*heads], [*found])
    assert np.isclose(sum(row[relation] for row, relation in zip(scores, found)), wanted)
    for head in set(heads.tolist()):  # heads are independent, and where nothing is repeated nothing changes
        own = heads == head
        if not repeats([*heads[own]], [*best[own]]):
            assert (found[own] == best[own]).all()


def test_many_dependents_that_all_want_one_relation():
    scores = -np.random.default_rng(1).uniform(1.0, 2.0, (3000, len(NAMES)))
    scores[:, [1, 3]] += 1.0
    found = OnceRelations(NAMES, GROUPS).choose(np.zeros(3000, int), scores.argmax(1), scores)
    assert [NAMES[i] in group for group in GROUPS for i in found].count(True) == 2
