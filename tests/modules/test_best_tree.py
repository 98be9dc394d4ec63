"""The best tree against all trees of few words, and against trees that are known to be the best of many words."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.states.brute_force import all_trees
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.tree_decoder import best_tree


@cache
def trees_of(n: int) -> np.ndarray:
    """Return the heads of all trees over n words with a single root, (trees, n)."""
    return np.array([tree.heads for tree in all_trees(n, projective=False)])


def totals(scores: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Return the sum of scores of each tree; the root, 0, is the last column."""
    return scores[np.arange(len(scores)), heads - 1].sum(-1)


def is_tree(heads: list[int]) -> bool:
    return DependencyTree(tuple(heads), ("_",) * len(heads)).why_invalid() is None


@given(st.integers(1, 6), st.integers(0, 2**31), st.sampled_from([0.0, 1.0, 100.0]), st.sampled_from([0.0, 50.0]))
def test_the_tree_is_the_best_of_all(n, seed, root_bonus, own_bonus):
    """Also where the root is the best head of every word, and each word that of itself."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n, n + 1)) * random.choice([0.1, 1.0, 30.0])
    scores[:, n] += root_bonus
    scores[range(n), range(n)] += own_bonus
    before = scores.copy()
    found, of_trees = best_tree(scores), totals(scores, trees_of(n))
    assert is_tree(found) and found == trees_of(n)[of_trees.argmax()].tolist()
    assert (scores == before).all()


@given(st.integers(1, 6), st.data())
def test_with_ties_and_arcs_that_are_impossible(n, data):
    """The tree has as few impossible arcs as any, and the largest sum over its other arcs."""
    values = st.sampled_from([0.0, 1.0, 2.0, -float("inf")])
    scores = np.array(data.draw(st.lists(values, min_size=n * (n + 1), max_size=n * (n + 1)))).reshape(n, n + 1)
    few = np.where(np.isneginf(scores), -1000.0, scores)
    found = best_tree(scores)
    assert is_tree(found)
    assert totals(few, np.array(found)) == totals(few, trees_of(n)).max()


@pytest.mark.parametrize("n", [2, 40, 300, 3000])
def test_a_planted_chain_is_found(n):
    """By duality a tree that has one arc into a set of words stays the best where all arcs into the set lose as much.

    All arcs into each end of the chain do, so that the best heads alone make cycles, which lie in cycles.
    """
    random = np.random.default_rng(n)
    scores, places = -random.uniform(0.01, 1.0, (n, n + 1)), np.arange(n)
    scores[:, n] += 100.0  # of each tree the one arc from the root has it
    scores[0, n], scores[places[1:], places[:-1]] = 100.0, 0.0
    scores -= 3.0 * np.maximum(places[:, None] - np.append(places, -1), 0)
    assert not is_tree([int(column) + 1 if column < n else 0 for column in scores.argmax(1)])
    order = random.permutation(n)
    heads = [n, *range(n - 1)]
    place = np.argsort(order)  # of each word in the chain
    found = best_tree(scores[np.ix_(place, np.append(place, n))])
    assert found == [int(order[heads[i]]) + 1 if i else 0 for i in place]


def test_of_trees_with_one_sum_any_will_do():
    assert is_tree(best_tree(np.zeros((500, 501))))
    assert best_tree(np.empty((0, 1))) == []
    assert best_tree(np.full((1, 2), -np.inf)) == [0]
