"""The kernel that replays derivations equals the pure-Python machine."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.states.test_machine import SEVERAL, make_table
from tests.strategies import legal_actions
from transition_parser.kernels import loader, trees
from transition_parser.states.machine import replay, replay_by_states
from transition_parser.transitions import TREE_SYSTEMS

needs_kernels = pytest.mark.skipif(loader.library() is None, reason="there are no kernels here")


def walk(table, words, rng) -> list[int]:
    """Return the tokens of a random derivation."""
    system, ids = table.system, {action: i for i, action in enumerate(table.actions) if action}
    state, tokens = system.initial(words), []
    while not system.is_final(state):
        action = rng.choice(legal_actions(system, state, list(ids)))
        tokens.append(ids[action])
        state = system.apply(state, action)
    return tokens


@needs_kernels
@pytest.mark.parametrize("name", TREE_SYSTEMS)
@settings(max_examples=30, deadline=None)
@given(rng=st.randoms(use_true_random=False), n=st.integers(1, 9), labelled=st.booleans(), several=st.booleans())
def test_any_derivation_builds_the_same_and_is_as_sure(name, rng, n, labelled, several):
    table = make_table(name, ("a", "b") if labelled else (), roots=SEVERAL if several else None)
    words = [rng.choice("abc") for _ in range(n)]
    tokens = walk(table, words, rng)
    log_probs = [-rng.random() for _ in tokens]
    tree, sums = replay(table, words, tokens, log_probs)
    expected, exact = replay_by_states(table, words, tokens, log_probs)
    assert tree == expected and list(sums) == exact  # the same numbers to the last bit


@needs_kernels
def test_the_kernel_replays_the_systems_of_the_models(monkeypatch):
    """All but arc-eager, whose legality depends on arcs."""
    taken = []
    kernel = trees.replay_derivation
    monkeypatch.setattr(trees, "replay_derivation", lambda *given: taken.append(1) or kernel(*given))
    for name in TREE_SYSTEMS:
        table = make_table(name)
        shift, arc = (table.tokens.index(token) for token in ("SHIFT", "LEFT-ARC(root)"))
        tokens = [shift, shift, arc] if name.startswith("arc-standard") else [shift, arc]
        tree, _ = replay(table, ["a"], tokens, [0.0] * len(tokens))
        assert tree.heads == (0,) and tree.relations == ("root",)
    assert len(taken) == len(TREE_SYSTEMS) - 1


def test_what_is_no_action_is_an_error(monkeypatch):
    monkeypatch.setattr(loader, "library", lambda: None)
    table = make_table("arc-hybrid")
    with pytest.raises(ValueError, match="madeupword0000 is not an action"):
        replay(table, ["a"], [len(table.tokens) - 1], [0.0])
