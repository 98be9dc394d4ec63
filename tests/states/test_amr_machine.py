"""The batched AMR machine equals the pure-Python one at every step."""

import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import without_kernels
from tests.helpers.amr_walks import ACTIONS, EVOKING, FORMS, FRAMES, LEXICON, NAMED
from tests.helpers.search_limits import Made, expected_legality, last_arc, why_beyond
from tests.helpers.tables import SPECIAL
from transition_parser.graphs.amr import AmrGraph, edge_of
from transition_parser.models.stack_transformer import StateHeads
from transition_parser.states.machine import machine_class, make_machine, max_search_actions
from transition_parser.states.states import FRAMES as FRAMES_ON_TOP
from transition_parser.states.states import RANKS, DeviceTable
from transition_parser.states.table import FIRST_ROW, FIRST_SPAN, LEMMA, ActionTable
from transition_parser.text.frames import role_functions
from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_limits import CONCEPT_SORTS, SearchLimits, Sort
from transition_parser.transitions.amr_state import MAKE_NODES, AmrState, is_listed, key

ONCE = frozenset({"ARG0", "name", "op1", "polarity"})
LIMITS = SearchLimits(ONCE, nodes=1, swaps=-2, span=3)
OF_SORTS = replace(
    LIMITS,
    nodes=4,
    targets={"op": frozenset({Sort.CONCEPT, Sort.NUMBER}), "mod": frozenset({Sort.STRING, *CONCEPT_SORTS})},
)
MORE = (
    *("PRED(multi-sentence)", "PRED(name)", "PRED(want-01)", "VALUE(+)", "LA(snt1)", "RA(snt1)"),
    *("RA(op1-of)", "LA(name)", "RA(name)"),
)
INVERSE = ("LA(ARG0-of)", "RA(ARG0-of)", "LA(domain)", "DEPENDENT(ARG0,x)", "DEPENDENT(ARG0-of,see-01)")


def make_table(shift_words=(), lexicon=None, limits=None, more=()) -> ActionTable:
    """By default all words may have all names of nodes."""
    tokens = [*SPECIAL, *map(str, ACTIONS), *more, *(f"SHIFT({word})" for word in shift_words), "madeupword0000"]
    if lexicon is None:
        listed = [token for token in (*NAMED, *more) if is_listed(Action.parse(token))]
        lexicon = dict.fromkeys(map(key, zip(AmrSystem().read([*FORMS, *EVOKING, "x"]))), listed)
    return ActionTable(
        make_system("amr", shift_words=shift_words, lexicon=lexicon, limits=limits, frames=FRAMES), tokens
    )


def machine_of(table: ActionTable, sentences, in_search=False, needs=()):
    features = torch.nn.utils.rnn.pad_sequence([torch.tensor(table.features(words)) for words in sentences], True)
    lengths = torch.tensor([len(words) for words in sentences])
    return make_machine(DeviceTable(table), lengths, features, needs, in_search)


def test_search_copies_no_lemmas_of_unknown_names():
    table = make_table(lexicon={"dog": ()})
    words = "We saw Dog , Nestle and the Dog Museum before".split()
    usual, found = table.features(words), table.features(words, in_search=True)
    changed = [place for place in range(len(words)) if usual[place] != found[place]]
    assert changed == [4, 7, 8] and not any(found[place][LEMMA] for place in changed)
    assert all(found[place][FIRST_SPAN] == FIRST_ROW for place in changed)
    assert table.lexicon[FIRST_ROW].size == 0


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


def frames_on_top(state: AmrState) -> list[int]:
    """The classes of the frames of the node on top and of the second node."""
    found = []
    for place in (1, 2):
        node = state.nodes[state.stack[-place]] if len(state.stack) >= place else None
        by_word = node and node.first == node.last and node.label.rpartition("-")[0] in FRAMES.rolesets
        by_name = node is not None and node.label == "want-01"
        found.append(role_functions().classes.get(node.label, 0) if by_word or by_name else 0)
    return found


def assert_equal(machine, table: ActionTable, states, made=None) -> list[list[int]]:
    """The legal actions of each state."""
    expected = [expected_legality(table, state, made and made[row]) for row, state in enumerate(states)]
    stack, buffer, legality = machine.stack_ranks(), machine.buffer_ranks(), machine.legality()
    for row, state in enumerate(states):
        assert legality[row].tolist() == expected[row], state
        if not state.closed:
            assert stack[row].tolist() == stack_places(state, machine.width), state
            assert buffer[row].tolist() == buffer_places(state, machine.width), state
            if machine.needs:
                assert machine.frames()[row].tolist() == frames_on_top(state), state
        assert bool(machine.is_final()[row]) == table.system.is_final(state)
    return expected


def sentences_of(forms) -> st.SearchStrategy:
    return st.lists(st.lists(st.sampled_from(forms), min_size=1, max_size=6), min_size=1, max_size=6)


