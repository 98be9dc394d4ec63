"""The limits of search: what they allow, and how they are learned, never below what training needs."""

from dataclasses import replace

import pytest

from tests.conftest import SAMPLE_AMR
from tests.helpers.search_limits import BEARERS, TARGETS, why_beyond
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import parse_entry, read_bank
from transition_parser.oracles.amr_check import derive
from transition_parser.preprocess.aligner.aligner import aligned, train_table
from transition_parser.preprocess.limits import (
    bearers_of,
    borne_once,
    borne_several,
    keep_to_frames,
    learned,
    sentences_are_tops,
    targets_of,
)
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action, make_system
from transition_parser.transitions.amr_frames import frame_actions
from transition_parser.transitions.amr_limits import (
    CONCEPT_SORTS,
    CONSTANT_SORTS,
    DEFAULT_LIMITS,
    SECOND,
    TOP,
    SearchLimits,
    Sort,
    made_sort,
    role_given,
    sort_of,
)

OF_SORTS = SearchLimits(9, 9, 9, {}, frozenset(), TARGETS, BEARERS, True)
NOT_A_FRAME = CONCEPT_SORTS - {Sort.FRAME}


def actions(text: str) -> list[Action]:
    return [Action.parse(token) for token in text.split()]


def graph(penman: str) -> AmrGraph:
    return parse_entry([penman]).graph


TWO = actions(
    "SHIFT PRED(figure) PRED(and) PRED(figure) PRED(figure) SHIFT MERGE COPY_LEMMA SWAP SWAP COPY_LEMMA CLOSE"
)


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
    assert SearchLimits(9, 9, 9).barred(Action.parse(action)) == (set(), set())


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


def test_concepts_that_get_a_role_several_times():
    graphs = [graph("(a / a :ARG0 (b / b))")] * 900 + [graph("(c / c-01 :ARG0 (d / d) :ARG0 (e / e))")] * 20
    limits = replace(learned([TWO], graphs), bearers={})
    assert limits.once == {"ARG0"} and limits.several == {"c": {"ARG0"}}
    assert why_beyond(limits, actions("SHIFT PRED(c-02) PRED(a) RA(ARG0) RA(ARG0) CLOSE")) is None
    assert "RA(ARG0)" in str(why_beyond(limits, actions("SHIFT PRED(a) PRED(c) RA(ARG0) RA(ARG0) CLOSE")))
    assert SearchLimits.from_json(limits.to_json()) == limits
    with pytest.raises(ValueError, match="`several` lists ARG1 of c, which is not in `once`"):
        replace(limits, several={"c": frozenset({"ARG1"})})


def test_what_is_learned():
    limits = learned([TWO, actions("SHIFT SHIFT COPY_WORD VALUE(-) DEPENDENT(polarity,-) SHIFT CLOSE")])
    assert (limits.nodes, limits.swaps, limits.span) == (3, 0, 4)
    most = {text: limits.most(Action.parse(text)) for text in ("PRED(figure)", "PRED(and)", "COPY_LEMMA", "COPY_WORD")}
    assert most == {"PRED(figure)": 3, "PRED(and)": 2, "COPY_LEMMA": 2, "COPY_WORD": 1}
    assert limits.most(Action.parse("DEPENDENT(mod,x)")) == 2 and limits.most(Action.parse("FRAME(01)")) == 1
    assert limits.of_sentence(5) == (10, 8)


def test_a_role_comes_once_that_was_seen_often_and_hardly_ever_twice():
    common = [graph("(a / a :ARG0 (b / b :ARG1-of (c / c)) :consist-of 1 :ARG0-of 5 :mod (d / d) :mod (e / e))")] * 201
    rare = [graph("(a / a :ARG2 (b / b))")] * 9
    slips = [graph("(a / a :ARG0 (b / b) :ARG0 (c / c))"), graph("(c / c :ARG0 (d / d :ARG1-of a) :ARG0-of (a / a))")]
    assert borne_once([*common, *rare, *slips]) == {"ARG0", "ARG1", "consist-of"}
    assert borne_once([*common, *rare, *rare]) == {"ARG0", "ARG1", "consist-of", "ARG2"}
    assert borne_once([*common, *slips, *slips[:1] * 2]) == {"ARG1", "consist-of"}
    assert borne_once([]) == frozenset()


def test_frames_keep_to_their_roles_but_for_slips():
    arrives = [graph("(a / arrive-01 :ARG1 (b / b))")] * 99
    slip, unknown = graph("(a / arrive-01 :ARG0 (b / b))"), graph("(a / zorb-01 :ARG9 (b / b))")
    frames = frame_actions(packaged())
    assert keep_to_frames([*arrives, unknown, slip], frames)
    assert not keep_to_frames([*arrives, slip, slip], frames)
    assert keep_to_frames([], frames)


def test_concepts_that_bear_a_role_several_times_are_learned_by_their_lemma():
    common = [graph("(a / a-01 :ARG0 (b / b) :mod 1 :mod 2)")] * 200
    twice = [graph("(a / a-b-02 :ARG0 (b / b) :ARG0 (c / c))")] * 5
    graphs = [*common, *twice, *common[:1] * 5, *[graph("(c / c-01 :ARG0 1 :ARG0 2)")] * 4]
    several = borne_several(graphs)
    assert several == {"a-b": {"ARG0"}}
    assert borne_once(graphs) == frozenset() and borne_once(graphs, {**several, "c": {"ARG0"}}) == {"ARG0"}
    assert borne_several([*twice, *[graph("(a / a-b-02 :ARG0 1)")] * 246]) == {}


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


def test_the_derivations_of_the_sample_bank_are_within_the_defaults_and_within_what_is_learned():
    entries = list(read_bank(SAMPLE_AMR))
    derived = derive(aligned(entries, train_table(entries)), make_system("amr"))
    derivations = [item.derivation.actions for item in derived if item.derivation]
    assert len(derivations) == len(entries)
    for limits in (DEFAULT_LIMITS, learned(derivations, (entry.graph for entry in entries))):
        assert [why_beyond(limits, derivation) for derivation in derivations] == [None] * len(entries)
