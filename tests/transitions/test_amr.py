import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.amr_walks import FORMS, FRAMES, LEXICON, legal_actions
from transition_parser.graphs.amr import Edge
from transition_parser.graphs.bank import parse_entry
from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr_state import copied_value, entity_strings


def replay(words: list[str], actions: str, lexicon=None):
    system = make_system("amr", lexicon=lexicon, frames=FRAMES)
    return system.replay(system.read(words), [Action.parse(token) for token in actions.split()])


def test_a_graph_by_hand():
    graph = replay(
        ["She", "does", "not", "want", "6", "roses"],
        "SHIFT COPY_LEMMA SHIFT SHIFT VALUE(-) SHIFT FRAME(01) ROOT LA(polarity) LA(ARG0) REDUCE "
        "SHIFT COPY_WORD SHIFT COPY_LEMMA LA(quant) RA(ARG1) REDUCE CLOSE",
    )
    assert graph.labels == ("she", "-", "want-01", "6", "rose")
    assert graph.constants == {1, 3} and graph.top == 2
    assert graph.edges == (Edge(2, "polarity", 1), Edge(2, "ARG0", 0), Edge(4, "quant", 3), Edge(2, "ARG1", 4))


def test_entities():
    graph = replay(["New", "York"], "SHIFT MERGE ENTITY(city) ROOT CLOSE")
    assert graph.labels == ("city", "name", '"New"', '"York"')
    assert graph.edges == (Edge(0, "name", 1), Edge(1, "op1", 2), Edge(1, "op2", 3))
    assert replay(["B", "@-@", "Raf"], "SHIFT MERGE MERGE ENTITY(enzyme,+) ROOT CLOSE").labels[2] == '"B-Raf"'
    assert replay(["German"], 'SHIFT ENTITY(country,"Germany") ROOT CLOSE').labels[2] == '"Germany"'


@pytest.mark.parametrize(
    "arcs, roles",
    [
        (("LA(op)", "LA(op)", "RA(op)"), {"p": "op1", "q": "op2", "r": "op3"}),
        (("LA(op2)", "LA(op)", "RA(op)"), {"p": "op1", "q": "op2", "r": "op3"}),
        (("LA(op1)", "LA(op1)", "RA(op)"), {"p": "op1", "q": "op1", "r": "op2"}),
        (("LA(snt)", "LA(op)", "RA(op)"), {"p": "op1", "q": "snt1", "r": "op2"}),
        (("LA(op) LA(op)", "LA(mod)", "RA(op)"), {"p": "mod", "q": "op1", "r": "op2"}),
    ],
)
def test_members_are_numbered_by_the_order_of_words(arcs, roles):
    nearest, first, last = arcs
    graph = replay(
        "p q and r".split(),
        f"SHIFT PRED(p) SHIFT PRED(q) SHIFT PRED(and) ROOT {nearest} REDUCE {first} REDUCE SHIFT PRED(r) {last} CLOSE",
    )
    assert {graph.labels[target]: role for _, role, target in graph.edges} == roles


def test_several_nodes_of_a_word_two_edges_and_a_cycle():
    graph = replay(
        ["teacher"],
        "SHIFT PRED(person) ROOT COPY_LEMMA RA(ARG0) LA(ARG0) LA(ARG1) DEPENDENT(mode,imperative) REDUCE CLOSE",
    )
    assert graph.labels == ("person", "teacher", "imperative") and graph.constants == {2}
    assert graph.edges == (Edge(0, "ARG0", 1), Edge(1, "ARG0", 0), Edge(1, "ARG1", 0), Edge(1, "mode", 2))


def test_swap_sets_aside_until_the_next_word():
    system = make_system("amr")
    state = system.initial(system.read(["a", "b", "c", "d"]))
    for token in "SHIFT COPY_LEMMA SHIFT COPY_LEMMA SHIFT COPY_LEMMA SWAP".split():
        state = system.apply(state, Action.parse(token))
    assert (state.stack, state.aside) == ((0, 2), (1,))
    state = system.apply(state, Action.parse("RA(x)"))
    assert state.edges == (Edge(0, "x", 2),)
    state = system.apply(state, Action.parse("SHIFT"))
    assert (state.stack, state.aside) == ((0, 1, 2), ())


@pytest.mark.parametrize(
    ("before", "action", "reason"),
    [
        ("", "PRED(x)", "no current span"),
        ("", "MERGE", "or there is none"),
        ("", "CLOSE", "words are left"),
        ("SHIFT PRED(x)", "MERGE", "has a node"),
        ("SHIFT PRED(x)", "ENTITY(x)", "has a node"),
        ("SHIFT PRED(x)", "LA(r)", "no second"),
        ("SHIFT PRED(x) PRED(y)", "REDUCE", "not connected"),
        ("SHIFT VALUE(1) PRED(y)", "RA(r)", "head is a constant"),
        ("SHIFT VALUE(1)", "ROOT", "not a concept"),
        ("SHIFT VALUE(1)", "DEPENDENT(a,b)", "not a concept"),
        ("SHIFT PRED(x) ROOT", "ROOT", "has a top"),
        ("SHIFT PRED(x) PRED(y) LA(a) LA(b) LA(c) LA(d)", "RA(e)", "in a row"),
        ("SHIFT SHIFT", "SHIFT", "no word is left"),
        ("SHIFT SHIFT", "VALUE(1)", "a concept must come first"),
        ("SHIFT PRED(x) SHIFT PRED(y)", "SWAP", "not connected"),
        ("SHIFT PRED(x) SHIFT PRED(y)", "REDUCE", "would be lost"),
        ("SHIFT PRED(x) SHIFT PRED(y) ROOT", "CLOSE", "not connected"),
        ("SHIFT PRED(x) SHIFT", "CLOSE", "no top"),
        ("SHIFT PRED(x) ROOT SHIFT CLOSE", "CLOSE", "closed"),
        ("", "REDUCE", "no second"),
        ("", "LEFT-ARC(x)", "amr has no LEFT-ARC"),
    ],
)
def test_why_illegal(before, action, reason):
    system = make_system("amr")
    state = system.initial(system.read(["a", "b"]))
    for token in before.split():
        parsed = Action.parse(token)
        assert system.why_illegal(state, parsed) is None, (token, system.why_illegal(state, parsed))
        state = system.apply(state, parsed)
    assert reason in (system.why_illegal(state, Action.parse(action)) or "legal")