LIMITED = ((LIMITS, LEXICON), (OF_SORTS, None), (OF_SORTS, LEXICON))
WALKS = [
    (FORMS, {"lexicon": LEXICON}),
    (FORMS, {"shift_words": ("a", "New")}),
    (EVOKING, {"shift_words": ("a", "New"), "lexicon": LEXICON}),
    *((FORMS, {"limits": limits, "lexicon": lexicon}) for limits, lexicon in LIMITED),
]


@pytest.mark.parametrize(("forms", "options"), WALKS)
@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=8)
def test_random_walks(forms, options, data, seed):
    walk(data.draw(sentences_of(forms)), random.Random(seed), **options)


def walk(sentences, rng, lexicon=None, shift_words=(), limits=None) -> None:
    """Take random actions in all sentences, and reorder them sometimes, as beams do.

    limits: of search. Nodes are then preferred, so that walks run into the limits; each ends within the bound.
    """
    table = make_table(shift_words, lexicon, limits, (*INVERSE, *MORE) if limits else ())
    system = table.system
    machine = machine_of(table, sentences, limits is not None, (FRAMES_ON_TOP,) if limits else ())
    states = [system.initial(system.read(words)) for words in sentences]
    states = [limited(system, state) for state in states] if limits else states
    mades, taken = [Made([], [], []) for _ in states], [[] for _ in states]
    for _ in range(max_search_actions(system, max(map(len, sentences))) + 1 if limits else 300):
        expected = assert_equal(machine, table, states, mades if limits else None)
        if all(map(system.is_final, states)):
            break
        tokens = []
        for row, state in enumerate(states):
            legal = [i for i, ok in enumerate(expected[row]) if ok > 0]
            token = prefer_nodes(rng, table, legal) if limits else rng.choice(legal)
            tokens.append(token)
            if token != table.end:
                action = table.actions[token]
                states[row] = system.apply(state, action)
                taken[row] = [*taken[row], action]
                if limits:
                    mades[row] = mades[row].then(system, states[row], action)
        machine.apply(torch.tensor(tokens))
        if rng.random() < 0.2:
            order = [rng.randrange(len(states)) for _ in states]
            machine.reorder(torch.tensor(order))
            states, mades, taken = ([items[i] for i in order] for items in (states, mades, taken))
    if limits:
        assert all(map(system.is_final, states))
        check_limits(table, states, taken)


def check_limits(table: ActionTable, states: list[AmrState], taken: list[list[Action]]) -> None:
    """Walks that have ended keep to the bound and to the limits."""
    limits, system = table.system.limits, table.system
    for state, actions in zip(states, taken, strict=True):
        assert len(actions) <= max_search_actions(system, len(state.words))
        # without limits the first concept may come when no word is left
        beyond = why_beyond(limits, actions, state.words, last_arc(table))
        assert beyond is None or "from one span" in beyond
        assert not doubled(system.result(state)) & limits.once


def doubled(graph: AmrGraph) -> set[str]:
    """The roles that a node has twice."""
    borne = Counter(edge_of(*edge)[:2] for edge in graph.edges)
    return {role for (_node, role), count in borne.items() if count > 1}


def legal_tokens(machine, table: ActionTable) -> set[str]:
    return {token for token, ok in zip(table.tokens, machine.legal()[0].tolist(), strict=True) if ok}


@pytest.mark.parametrize("in_search", [False, True])
def test_in_search_a_node_gets_a_role_once(in_search):
    """Whichever action gives it, of whichever neighbor; in training nothing is forbidden."""
    table = make_table((), None, replace(LIMITS, nodes=9), (*INVERSE, "PRED(want-01)", "PRED(see-01)"))
    of_top = {"LA(ARG0)", "RA(ARG0-of)", "DEPENDENT(ARG0,x)"}
    of_second = {"RA(ARG0)", "LA(ARG0-of)"}
    others = {"LA(mod)", "LA(domain)", "RA(mod)", "DEPENDENT(ARG0-of,see-01)", "DEPENDENT(mod,x)"}
    machine = machine_of(table, [["a", "b"]], in_search)

    def legal_after(*tokens: str) -> set[str]:
        for token in tokens:
            machine.apply(torch.tensor([table.tokens.index(token)]))
        return legal_tokens(machine, table) & (of_top | of_second | others)

    def everything_but(gone: set[str]) -> set[str]:
        return (of_top | of_second | others) - (gone if in_search else set())

    assert legal_after("SHIFT", "PRED(want-01)", "PRED(see-01)") == everything_but(set())
    assert legal_after("LA(ARG0)") == everything_but(of_top)
    assert legal_after("LA(ARG0-of)") == everything_but(of_top | of_second)
    assert legal_after("SWAP", "SHIFT", "PRED(want-01)") == everything_but(of_second)  # which was the top
    assert legal_after("SWAP") == everything_but(of_second)  # which was aside
    assert legal_after("LA(ARG0)") == everything_but(of_top | of_second)


