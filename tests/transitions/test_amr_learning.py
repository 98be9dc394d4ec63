"""Limits of search that are learned from graphs and derivations, never below what these need."""

from tests.conftest import SAMPLE_AMR
from tests.search_limits import why_beyond
from tests.transitions.test_amr_limits import TWO, actions, graph
from transition_parser.graphs.bank import read_bank
from transition_parser.oracles.amr_check import derive
from transition_parser.preprocess.aligner import aligned, train_table
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action, Kind, make_system
from transition_parser.transitions.amr_frames import frame_actions
from transition_parser.transitions.amr_learning import (
    bearers_of,
    borne_once,
    borne_several,
    keep_to_frames,
    learned,
    sentences_are_tops,
    targets_of,
)
from transition_parser.transitions.amr_limits import CONCEPT_SORTS, DEFAULT_LIMITS, MOST_ROLES, Sort


def test_what_is_learned():
    limits = learned([TWO, actions("SHIFT SHIFT COPY_WORD VALUE(-) DEPENDENT(polarity,-) SHIFT CLOSE")])
    assert (limits.nodes, limits.swaps, limits.span) == (3, 0, 4)
    most = {text: limits.most(Action.parse(text)) for text in ("PRED(figure)", "PRED(and)", "COPY_LEMMA", "COPY_WORD")}
    assert most == {"PRED(figure)": 3, "PRED(and)": 2, "COPY_LEMMA": 2, "COPY_WORD": 1}
    assert limits.most(Action.parse("DEPENDENT(mod,x)")) == 2 and limits.most(Action.parse("COPY_SENSE01")) == 1
    assert limits.of_sentence(5) == (10, 8)


def test_what_an_action_repeats_once_in_hundreds_of_spans_is_no_limit():
    once, twice, three = (actions("SHIFT " + "COPY_LEMMA " * times + "CLOSE") for times in (1, 2, 3))
    for others, most in ((197, 3), (198, 2)):
        limits = learned([*[once] * others, twice, twice, three])
        assert limits.most(Action(Kind.COPY_LEMMA)) == most


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


def test_of_too_many_roles_the_most_frequent_are_kept():
    graphs = [graph(f"(a / a :op{i} 1)") for i in range(1, 71) for _ in range(10 + i)]
    assert borne_once(graphs) == {f"op{i}" for i in range(70 - MOST_ROLES + 1, 71)}


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


def test_nothing_learned_is_nothing_forbidden_that_a_derivation_needs():
    limits = learned([actions("SHIFT SHIFT SHIFT COPY_LEMMA ROOT CLOSE")])
    assert (limits.nodes, limits.swaps, limits.span) == (0, 0, 1)
    assert why_beyond(limits, actions("SHIFT COPY_LEMMA ROOT CLOSE")) is None


def test_the_derivations_of_the_sample_bank_are_within_the_defaults_and_within_what_is_learned():
    entries = list(read_bank(SAMPLE_AMR))
    derived = derive(aligned(entries, train_table(entries)), make_system("amr"))
    derivations = [item.derivation.actions for item in derived if item.derivation]
    assert len(derivations) == len(entries)
    for limits in (DEFAULT_LIMITS, learned(derivations, (entry.graph for entry in entries))):
        assert [why_beyond(limits, derivation) for derivation in derivations] == [None] * len(entries)
