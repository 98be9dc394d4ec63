"""Sorts of nodes: what is learned from graphs, and what an action asks of the two nodes on top."""

import pytest

from tests.search_limits import why_beyond
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import parse_entry
from transition_parser.transitions import Action
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.amr_naming import Word
from transition_parser.transitions.amr_sorts import (
    BEARERS,
    CONCEPT_SORTS,
    CONSTANT_SORTS,
    TARGETS,
    Sort,
    bearers_of,
    made_sort,
    sentences_are_tops,
    sort_of,
    targets_of,
)

LIMITS = SearchLimits(9, 9, 9, {}, frozenset(), TARGETS, BEARERS, True)
NOT_A_FRAME = CONCEPT_SORTS - {Sort.FRAME}


def graph(penman: str) -> AmrGraph:
    return parse_entry([penman]).graph


def actions(text: str) -> list[Action]:
    return [Action.parse(token) for token in text.split()]


@pytest.mark.parametrize(
    ("label", "constant", "sort"),
    [
        ("want-01", False, Sort.FRAME),
        ("have-org-role-91", False, Sort.FRAME),
        ("dog", False, Sort.CONCEPT),
        ("vitamin-b-1", False, Sort.CONCEPT),
        ("multi-sentence", False, Sort.SENTENCES),
        ("amr-unknown", False, Sort.UNKNOWN),
        ("name", False, Sort.NAME),
        ("-", True, Sort.MINUS),
        ("+", True, Sort.PLUS),
        ("imperative", True, Sort.IMPERATIVE),
        ("1.5", True, Sort.NUMBER),
        ('"1"', True, Sort.STRING),
        ("z", True, Sort.SYMBOL),
    ],
)
def test_the_sort_of_a_node(label, constant, sort):
    assert sort_of(label, constant) is sort and sort.is_constant == constant


@pytest.mark.parametrize(
    ("action", "sort"),
    [
        ("PRED(want-01)", Sort.FRAME),
        ("PRED(multi-sentence)", Sort.SENTENCES),
        ("COPY_LEMMA", Sort.CONCEPT),
        ("COPY_SENSE01", Sort.FRAME),
        ("VALUE(-)", Sort.MINUS),
        ("ENTITY(city,+)", Sort.CONCEPT),
        ("COPY_WORD", None),
        ("DEPENDENT(polarity,-)", None),
        ("SHIFT", None),
    ],
)
def test_the_sort_of_a_new_node(action, sort):
    assert made_sort(Action.parse(action)) is sort


def test_what_roles_lead_to_is_learned_but_for_slips():
    common = [graph(f'(a / a :polarity - :mod "x" :op{i} {i} :ARG0 (b / b))') for i in (1, 2) for _ in range(150)]
    slips = [graph("(a / a :polarity + :op3 xy)"), graph("(a / a :ARG1 + :mod (b / b))")]
    questions = [graph("(a / a :polarity (b / amr-unknown))")] * 4
    learned = targets_of([*common, *slips, *questions])
    number, minus, string = (frozenset({sort}) for sort in (Sort.NUMBER, Sort.MINUS, Sort.STRING))
    with_concepts = {"ARG1": CONCEPT_SORTS | {Sort.PLUS}}
    assert learned == {**with_concepts, "mod": string, "op": number, "polarity": minus | {Sort.UNKNOWN}}
    assert targets_of([*common, *[graph("(a / a :mod (b / b))")] * 101])["mod"] == CONCEPT_SORTS | string
    assert targets_of([]) == {}


def test_one_constant_among_thousands_of_concepts_is_a_slip():
    concepts, constant = [graph("(a / a-01 :ARG0 (b / b))")], [graph("(a / a-01 :ARG0 +)")]
    assert targets_of([*concepts * 1_999, *constant]) == {"ARG0": CONCEPT_SORTS | {Sort.PLUS}}
    assert targets_of([*concepts * 2_000, *constant]) == {}


