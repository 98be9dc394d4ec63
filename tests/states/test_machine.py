"""The batched machine equals the pure-Python machine at every step."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import SAMPLE
from tests.helpers.strategies import RELATIONS, legal_actions
from tests.helpers.tables import SPECIAL, make_machine, make_table
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.kernels import loader
from transition_parser.oracles.static import oracle
from transition_parser.states.machine import DependencyMachine, max_search_actions, replay, replay_by_states
from transition_parser.states.machine import make_machine as make_search_machine
from transition_parser.states.states import FIELDS, STEPS_SINCE, DeviceTable
from transition_parser.states.table import ActionClass, ActionTable
from transition_parser.transitions import TREE_SYSTEMS, RootRelations, make_system

SEVERAL = RootRelations(frozenset({"root", "obj", "ExD"}), frozenset({"obj", "ExD"}))  # two of them at other arcs, too


def ranks(words, width: int) -> list[int]:
    row = [0] * width
    for k, word in enumerate(words, 1):
        row[word] = k
    return row


def expected_legal(table: ActionTable, state) -> list[bool]:
    system = table.system
    return [
        system.is_final(state) if token == "</s>" else action is not None and not system.why_illegal(state, action)
        for token, action in zip(table.tokens, table.actions, strict=True)
    ]


def assert_equal(machine: DependencyMachine, table: ActionTable, states) -> None:
    allowed, width = machine.legal(), machine.width
    stack, buffer = machine.stack_ranks(), machine.buffer_ranks()
    for row, state in enumerate(states):
        assert allowed[row].tolist() == expected_legal(table, state)
        assert stack[row].tolist() == ranks(state.stack[::-1], width)
        assert buffer[row].tolist() == ranks(state.buffer, width)
        assert machine.heads[row, : state.root].tolist() == list(state.heads)
        labels = [table.relations[i] or None for i in machine.relations[row, : state.root]]
        assert labels == list(state.relations)
        assert bool(machine.is_final()[row]) == table.system.is_final(state)


@pytest.mark.parametrize("name", TREE_SYSTEMS)
@pytest.mark.parametrize(("shift_words", "roots"), [((), SEVERAL), (("a", "b"), None)])
@given(lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4), seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_random_walks_with_beam_reordering(name, shift_words, roots, lengths, seed):
    rng = random.Random(seed)
    table = make_table(name, shift_words, (*RELATIONS, "ExD"), roots)
    sentences = [[rng.choice("abc") for _ in range(n)] for n in lengths]
    machine = make_machine(table, sentences)
    states = [table.system.initial(words) for words in sentences]
    for _ in range(table.system.max_actions(30)):
        assert_equal(machine, table, states)
        if all(map(table.system.is_final, states)):
            return
        tokens = []
        for row, state in enumerate(states):
            legal = [i for i, ok in enumerate(expected_legal(table, state)) if ok]
            token = rng.choice(legal)
            if rng.random() < 0.1:  # as a dead hypothesis may do: its row stays as it is
                token = rng.randrange(len(table.tokens))
            tokens.append(token)
            if token in legal and table.tokens[token] != "</s>":
                states[row] = table.system.apply(state, table.actions[token])
        machine.apply(torch.tensor(tokens))
        if rng.random() < 0.2:
            order = [rng.randrange(len(states)) for _ in states]
            machine.reorder(torch.tensor(order))
            states = [states[i] for i in order]


def fields_of(system, words, actions, relations) -> dict[str, np.ndarray]:
    """The fields of `States` of a derivation, (actions + 1, words + 1) each, read off the pure-Python machine."""
    found = {name: np.zeros((len(actions) + 1, len(words) + 1), np.int32) for name in FIELDS}
    state, last = system.initial(words), {"stack": {}, "buffer": {}}
    for step, action in enumerate((None, *actions)):
        state = state if action is None else system.apply(state, action)
        for name, items in (("stack", state.stack[::-1]), ("buffer", state.buffer)):
            last[name] |= dict.fromkeys(items, step)
            for word, left in last[name].items():
                found[f"steps_since_{name}"][step, word] = step - left
            found[name][step, list(items)] = range(1, len(items) + 1)
        for word, (head, label) in enumerate(zip(state.heads, state.relations, strict=True)):
            if label is not None:
                found["head"][step, word], found["relation"][step, word] = head - word, relations.index(label)
    return found


def check_derivations(table: ActionTable, sentences) -> None:
    """All fields of `States` of a batch of real derivations, against the pure-Python machine; step by step, as search
    sees them, and all at once, as training does."""
    system, index = table.system, {token: i for i, token in enumerate(table.tokens)}
    words = [sentence.forms for sentence in sentences]
    gold = [list(oracle(system, w, s.tree())) for w, s in zip(words, sentences, strict=True)]
    ids = [torch.tensor([*(index[str(a)] for a in actions), table.end]) for actions in gold]
    actions = torch.nn.utils.rnn.pad_sequence(ids, True, SPECIAL.index("<pad>"))
    unrolled = make_machine(table, words).unroll(actions)
    for row, (w, derivation) in enumerate(zip(words, gold, strict=True)):
        single = fields_of(system, w, derivation, table.relations)
        n, steps = len(w) + 1, len(derivation) + 1
        for name in FIELDS:
            assert np.array_equal(getattr(unrolled, name)[row, :steps, :n], single[name]), name
            assert name in STEPS_SINCE or not getattr(unrolled, name)[row, :, n:].any(), name
    last = make_machine(table, words).last_states(actions).tensors()
    assert all(torch.equal(value[:, -1:], last[name]) for name, value in unrolled.tensors().items())
    machine = make_machine(table, words)
    for step in range(actions.size(1)):
        if step:
            machine.apply(actions[:, step - 1])
        for name, value in machine.observe().tensors().items():
            assert torch.equal(value.to(getattr(unrolled, name).dtype), getattr(unrolled, name)[:, step]), name


def relations_of(sentences) -> list[str]:
    return sorted({row.deprel for sentence in sentences for row in sentence.words})


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_derivations_of_the_sample(name):
    sentences = [s for s in read_conllu(SAMPLE) if name.endswith("swap") or s.tree().is_projective()]
    check_derivations(make_table(name, ("the", "The"), relations_of(sentences)), sentences)


def test_states_by_hand():
    """SHIFT, LEFT-ARC, SHIFT, LEFT-ARC(root) over two words; the root is the third column."""
    table = make_table("arc-hybrid", (), ["root", "x"])
    tokens = [table.tokens.index(token) for token in ("SHIFT", "LEFT-ARC(x)", "SHIFT", "LEFT-ARC(root)", "</s>")]
    states = make_machine(table, ["ab"]).unroll(torch.tensor([tokens]))
    assert states.stack[0].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert states.steps_since_stack[0].tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 1, 0]]
    assert states.buffer[0].tolist() == [[1, 2, 3], [0, 1, 2], [0, 1, 2], [0, 0, 1], [0, 0, 1]]
    assert states.steps_since_buffer[0].tolist() == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 1, 0], [4, 2, 0]]
    assert states.head[0].tolist()[2:] == [[1, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert states.relation[0, -1].tolist() == [table.relations.index("x"), table.relations.index("root"), 0]


def test_what_is_not_needed_is_not_made():
    table = make_table("arc-hybrid")
    machine = make_machine(table, ["abc"], needs=("stack",))
    assert set(machine.observe().tensors()) == {"columns", "stack"}
    assert machine.heads is None
    with pytest.raises(ValueError, match="without `head` and `relation`"):
        machine.tree()


def test_fields_follow_beams():
    """Rows that are copied and dropped take what has left their stack and buffer along."""
    table = make_table("arc-hybrid-swap")
    torch.manual_seed(1)
    machines = [make_machine(table, ["abcd"] * 3) for _ in range(2)]
    for step in range(6):
        tokens = machines[0].legal().float().multinomial(1)[:, 0]
        order = torch.randint(0, 3, (3,))
        for machine in machines:
            machine.apply(tokens)
        machines[0].reorder(order)
        for name, value in machines[1].observe().tensors().items():
            assert torch.equal(getattr(machines[0].observe(), name), value[order]), (step, name)
        machines[1].reorder(order)


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_search_ends_within_its_bound(name):
    """Walks that prefer SWAP take no more actions than `max_search_actions` says."""
    table, n = make_table(name), 9
    machine = make_search_machine(DeviceTable(table), torch.tensor([n]), in_search=True)
    torch.manual_seed(1)
    weight = torch.tensor([20.0 if token == "SWAP" else 1.0 for token in table.tokens])
    for _ in range(max_search_actions(table.system, n)):
        if not machine.is_final()[0]:
            machine.apply((machine.legality() * weight).multinomial(1)[:, 0])
    assert machine.is_final()[0]


def test_a_vocabulary_without_a_needed_kind_is_an_error():
    with pytest.raises(InputError, match="no RIGHT_ARC for arc-hybrid"):
        ActionTable(make_system("arc-hybrid"), [*SPECIAL, "SHIFT", "LEFT-ARC(root)", "LEFT-ARC(x)"])
    with pytest.raises(InputError, match="no LEFT_ARC_ROOT for arc-hybrid"):
        ActionTable(make_system("arc-hybrid"), [*SPECIAL, "SHIFT", "LEFT-ARC(x)", "RIGHT-ARC(x)"])


def test_tokens_of_arcs_that_no_state_allows_are_never_legal():
    """A vocabulary may have them from elsewhere: arcs without a relation, or to the right with the root's."""
    table = make_table("arc-hybrid", relations=("x", "root"))
    odd = ActionTable(table.system, [*table.tokens, "RIGHT-ARC(root)", "LEFT-ARC", "RIGHT-ARC"])
    assert odd.column[-3:].tolist() == [ActionClass.NEVER] * 3


