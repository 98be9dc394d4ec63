"""The costs of actions against a search through all that can follow."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.costs import costs
from tests.helpers.strategies import trees
from tests.states.brute_force import Graph, all_trees, gold_heads, legal_steps
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles import oracle
from transition_parser.transitions import TREE_SYSTEMS, Kind, RootRelations, State, TreeSystem, make_system

SWAP_SYSTEMS = [name for name, system in TREE_SYSTEMS.items() if not system.projective_only]
PROJECTIVE_SYSTEMS = [name for name, system in TREE_SYSTEMS.items() if system.projective_only]


def words(n: int) -> list[str]:
    return ["w"] * n


def check_all(name: str, n: int) -> int:
    """How many pairs of a configuration and a tree there are, all with the right costs."""
    system, pairs = make_system(name), 0
    graph = Graph(system, system.initial(words(n)))
    for tree in all_trees(n, projective=True):
        for state, expected in graph.costs(gold_heads(tree)):
            assert costs(system, state, tree) == expected, (state, tree)
            pairs += 1
    return pairs


@pytest.mark.parametrize(("name", "pairs"), [("arc-hybrid", 8866), ("arc-standard", 9009), ("arc-eager", 13442)])
def test_all_configurations_of_up_to_five_words(name, pairs):
    for n in range(1, 5):
        check_all(name, n)
    assert check_all(name, 5) == pairs


@pytest.mark.slow
@pytest.mark.parametrize("name", PROJECTIVE_SYSTEMS)
def test_all_configurations_of_six_words(name):
    check_all(name, 6)


@pytest.mark.parametrize("name", PROJECTIVE_SYSTEMS)
@given(tree=trees(max_words=9, projective=True), rng=st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_configurations_of_more_words(name, tree, rng):
    """Of long sentences the stacks have more gold arcs that exclude one another."""
    system = make_system(name)
    start = system.initial(words(len(tree)))
    for _ in range(rng.randrange(len(tree), 2 * len(tree))):
        start = rng.choice([after for _, after in legal_steps(system, start)])
    for state, expected in Graph(system, start).costs(gold_heads(tree)):
        assert costs(system, state, tree) == expected


# --- SWAP -----------------------------------------------------------------------------------


def correct(system: TreeSystem, state: State, tree: DependencyTree) -> list[State]:
    """The configurations after actions that cost nothing."""
    found = costs(system, state, tree)
    return [after for action, after in legal_steps(system, state) if not found[action.kind]]


@pytest.mark.parametrize("name", SWAP_SYSTEMS)
def test_each_correct_derivation_of_up_to_four_words_builds_the_tree(name):
    system = make_system(name)
    for tree in (tree for n in range(1, 5) for tree in all_trees(n, projective=False)):
        waiting, seen = [system.initial(words(len(tree)))], set()
        while waiting:
            state = waiting.pop()
            if state in seen:
                continue
            seen.add(state)
            if system.is_final(state):
                assert state.heads == tuple(gold_heads(tree))
            else:
                following = correct(system, state, tree)
                assert following, (state, tree)
                waiting += following


@pytest.mark.parametrize("name", SWAP_SYSTEMS)
@given(tree=trees(max_words=14), rng=st.randoms(use_true_random=False))
def test_exploration_never_runs_out_of_actions(name, tree, rng):
    """One legal action, at least, may be explored, wherever such actions have led; SWAP is one where it is free."""
    system = make_system(name)
    state = system.initial(words(len(tree)))
    while not system.is_final(state):
        found = costs(system, state, tree)
        assert min(found.values()) <= len(tree)
        assert found.get(Kind.SWAP, 0) in (0, len(tree) + 1)
        explored = [s for action, s in legal_steps(system, state) if found[action.kind] <= len(tree)]
        state = rng.choice(explored)


@pytest.mark.parametrize("name", SWAP_SYSTEMS)
@given(tree=trees(max_words=9, projective=True), rng=st.randoms(use_true_random=False))
def test_without_swaps_costs_are_those_of_the_system_without_swap(name, tree, rng):
    system, plain = make_system(name), make_system(name.removesuffix("-swap"))
    state = plain.initial(words(len(tree)))
    while not plain.is_final(state):
        found = costs(system, state, tree)
        assert found.pop(Kind.SWAP, len(tree) + 1) == len(tree) + 1
        assert found == costs(plain, state, tree)
        state = rng.choice([after for _, after in legal_steps(plain, state)])


# --- all systems ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", TREE_SYSTEMS)
@given(data=st.data())
def test_the_static_oracle_takes_actions_that_cost_nothing(name, data):
    system = make_system(name, shift_words=("w",))
    tree = data.draw(trees(max_words=14, projective=system.projective_only))
    state = system.initial(words(len(tree)))
    for action in oracle(system, state.words, tree):
        assert costs(system, state, tree)[action.kind] == 0
        state = system.apply(state, action)
    assert costs(system, state, tree) == {}


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_costs_are_those_of_kinds_whatever_the_relations(name):
    """Relations of the root, of other arcs, of both; and SHIFTs that are labelled."""
    tree, rng = DependencyTree((2, 0, 2), ("x", "root", "x")), random.Random(1)
    plain, state = make_system(name), make_system(name).initial(words(3))
    others = [
        make_system(name, ("w",), RootRelations(frozenset({"x", "root"}), frozenset({"x"}))),
        make_system(name, roots=RootRelations(frozenset({"", "xx"}), frozenset({"xx"}))),
    ]
    while not plain.is_final(state):
        found = costs(plain, state, tree)
        assert set(found) == {action.kind for action, _ in legal_steps(plain, state)}
        assert all(costs(other, state, tree) == found for other in others)
        state = rng.choice([after for _, after in legal_steps(plain, state)])