def test_frames_bear_the_roles_of_their_table_alone():
    """FRAME by the lemma and the sense, PRED by its label; a frame that the table lacks may have all roles."""
    more = ("PRED(new-york-01)", "PRED(want-01)")
    cases = [("up", "PRED(new-york-01)", False), ("up", "PRED(want-01)", True), ("up", "PRED(x)", False)]
    cases += [("give", "FRAME(01)", True), ("York", "FRAME(01)", True)]
    table = make_table((), {word: [*more, "PRED(x)"] for word in ("up", "b")}, LIMITS, more)
    for word, make, may in cases:
        machine = machine_of(table, [[word, "b"]], in_search=True)
        for token in ("SHIFT", make, "SHIFT", "PRED(x)"):
            machine.apply(torch.tensor([table.tokens.index(token)]))
        assert ("RA(ARG0)" in legal_tokens(machine, table)) == may, (word, make)


def limited(system, state: AmrState) -> AmrState:
    swaps, nodes = system.limits.of_sentence(len(state.words))
    return state._replace(swaps_left=min(state.swaps_left, swaps), nodes_left=min(state.nodes_left, nodes))


@pytest.mark.parametrize(("lexicon", "limits"), [(None, None), (LEXICON, LIMITS)])
def test_the_kernel_unrolls_long_walks_as_the_machine_does(lexicon, limits):
    """Hundreds of nodes on the stack, and some actions that are not legal."""
    rng = random.Random(1)
    table = make_table(("a",), lexicon, limits, (*INVERSE, *MORE))
    sentences = [[rng.choice(EVOKING if limits else FORMS) for _ in range(rng.randrange(1, 60))] for _ in range(6)]
    machine, taken = machine_of(table, sentences), []
    while not machine.is_final().all() and len(taken) < 300:
        legal = [row.nonzero()[:, 0].tolist() for row in machine.legal()]
        some = [range(len(table.tokens)) if rng.random() < 0.02 else row for row in legal]
        taken.append(torch.tensor([prefer_nodes(rng, table, list(one)) for one in some]))
        machine.apply(taken[-1])
    assert machine.nodes.size(1) > 40
    actions = torch.stack(taken, 1)
    for needs in ((FRAMES_ON_TOP,), (*RANKS, FRAMES_ON_TOP)) if limits else ((), RANKS):
        found = machine_of(table, sentences, needs=needs).unroll(actions).tensors()
        with without_kernels():
            wanted = machine_of(table, sentences, needs=needs).unroll(actions).tensors()
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)
        assert FRAMES_ON_TOP not in needs or found[FRAMES_ON_TOP].unique().numel() > 3


@given(sentences=sentences_of(EVOKING), seed=st.integers(0, 2**32))
@example(sentences=[["dogs"], ["follow-up"], ["dogs"], ["dogs"]], seed=398)  # a frame by a route that evokes nothing
@settings(max_examples=8)
def test_random_walks_with_frames_within_the_limits_of_search(sentences, seed):
    walk(sentences, random.Random(seed), LEXICON, limits=replace(LIMITS, nodes=4))


def prefer_nodes(rng: random.Random, table: ActionTable, legal: list[int]) -> int:
    some = [i for i in legal if table.actions[i] is not None and table.actions[i].kind in MAKE_NODES]
    return rng.choice(some if some and rng.random() < 0.5 else legal)


def test_the_window_of_two_shows_the_current_span_and_the_top_two_nodes():
    """Nodes of the words 1, 2 and 4; the words 5 and 6 are the current span, and 7 is in front."""
    table = make_table()
    machine = machine_of(table, [["a", "b", "dogs", "b", "dogs", "b", "a", "b", "b", "b"]])
    shift, make, merge = "SHIFT", "PRED(dog)", "MERGE"
    for token in (shift, shift, make, shift, make, shift, shift, make, shift, merge):
        machine.apply(torch.tensor([table.tokens.index(token)]))

    def shown(window: str) -> list[list[int]]:
        heads = StateHeads(1, 1, window, top_ranks=machine_class("amr").top_ranks)
        return heads.ranks(machine.stack_ranks()[:, None], machine.buffer_ranks()[:, None])[0, :, 0].tolist()

    assert shown("all") == [[0, 4, 3, 0, 2, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 2, 3, 4]]
    assert shown("top2") == [[0, 0, 3, 0, 2, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 2, 0, 0]]
    machine.apply(torch.tensor([table.tokens.index(make)]))  # the newest node is of the current span
    assert shown("top2") == [[0, 0, 0, 0, 3, 1, 1, 0, 0, 0, 0], [0] * 7 + [1, 2, 0, 0]]


LONG_WALKS = [
    *WALKS[:2],
    (EVOKING, {"lexicon": LEXICON}),
    *((FORMS, {"lexicon": LEXICON, "limits": limits}) for limits in (LIMITS, OF_SORTS)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("forms", "options"), LONG_WALKS)
def test_long_random_walks(forms, options):
    rng = random.Random(1)
    for _ in range(30):
        walk([[rng.choice(forms) for _ in range(rng.randrange(1, 20))] for _ in range(16)], rng, **options)
