"""The limits of search: what they allow, and how they are learned, never below what training needs."""

import pytest

from tests.conftest import SAMPLE_AMR
from tests.helpers.search_limits import TARGETS, why_beyond
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import parse_entry, read_bank
from transition_parser.oracles.amr_check import derive
from transition_parser.preprocess.aligner.aligner import aligned, train_table
from transition_parser.preprocess.limits import borne_once, learned, targets_of
from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr_limits import (
    CONCEPT_SORTS,
    CONSTANT_SORTS,
    SECOND,
    TOP,
    SearchLimits,
    Sort,
    made_sort,
    role_given,
    sort_of,
)

OF_SORTS = SearchLimits(targets=TARGETS)
NOT_A_FRAME = CONCEPT_SORTS - {Sort.FRAME}


def graph(penman: str) -> AmrGraph:
    return parse_entry([penman]).graph


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
    assert sort_of(label, constant) is sort and (sort in CONSTANT_SORTS) == constant


@pytest.mark.parametrize(
    ("action", "sort"),
    [
        ("PRED(want-01)", Sort.FRAME),
        ("PRED(multi-sentence)", Sort.SENTENCES),
        ("COPY_LEMMA", Sort.CONCEPT),
        ("FRAME(02,alias)", Sort.FRAME),
        ("VALUE(-)", Sort.MINUS),
        ("ENTITY(city,+)", Sort.CONCEPT),
        ("COPY_WORD", None),
        ("DEPENDENT(polarity,-)", None),
        ("SHIFT", None),
    ],
)
def test_the_sort_of_a_new_node(action, sort):
    assert made_sort(Action.parse(action)) is sort


@pytest.mark.parametrize(
    ("action", "top", "second"),
    [
        ("LA(polarity)", set(), set(Sort) - {Sort.MINUS, Sort.CONCEPT, Sort.UNKNOWN}),
        ("RA(polarity)", set(Sort) - {Sort.MINUS, Sort.CONCEPT, Sort.UNKNOWN}, set()),
        ("RA(polite-of)", CONSTANT_SORTS, CONCEPT_SORTS),
        ("RA(time)", CONSTANT_SORTS - {Sort.STRING}, set()),
        ("RA(op12)", CONSTANT_SORTS - {Sort.NUMBER, Sort.STRING}, {Sort.FRAME, Sort.SENTENCES, Sort.UNKNOWN}),
        ("RA(op)", CONSTANT_SORTS - {Sort.NUMBER, Sort.STRING}, {Sort.FRAME, Sort.SENTENCES, Sort.UNKNOWN}),
        ("LA(snt)", CONCEPT_SORTS - {Sort.SENTENCES}, CONSTANT_SORTS),
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
    assert OF_SORTS.barred(Action.parse(action)) == (top, second)


@pytest.mark.parametrize(
    ("action", "given"),
    [
        ("LA(ARG0)", (TOP, "ARG0")),
        ("RA(ARG0)", (SECOND, "ARG0")),
        ("LA(ARG0-of)", (SECOND, "ARG0")),
        ("RA(ARG0-of)", (TOP, "ARG0")),
        ("LA(domain)", (SECOND, "mod")),
        ("RA(consist-of)", (SECOND, "consist-of")),
        ("RA(consist-of-of)", (TOP, "consist-of")),
        ("DEPENDENT(polarity,-)", (TOP, "polarity")),
        ("DEPENDENT(ARG1-of,x)", None),
        ("ENTITY(city)", None),
        ("LA", None),
        ("SHIFT", None),
    ],
)
def test_which_node_gets_a_role(action, given):
    assert role_given(Action.parse(action)) == given


def test_a_role_comes_once_that_was_seen_often_and_hardly_ever_twice():
    common = [graph("(a / a :ARG0 (b / b :ARG1-of (c / c)) :consist-of 1 :ARG0-of 5 :mod (d / d) :mod (e / e))")] * 201
    rare = [graph("(a / a :ARG2 (b / b))")] * 9
    slips = [graph("(a / a :ARG0 (b / b) :ARG0 (c / c))"), graph("(c / c :ARG0 (d / d :ARG1-of a) :ARG0-of (a / a))")]
    assert borne_once([*common, *rare, *slips]) == {"ARG0", "ARG1", "consist-of"}
    assert borne_once([*common, *rare, *rare]) == {"ARG0", "ARG1", "consist-of", "ARG2"}
    assert borne_once([*common, *slips, *slips[:1] * 2]) == {"ARG1", "consist-of"}
    assert borne_once([]) == frozenset()


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


def test_the_derivations_of_the_sample_bank_are_within_the_defaults_and_within_what_is_learned():
    entries = list(read_bank(SAMPLE_AMR))
    derived = derive(aligned(entries, train_table(entries)), make_system("amr"))
    derivations = [item.derivation.actions for item in derived if item.derivation]
    assert len(derivations) == len(entries)
    for limits in (SearchLimits(), learned(entry.graph for entry in entries)):
        assert [why_beyond(limits, derivation) for derivation in derivations] == [None] * len(entries)