def test_the_lexicon_limits_what_names_a_span():
    lexicon = {"dog": ["PRED(animal)"]}
    assert replay(["dogs", "a"], "SHIFT PRED(animal) ROOT SHIFT COPY_LEMMA LA(x) REDUCE CLOSE", lexicon).labels
    with pytest.raises(ValueError, match="training has not seen"):
        replay(["dogs", "a"], "SHIFT PRED(cat) ROOT SHIFT CLOSE", lexicon)
    with pytest.raises(ValueError, match="training has not seen"):
        replay(["cat"], "SHIFT PRED(anything) ROOT CLOSE", lexicon)
    assert replay(["("], "SHIFT PRED(anything) ROOT CLOSE", lexicon).labels == ("anything",)  # or there were no graph


def test_copies():
    assert copied_value(["12,000"]) == "12000" and copied_value(["1.5"]) == "1.5" and copied_value(["1,2"]) == '"1,2"'
    assert copied_value(["B", "@-@", "2"]) == '"B-2"' and copied_value(["007"]) == "007"
    assert copied_value(["Thirteen"]) == "13" and copied_value(["40", "million"]) == "40000000"
    assert entity_strings(["a", "b"], ()) == ['"a"', '"b"'] and entity_strings(["a", "b"], ["+"]) == ['"ab"']


@given(
    words=st.lists(st.sampled_from(FORMS), min_size=1, max_size=8),
    lexicon=st.sampled_from([None, LEXICON]),
    seed=st.integers(0, 2**32),
)
def test_every_legal_walk_ends_in_one_connected_graph(words, lexicon, seed):
    rng = random.Random(seed)
    system = make_system("amr", lexicon=lexicon, frames=FRAMES)
    state, steps = system.initial(system.read(words)), 0
    while not system.is_final(state):
        legal = legal_actions(system, state)
        assert legal, state
        state = system.apply(state, rng.choice(legal))
        steps += 1
    assert steps <= system.max_actions(len(words))
    assert not legal_actions(system, state)
    graph = system.result(state)
    assert graph.is_connected() and graph.top not in graph.constants
    back = parse_entry(graph.to_penman(system.alignments(state)).split("\n"))
    assert sorted(back.graph.labels) == sorted(graph.labels) and len(back.graph.edges) == len(graph.edges)


def test_frames_name_concepts():
    actions = (
        "SHIFT FRAME(07,particle) ROOT SHIFT COPY_LEMMA RA(ARG1) REDUCE SHIFT SHIFT FRAME(03,alias) RA(x) REDUCE CLOSE"
    )
    graph = replay(["gave", "it", "up", "gifts"], actions)
    assert graph.labels == ("give-up-07", "it", "give-03")
    alias2 = replay(["gift"], "SHIFT FRAME(01,alias2) ROOT CLOSE")
    assert alias2.labels == ("hound-01",)


@pytest.mark.parametrize(
    ("words", "action", "reason"),
    [
        ("dogs a", "FRAME(01)", "'dog' evokes no frame that FRAME(01) names"),
        ("dogs a", "FRAME(02)", None),
        ("zorbed a", "FRAME(01)", None),  # the table does not know the word
        ("12 a", "FRAME(01)", "evokes no frame"),
        ("zorbed a", "FRAME(02)", "evokes no frame"),
        ("dogs a", "FRAME(99)", "no frame of the table"),
        ("gave it", "FRAME(07,particle)", "evokes no frame"),
    ],
)
def test_what_frames_allow(words, action, reason):
    system = make_system("amr", lexicon=LEXICON, frames=FRAMES)
    state = system.apply(system.initial(system.read(words.split())), Action.parse("SHIFT"))
    found = system.why_illegal(state, Action.parse(action))
    assert found is None if reason is None else reason in (found or "legal")


def test_a_sentence_that_has_only_symbols_gets_any_frame():
    """Where the lexicon does not bind, frames do not, so that each sentence has a graph."""
    assert replay(["("], "SHIFT FRAME(07,particle) ROOT CLOSE", LEXICON).labels == ("thing-07",)
    for word in ("gave", "12"):  # the lemma may name the only concept
        with pytest.raises(ValueError, match="evokes no frame"):
            replay([word], "SHIFT FRAME(07,particle) ROOT CLOSE", LEXICON)
