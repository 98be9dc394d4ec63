"""Facts that are given about AMRs: what may be said."""

import pytest

from transition_parser.base.errors import InputError
from transition_parser.parsing.given import Given, GivenEdge, GivenNode

DOG, BARK, NOT = {"d": GivenNode((1, 1), "dog")}, {"b": GivenNode((2, 2), "bark-01")}, {"n": GivenNode((3, 3), "-")}

CONTRADICTIONS = {
    "overlap": lambda: Given({"a": GivenNode((0, 1), "dog"), "b": GivenNode((1, 2), "cat")}),
    "no node has the variable 'x'": lambda: Given(DOG, (GivenEdge("d", "ARG0", "x"),)),
    "the top: no node has the variable 'x'": lambda: Given(DOG, top="x"),
    "contradicts that word 1 must have no node": lambda: Given(DOG, none=frozenset({1})),
    "but word 1 must have none": lambda: Given(edges=(GivenEdge((0, 0), "mod", (1, 1)),), none=frozenset({1})),
    "goes from a node to itself": lambda: Given(DOG, (GivenEdge("d", "ARG0", "d"),)),
    "word 1 to word 1 goes from a node to itself": lambda: Given(edges=(GivenEdge((1, 1), "ARG0", (1, 1)),)),
    "has no role": lambda: Given(edges=(GivenEdge((1, 1), "", (2, 2)),)),
    "a constant has no edges of its own": lambda: Given({**DOG, **NOT}, (GivenEdge("n", "polarity", "d"),)),
    "give a constant two heads": lambda: Given(
        {**DOG, **BARK, **NOT}, (GivenEdge("d", "polarity", "n"), GivenEdge("b", "polarity", "n"))
    ),
    "the top is n, a constant": lambda: Given(NOT, top="n"),
    "the node dog of words 2–1: a span is": lambda: Given({"d": GivenNode((2, 1), "dog")}),
    "the top: a span is": lambda: Given(top=(2, 1)),
}


@pytest.mark.parametrize("problem", CONTRADICTIONS)
def test_facts_that_contradict_each_other_are_refused(problem):
    with pytest.raises(InputError, match=problem):
        CONTRADICTIONS[problem]()


@pytest.mark.parametrize(
    ("given", "words", "problem"),
    [
        (Given(DOG), 1, "the node dog of word 1: the sentence has 1 words"),
        (Given(edges=(GivenEdge((0, 0), "mod", (3, 4)),)), 4, "from word 0 to words 3–4: the sentence has 4 words"),
        (Given(none=frozenset({0, 1})), 2, "no word has a node"),
        (Given(none=frozenset({5})), 2, "a word without a node, 5: the sentence has 2 words"),
        (Given(top=(2, 2)), 2, "the top: the sentence has 2 words"),
        (Given({f"d{i}": GivenNode((0, 0), "dog") for i in range(10)}), 1, "10 nodes.* may have 9"),
    ],
)
def test_facts_that_a_sentence_can_not_have_are_refused(given, words, problem):
    with pytest.raises(InputError, match=problem):
        given.check(words)
    given.check(30)


def test_inverse_roles_are_turned_round_unless_the_target_is_a_constant():
    edges = (GivenEdge("d", "ARG0-of", "b"), GivenEdge("d", "domain", "b"), GivenEdge("d", "x-of", "n"))
    assert Given({**DOG, **BARK, **NOT}, edges).normal_edges == (("b", "ARG0", "d"), ("b", "mod", "d"), edges[2])


HUGE, LONG = 10**4000, "x" * 5000


@pytest.mark.parametrize(
    "given",
    [
        Given({"n": GivenNode((1, HUGE), "x")}, none=frozenset({0})),
        Given(edges=(GivenEdge((0, HUGE), "x", (1, 1)),), none=frozenset({0})),
        Given(top=(1, HUGE), none=frozenset({0})),
        Given(none=frozenset({HUGE})),
    ],
)
def test_a_span_of_any_length_is_refused_at_once(given):
    with pytest.raises(InputError, match="the sentence has 3 words") as raised:
        given.check(3)
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize(
    "facts",
    [
        {"nodes": {LONG: GivenNode((1, 1), LONG)}, "none": frozenset({1})},
        {"nodes": {"a": GivenNode((1, 2), LONG), "b": GivenNode((2, 3), LONG)}},
        {"edges": (GivenEdge(LONG, LONG, LONG),)},
        {"top": LONG},
    ],
)
def test_messages_are_short_however_long_names_are(facts):
    with pytest.raises(InputError) as raised:
        Given(**facts)
    assert len(str(raised.value)) < 400
