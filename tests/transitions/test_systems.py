"""The systems of dependency trees: derivations by hand, random walks, root relations; names of actions."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.strategies import RELATIONS, legal_actions, trees
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import oracle
from transition_parser.preprocess.dependency import once_in
from transition_parser.storage.cards import PRETRAINED
from transition_parser.transitions import SYSTEMS, TREE_SYSTEMS, Action, Kind, make_system
from transition_parser.transitions.config import ParserConfig
from transition_parser.transitions.tree_system import RootRelations

SHIFT, REDUCE, SWAP = Action(Kind.SHIFT), Action(Kind.REDUCE), Action(Kind.SWAP)


def left(relation: str) -> Action:
    return Action(Kind.LEFT_ARC, relation)


def right(relation: str) -> Action:
    return Action(Kind.RIGHT_ARC, relation)


def test_swap_puts_words_in_another_order():
    """Word 1 hangs from word 3, and word 3 from word 2, the root: the arcs cross."""
    hybrid = make_system("arc-hybrid-swap")
    actions = [SHIFT, SWAP, SHIFT, SHIFT, left("x"), SHIFT, right("x"), left("root")]
    assert hybrid.replay("abc", actions).heads == (3, 0, 2)
    standard = make_system("arc-standard-swap")
    state = standard.initial("ab")
    for action in (SHIFT, SHIFT, SWAP):
        state = standard.apply(state, action)
    assert state.stack == (1,) and state.buffer == (0, 2)


@pytest.mark.parametrize("name", sorted(TREE_SYSTEMS))
@given(st.integers(1, 5), st.integers(0, 2**32))
def test_what_an_arc_attaches_was_to_be_decided(name, words, seed):
    """In each state of any walk; a word that has its head is decided about no more."""
    system, rng = make_system(name), random.Random(seed)
    actions = list(system.actions(RELATIONS))
    state = system.initial(["w"] * words)
    while not system.is_final(state):
        due = system.may_attach(state)
        assert len(set(due)) == len(due) <= 2
        assert all(0 <= word < words and state.heads[word] < 0 for word in due)
        legal = legal_actions(system, state, actions)
        for action in legal:
            after = system.apply(state, action)
            attached = [word for word in range(words) if state.heads[word] != after.heads[word]]
            assert set(attached) <= set(due)
        state = system.apply(state, rng.choice(legal))


@pytest.mark.parametrize(
    ("name", "before", "action", "reason"),
    [
        ("arc-hybrid", [], left("x"), "stack is empty"),
        ("arc-hybrid", [SHIFT], right("x"), "fewer than two"),
        ("arc-hybrid", [SHIFT], left("root"), "only an arc from the root"),
        ("arc-hybrid", [SHIFT, SHIFT], SHIFT, "only the root is left"),
        ("arc-hybrid", [SHIFT, SHIFT], left("root"), "the root takes one word"),
        ("arc-hybrid", [SHIFT, left("x"), SHIFT], left("x"), "carries the relation 'root'"),
        ("arc-hybrid", [SHIFT], Action(Kind.LEFT_ARC), "needs a relation"),
        ("arc-hybrid", [SHIFT], SWAP, "has no SWAP"),
        ("arc-hybrid", [], Action(Kind.SHIFT, "zzz"), "asks for SHIFT"),
        ("arc-hybrid-swap", [SHIFT, SWAP, SHIFT], SWAP, "swapped before"),
        ("arc-hybrid-swap", [SHIFT, SHIFT], SWAP, "the root stays"),
        ("arc-hybrid-swap", [], SWAP, "stack is empty"),
        ("arc-standard", [SHIFT, SHIFT], SHIFT, "the root takes one word"),
        ("arc-standard", [SHIFT], left("x"), "fewer than two"),
        ("arc-standard", [SHIFT, SHIFT, left("x"), SHIFT], right("x"), "the root has no head"),
        ("arc-standard", [SHIFT, SHIFT, left("x"), SHIFT, left("root")], SHIFT, "buffer is empty"),
        ("arc-standard-swap", [SHIFT, SHIFT, left("x"), SHIFT], SWAP, "the root stays"),
        ("arc-standard-swap", [SHIFT, SHIFT, SWAP, SHIFT], SWAP, "swapped before"),
        ("arc-eager", [SHIFT], REDUCE, "has no head"),
        ("arc-eager", [SHIFT, right("x")], left("root"), "has a head"),
        ("arc-eager", [SHIFT], SHIFT, "second root"),
        ("arc-eager", [SHIFT, right("x")], SHIFT, "only the root is left"),
    ],
)  # fmt: skip
def test_an_illegal_action_says_why(name, before, action, reason):
    system = make_system(name)
    state = system.initial(["a", "b"])
    for step in before:
        assert system.why_illegal(state, step) is None
        state = system.apply(state, step)
    assert reason in system.why_illegal(state, action)


LABELS = st.lists(st.sampled_from("abcd"), min_size=1, unique=True)


@pytest.mark.parametrize("name", TREE_SYSTEMS)
@given(n=st.integers(1, 12), seed=st.integers(0, 2**32), roots=LABELS, shared=LABELS)
def test_random_walks_end_in_trees(name, n, seed, roots, shared):
    """Arcs from the root carry `roots`, other arcs `x`, or what both may carry."""
    walk(name, n, random.Random(seed), RootRelations(frozenset(roots), frozenset(roots) & frozenset(shared)))


def walk(name: str, n: int, rng: random.Random, roots: RootRelations | None = None) -> int:
    """A random walk; returns its length."""
    system = make_system(name, shift_words=("a",), roots=roots)
    actions = list(system.actions(["x", *sorted(system.roots.labels)]))
    state = start = system.initial([rng.choice("ab") for _ in range(n)])
    taken = []
    while not system.is_final(state):
        legal = legal_actions(system, state, actions)
        assert legal, f"dead end: {state}"
        before = state
        taken.append(rng.choice(legal))
        state = system.apply(state, taken[-1])
        assert before != state
        assert len(taken) <= system.max_actions(n)
    assert not legal_actions(system, state, actions)
    tree = system.result(state)
    assert tree.why_invalid() is None
    for head, relation in zip(tree.heads, tree.relations, strict=True):
        assert relation in (system.roots.shared | {"x"} if head else system.roots.labels)
    assert system.replay(start.words, taken) == tree
    return len(taken)


def test_names_and_sentences_are_checked():
    with pytest.raises(InputError, match="choose from"):
        make_system("arc-bold")
    with pytest.raises(ValueError, match="at least one word"):
        make_system("arc-hybrid").initial([])
    with pytest.raises(ValueError, match="before its end"):
        make_system("arc-hybrid").replay(["a"], [SHIFT])
    with pytest.raises(ValueError, match="step 0: LEFT-ARC"):
        make_system("arc-hybrid").replay(["a"], [left("root")])


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
@given(data=st.data(), roots=LABELS, others=LABELS)
def test_any_labels_come_back(name, data, roots, others):
    kind = trees(max_words=8, projective=SYSTEMS[name].projective_only, roots=roots, others=others)
    bank = data.draw(st.lists(kind, min_size=1, max_size=3))
    system = make_system(name, roots=RootRelations.from_trees(bank))
    for tree in bank:
        words = ["w"] * len(tree)
        assert system.replay(words, list(oracle(system, words, tree))) == tree


def test_actions_leave_out_what_is_never_legal():
    system = make_system("arc-hybrid", roots=RootRelations.from_trees(PRAGUE))
    tokens = set(map(str, system.actions(["Sb", "Pred", "ExD"])))
    assert {"LEFT-ARC(Sb)", "LEFT-ARC(Pred)", "LEFT-ARC(ExD)", "RIGHT-ARC(Sb)", "RIGHT-ARC(ExD)"} <= tokens
    assert "RIGHT-ARC(Pred)" not in tokens


labels = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))


@given(st.sampled_from(Kind), labels)
def test_tokens_are_exact(kind, label):
    action = Action(kind, label)
    assert Action.parse(str(action)) == action and str(action).split() == [str(action)]  # one word of a line


@pytest.mark.parametrize("token", ["<pad>", "</s>", "LEFT-ARC(", "left-arc", "JUMP", "", "SHIFT(a)b"])
def test_other_tokens_are_no_actions(token):
    with pytest.raises(ValueError):
        Action.parse(token)


def test_groups_of_relations_that_a_head_has_at_most_once():
    """Subjects are one group; a relation counts by itself where enough heads have it, and none several times."""
    clause = DependencyTree((2, 0, 2, 2, 2), ("nsubj", "root", "obj", "obl", "obl"))
    other = DependencyTree((2, 0, 2), ("csubj", "root", "obj"))
    assert once_in([clause, other] * 10) == (("csubj", "csubj:pass", "nsubj", "nsubj:pass"), ("obj",))
    assert once_in([clause, other] * 9) == ()
    assert once_in([clause] * 20 + [DependencyTree((2, 0, 2), ("nsubj", "root", "csubj"))]) == (("nsubj",), ("obj",))


def test_models_of_the_package_have_the_groups_of_their_treebank(corpora):
    once = once_in(sentence.tree() for sentence in read_conllu(corpora / "ud" / "UD_English-EWT" / "train.conllu"))
    for name in ("en-ewt", "en-ewt-minilm", "en-fast"):
        assert ParserConfig.load(PRETRAINED / name).once == once


@pytest.mark.slow
@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_long_random_walks(name):
    rng, steps = random.Random(1), 0
    while steps < 100_000:
        steps += walk(name, rng.randint(1, 40), rng)
