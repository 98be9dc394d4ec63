"""The derivations of whole trees. `tests/models/test_spa_dp.py` tests that they build their trees."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import RELATIONS, trees
from transition_parser.kernels import machine_kernels
from transition_parser.modules.tree_derivations import Derivations, ScoredTree
from transition_parser.states.table import ActionTable
from transition_parser.transitions import RootRelations, make_system

pytestmark = pytest.mark.skipif(machine_kernels.library() is None, reason="there are no kernels here")


@cache
def derivations(labelled: bool) -> Derivations:
    words = ("a", "c") if labelled else ()
    system = make_system("arc-hybrid-swap", words, roots=RootRelations(frozenset({"root"})))
    actions = map(str, system.actions(list(RELATIONS)))
    return Derivations(ActionTable(system, ["<s>", "<pad>", "</s>", "<unk>", *actions]))


@settings(max_examples=300)
@given(trees(max_words=30) | trees(max_words=30, projective=True), st.booleans(), st.data())
def test_the_kernel_finds_the_derivations_of_the_oracle(tree, labelled, data):
    derive, n = derivations(labelled), len(tree)
    relations = [derive.table.relations.index(relation) for relation in tree.relations]
    shift_ids = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)) if labelled else None
    scored = ScoredTree(tree.heads, relations, [-0.1 * (i + 1) for i in range(n)])
    assert derive.from_tree(scored, shift_ids) == derive.by_oracle(scored, shift_ids)


def test_without_kernels_the_oracle_is_asked(monkeypatch):
    derive = derivations(False)
    tree = ScoredTree([3, 0, 2], [1, 4, 1], [-1.0, -2.0, -3.0])
    expected = derive.from_tree(tree)
    monkeypatch.setattr(machine_kernels, "library", lambda: None)
    assert derive.from_tree(tree) == expected