def test_what_bears_numbered_roles_is_learned_but_for_slips():
    common = [graph("(a / a-01 :ARG0 (b / and :op1 (c / c)) :ARG1-of (d / d-02) :mod (e / e))")] * 100
    few = [graph("(m / multi-sentence :snt1 (a / a))")] * 9
    learned = bearers_of([*common, *few, graph("(a / a :ARG0 (b / b-01 :op1 1))")])
    assert learned == {"ARG": frozenset({Sort.FRAME}), "op": frozenset({Sort.CONCEPT})}
    assert bearers_of([*few, graph("(m / multi-sentence :snt2 (a / a))")])["snt"] == frozenset({Sort.SENTENCES})


def test_whether_sentences_are_tops_is_learned_but_for_slips():
    top, below = graph("(m / multi-sentence :snt1 (a / a))"), graph("(a / a :mod (m / multi-sentence))")
    assert sentences_are_tops([top] * 10) and not sentences_are_tops([top] * 9)
    assert sentences_are_tops([*[top] * 101, below]) and not sentences_are_tops([*[top] * 99, below])


@pytest.mark.parametrize(
    ("action", "top", "second"),
    [
        ("LA(polarity)", set(), set(Sort) - {Sort.MINUS, Sort.CONCEPT, Sort.UNKNOWN}),
        ("RA(polarity)", set(Sort) - {Sort.MINUS, Sort.CONCEPT, Sort.UNKNOWN}, set()),
        ("RA(polite-of)", CONSTANT_SORTS, CONCEPT_SORTS),
        ("RA(time)", CONSTANT_SORTS - {Sort.STRING}, set()),
        ("RA(op12)", CONSTANT_SORTS - {Sort.NUMBER, Sort.STRING}, {Sort.FRAME, Sort.SENTENCES, Sort.UNKNOWN}),
        ("RA(manner)", CONSTANT_SORTS, set()),
        ("LA(ARG0)", NOT_A_FRAME, CONSTANT_SORTS),
        ("LA(ARG0-of)", set(), CONSTANT_SORTS | NOT_A_FRAME),
        ("RA(snt2)", CONSTANT_SORTS, CONCEPT_SORTS - {Sort.SENTENCES}),
        ("DEPENDENT(polarity,-)", set(), set()),
        ("DEPENDENT(polarity,+)", CONCEPT_SORTS, set()),
        ("DEPENDENT(mode,imperative)", set(), set()),
        ("DEPENDENT(mode,dog)", CONCEPT_SORTS, set()),
        ("DEPENDENT(ARG1,5)", NOT_A_FRAME, set()),
        ("DEPENDENT(ARG0-of,dog)", CONCEPT_SORTS, set()),
        ("DEPENDENT(ARG0-of,bark-01)", set(), set()),
        ("PRED(dog)", set(), set()),
    ],
)
def test_what_an_action_forbids(action, top, second):
    assert LIMITS.barred(Action.parse(action)) == (top, second)
    assert SearchLimits(9, 9, 9).barred(Action.parse(action)) == (set(), set())


def test_what_is_beyond_the_limits():
    words = [Word("12", "12"), Word("dogs", "dog")]
    for within in (
        "SHIFT COPY_WORD SHIFT COPY_LEMMA LA(quant) ROOT CLOSE",
        "SHIFT PRED(buy-01) DEPENDENT(polite,+) SHIFT ROOT CLOSE",
        "SHIFT PRED(a) SHIFT PRED(multi-sentence) DEPENDENT(mode,expressive) ROOT LA(snt1) CLOSE",
    ):
        assert why_beyond(LIMITS, actions(within), words) is None
    for beyond in (
        "SHIFT COPY_WORD SHIFT COPY_LEMMA LA(time)",
        "SHIFT PRED(buy-01) DEPENDENT(polarity,+)",
        "SHIFT PRED(a) SHIFT PRED(b) LA(ARG0)",
        "SHIFT PRED(multi-sentence) SHIFT",
        "SHIFT PRED(a) ROOT SHIFT PRED(multi-sentence)",
    ):
        last = beyond.split()[-1]
        rest = "" if last == "SHIFT" else " SHIFT"
        assert why_beyond(LIMITS, actions(beyond + rest), words) == f"{last} is not for nodes of these sorts"
