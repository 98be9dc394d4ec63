"""The batched AMR machine equals the pure-Python one at every step."""

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amr_walks import ACTIONS, FORMS, LEXICON
from tests.states.test_machine import SPECIAL
from transition_parser.graphs.bank import parse_entry
from transition_parser.models.stack_transformer.state_masks import StateHeads
from transition_parser.states.device_table import DeviceTable
from transition_parser.states.machine import machine_class, make_machine
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr_state import AmrState


def make_table(shift_words=(), lexicon=None) -> ActionTable:
    system = make_system("amr", shift_words=shift_words, lexicon=lexicon)
    shifts = [f"SHIFT({word})" for word in shift_words]
    return ActionTable(system, [*SPECIAL, *map(str, ACTIONS), *shifts, "madeupword0000"])


def machine_of(table: ActionTable, sentences):
    features = torch.nn.utils.rnn.pad_sequence([torch.tensor(table.features(words)) for words in sentences], True)
    return make_machine(DeviceTable.of(table), torch.tensor([len(words) for words in sentences]), features)


def stack_places(state: AmrState, width: int) -> list[int]:
    row = [0] * width
    for place, node in enumerate(state.stack[::-1], 2):
        word = state.nodes[node].last
        row[word] = row[word] or place
    for word in range(state.first, state.position):
        row[word] = 1
    return row


def buffer_places(state: AmrState, width: int) -> list[int]:
    n = len(state.words)
    row = [max(i - state.position + 1, 0) if i <= n else 0 for i in range(width)]
    for node in state.aside:
        row[state.nodes[node].last] = n - state.position + 2
    return row


def expected_legal(table: ActionTable, state: AmrState) -> list[bool]:
    system = table.system
    return [
        system.is_final(state)
        if token == table.end
        else action is not None and system.why_illegal(state, action) is None
        for token, action in enumerate(table.actions)
    ]


def assert_equal(machine, table: ActionTable, states) -> None:
    stack, buffer, legal = machine.stack_ranks(), machine.buffer_ranks(), machine.legal()
    for row, state in enumerate(states):
        assert legal[row].tolist() == expected_legal(table, state), state
        if not state.closed:
            assert stack[row].tolist() == stack_places(state, machine.width), state
            assert buffer[row].tolist() == buffer_places(state, machine.width), state
        final = table.system.is_final(state)
        assert bool(machine.is_final()[row]) == final
        allowed = [a for a, ok in zip(table.actions, expected_legal(table, state), strict=True) if ok and a is not None]
        ends = any(table.system.is_final(table.system.apply(state, action)) for action in allowed)
        assert bool(machine.closing()[row]) == (final or ends)


@pytest.mark.parametrize("shift_words", [(), ("a", "New")])
@pytest.mark.parametrize("lexicon", [None, LEXICON])
@given(
    sentences=st.lists(st.lists(st.sampled_from(FORMS), min_size=1, max_size=6), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=25)
def test_random_walks_with_beam_reordering(shift_words, lexicon, sentences, seed):
    rng = random.Random(seed)
    table = make_table(shift_words, lexicon)
    machine = machine_of(table, sentences)
    states = [table.system.initial(table.system.read(words)) for words in sentences]
    for _ in range(300):
        assert_equal(machine, table, states)
        if all(map(table.system.is_final, states)):
            return
        tokens = []
        for row, state in enumerate(states):
            legal = [i for i, ok in enumerate(expected_legal(table, state)) if ok]
            token = rng.choice(legal)
            tokens.append(token)
            if token != table.end:
                states[row] = table.system.apply(state, table.actions[token])
        machine.advance(torch.tensor(tokens))
        if rng.random() < 0.2:
            order = [rng.randrange(len(states)) for _ in states]
            machine.reorder(torch.tensor(order))
            states = [states[i] for i in order]


def test_an_illegal_token_leaves_its_row_as_it_is():
    table = make_table()
    machine = machine_of(table, [["a", "b"]])
    before = machine.legal().clone()
    machine.advance(torch.tensor([table.tokens.index("CLOSE")]))
    assert torch.equal(machine.legal(), before) and machine.stack_ranks().sum() == 0


def test_the_window_of_two_shows_the_current_span_and_the_top_two_nodes():
    """Nodes of the words 1, 2 and 4; the words 5 and 6 are the current span, and 7 is in front."""
    table = make_table()
    machine = machine_of(table, [["a", "b", "dogs", "b", "dogs", "b", "a", "b", "b", "b"]])
    shift, make, merge = "SHIFT", "PRED(dog)", "MERGE"
    for token in (shift, shift, make, shift, make, shift, shift, make, shift, merge):
        machine.advance(torch.tensor([table.tokens.index(token)]))

    def shown(window: str) -> list[list[int]]:
        heads = StateHeads(1, 1, window, top_ranks=machine_class("amr").top_ranks)
        return heads.ranks(machine.stack_ranks()[:, None], machine.buffer_ranks()[:, None])[0, :, 0].tolist()

    assert shown("all") == [[0, 4, 3, 0, 2, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 2, 3, 4]]
    assert shown("top2") == [[0, 0, 3, 0, 2, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 2, 0, 0]]
    machine.advance(torch.tensor([table.tokens.index(make)]))  # the newest node is of the current span
    assert shown("top2") == [[0, 0, 0, 0, 3, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 2, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("lexicon", [None, LEXICON])
def test_long_random_walks(lexicon):
    """100,000 legal actions in batches, each result one connected graph that penman reads, the bound kept."""
    torch.manual_seed(1)
    rng = random.Random(1)
    table, taken = make_table(lexicon=lexicon), 0
    system = table.system
    while taken < 100_000:
        sentences = [[rng.choice(FORMS) for _ in range(rng.randrange(1, 20))] for _ in range(128)]
        machine = machine_of(table, sentences)
        states = [system.initial(system.read(words)) for words in sentences]
        for _ in range(system.max_actions(19) + 1):
            final = machine.is_final()
            if final.all():
                break
            legal = machine.legal().float()
            assert (legal.sum(1) > 0).all()
            tokens = legal.multinomial(1)[:, 0]
            machine.advance(tokens)
            taken += int((~final).sum())
            for row in (~final).nonzero()[:, 0].tolist():
                states[row] = system.apply(states[row], table.actions[int(tokens[row])])
        assert machine.is_final().all()
        for state in states:
            graph = system.result(state)
            assert graph.is_connected()
            back = parse_entry(graph.to_penman().split("\n")).graph
            assert len(back) == len(graph) and len(back.edges) == len(graph.edges)


def test_a_span_that_training_has_not_seen_falls_back_to_copies():
    table = make_table(lexicon=LEXICON)
    machine = machine_of(table, [["b", "dogs"]])
    machine.advance(torch.tensor([table.tokens.index("SHIFT")]))
    legal = {token for token, ok in zip(table.tokens, machine.legal()[0].tolist(), strict=True) if ok}
    assert "COPY_LEMMA" in legal and "ENTITY(city)" in legal
    assert not any(token.startswith(("PRED", "VALUE")) for token in legal)
    machine.advance(torch.tensor([table.tokens.index("SHIFT")]))
    assert machine.legal()[0, table.tokens.index("PRED(dog)")] and Action.parse("PRED(dog)") in LEXICON["dog"]