def test_one_relation_may_serve_all_arcs():
    """Each arc is `dep` in some treebanks: no LEFT-ARC is then for the root, or for other heads, alone."""
    table = make_table("arc-hybrid", relations=("dep",), roots=RootRelations(frozenset({"dep"}), frozenset({"dep"})))
    machine = make_machine(table, [["a", "b"]])
    for token in ("SHIFT", "SHIFT", "RIGHT-ARC(dep)", "LEFT-ARC(dep)"):
        machine.apply(torch.tensor([table.tokens.index(token)]))
    assert bool(machine.is_final())


# --- replay -----------------------------------------------------------------------------------------

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
@settings(max_examples=15)
@given(rng=st.randoms(use_true_random=False), n=st.integers(1, 9), labeled=st.booleans(), several=st.booleans())
def test_any_derivation_builds_the_same_and_is_as_sure(name, rng, n, labeled, several):
    table = make_table(name, ("a", "b") if labeled else (), roots=SEVERAL if several else None)
    words = [rng.choice("abc") for _ in range(n)]
    tokens = walk(table, words, rng)
    log_probs = [-rng.random() for _ in tokens]
    tree, sums = replay(table, words, tokens, log_probs)
    expected, exact = replay_by_states(table, words, tokens, log_probs)
    assert tree == expected and list(sums) == exact  # the same numbers to the last bit


@pytest.mark.slow
@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_long_random_walks(name):
    for seed in range(50):
        lengths = random.Random(seed).sample(range(8, 25), 8)
        test_random_walks_with_beam_reordering.hypothesis.inner_test(name, (), SEVERAL, lengths, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arc-hybrid-swap", "arc-standard-swap"])
def test_derivations_of_a_treebank(name, corpora):
    sentences = list(read_conllu(corpora / "ud" / "UD_Hungarian-Szeged" / "dev.conllu"))
    roots = RootRelations.from_trees(sentence.tree() for sentence in sentences)
    check_derivations(make_table(name, (), relations_of(sentences), roots), sentences)
