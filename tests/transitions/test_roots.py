"""Root relations as treebanks have them: several, and some of them on other arcs, too."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import legal_actions, trees
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import oracle
from transition_parser.transitions import SYSTEMS, TREE_SYSTEMS, Action, Kind, make_system
from transition_parser.transitions.tree_system import RootRelations

# The Prague treebank's way: a predicate or an ellipsis (ExD) at the root, and ellipses elsewhere, too.
PRAGUE = (
    DependencyTree((2, 0, 2), ("Sb", "Pred", "Obj")),
    DependencyTree((2, 0, 2), ("Sb", "ExD", "ExD")),
    DependencyTree((0,), ("ExD",)),
)


def test_they_are_learned_from_trees():
    roots = RootRelations.from_trees(PRAGUE)
    assert roots == RootRelations(frozenset({"Pred", "ExD"}), frozenset({"ExD"}))
    assert [roots.allow(label, from_root=True) for label in ("Pred", "ExD", "Sb")] == [True, True, False]
    assert [roots.allow(label, from_root=False) for label in ("Pred", "ExD", "Sb")] == [False, True, True]


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_trees_with_other_root_relations_come_back(name):
    system = make_system(name, roots=RootRelations.from_trees(PRAGUE))
    for tree in PRAGUE:
        words = ["w"] * len(tree)
        assert system.replay(words, list(oracle(system, words, tree))) == tree


LABELS = st.lists(st.sampled_from("abcd"), min_size=1, unique=True)


@pytest.mark.parametrize("name", TREE_SYSTEMS)
@given(data=st.data(), roots=LABELS, others=LABELS)
def test_any_labels_come_back(name, data, roots, others):
    kind = trees(max_words=8, projective=SYSTEMS[name].projective_only, roots=roots, others=others)
    bank = data.draw(st.lists(kind, min_size=1, max_size=3))
    system = make_system(name, roots=RootRelations.from_trees(bank))
    for tree in bank:
        words = ["w"] * len(tree)
        assert system.replay(words, list(oracle(system, words, tree))) == tree


@pytest.mark.parametrize("name", TREE_SYSTEMS)
@given(n=st.integers(1, 8), seed=st.integers(0, 2**32), roots=LABELS, shared=LABELS)
def test_random_walks_keep_to_them(name, n, seed, roots, shared):
    """Other arcs carry `x`, or what both carry."""
    rng = random.Random(seed)
    system = make_system(name, roots=RootRelations(frozenset(roots), frozenset(roots) & frozenset(shared)))
    actions = list(system.actions(["x", *roots]))
    state = system.initial(["w"] * n)
    while not system.is_final(state):
        state = system.apply(state, rng.choice(legal_actions(system, state, actions)))
    for head, relation in zip(*(system.result(state).heads, system.result(state).relations), strict=True):
        assert relation in (system.roots.shared | {"x"} if head else system.roots.labels)


def test_actions_leave_out_what_is_never_legal():
    system = make_system("arc-hybrid", roots=RootRelations.from_trees(PRAGUE))
    tokens = set(map(str, system.actions(["Sb", "Pred", "ExD"])))
    assert {"LEFT-ARC(Sb)", "LEFT-ARC(Pred)", "LEFT-ARC(ExD)", "RIGHT-ARC(Sb)", "RIGHT-ARC(ExD)"} <= tokens
    assert "RIGHT-ARC(Pred)" not in tokens


def test_an_illegal_relation_says_what_is_legal():
    system = make_system("arc-hybrid", roots=RootRelations.from_trees(PRAGUE))
    state = system.initial(["w"])
    state = system.apply(state, Action(Kind.SHIFT))
    assert "carries the relation 'ExD' or 'Pred'" in system.why_illegal(state, Action(Kind.LEFT_ARC, "Sb"))
    inner = system.apply(system.initial(["v", "w"]), Action(Kind.SHIFT))
    assert "only an arc from the root carries the relation 'Pred'" in system.why_illegal(
        inner, Action(Kind.LEFT_ARC, "Pred")
    )
