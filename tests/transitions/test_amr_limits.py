"""How far search may go: learned from derivations, and never below what they need."""

from dataclasses import replace

import pytest

from tests.conftest import SAMPLE_AMR
from tests.search_limits import why_beyond
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import parse_entry, read_bank
from transition_parser.oracles.amr_check import derive
from transition_parser.preprocess.aligner import aligned, train_table
from transition_parser.transitions import Action, Kind, make_system
from transition_parser.transitions.amr_limits import DEFAULT_LIMITS, SearchLimits, learned


def actions(text: str) -> list[Action]:
    return [Action.parse(token) for token in text.split()]


def graph(penman: str) -> AmrGraph:
    return parse_entry([penman]).graph


TWO = actions(
    "SHIFT PRED(figure) PRED(and) PRED(figure) PRED(figure) SHIFT MERGE COPY_LEMMA SWAP SWAP COPY_LEMMA CLOSE"
)


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


def test_what_goes_beyond():
    limits = learned([TWO])
    assert why_beyond(limits, TWO) is None
    for more, why in (
        ("PRED(dog) PRED(dog) PRED(dog)", "PRED(dog) 3 times from one span, at most 2"),
        ("COPY_SENSE01 COPY_SENSE01", "COPY_SENSE01 2 times from one span, at most 1"),
        ("PRED(a) PRED(b) PRED(c) PRED(d) PRED(e)", "5 nodes from one span, at most 4"),
        ("SWAP SWAP SWAP SWAP SWAP", "5 SWAPs in a sentence of 2 words, at most 4"),
    ):
        assert why in str(why_beyond(limits, actions(f"SHIFT SHIFT {more} CLOSE")))
    four = "PRED(a) PRED(b) PRED(c) PRED(d)"
    assert "8 nodes in a sentence of 2 words, at most 5" in str(
        why_beyond(limits, actions(f"SHIFT {four} SHIFT {four} CLOSE"))
    )


def test_a_role_twice_is_beyond():
    """Inverse or not, of an arc, a dependent or an entity."""
    limits = learned([TWO], [graph("(a / a :ARG0 (b / b) :mod 1 :mod 2)")] * 200)
    assert limits.once == {"ARG0"}
    limits = replace(limits, once=frozenset({"ARG0", "name"}), span=9, targets={}, bearers={})
    two = "SHIFT PRED(a) PRED(b)"
    for within in ("LA(ARG0) RA(ARG0)", "LA(mod) LA(mod)", "LA(ARG0-of) DEPENDENT(ARG0,c)", "DEPENDENT(name,c)"):
        assert why_beyond(limits, actions(f"{two} {within} CLOSE")) is None
    for beyond in (
        "LA(ARG0) LA(ARG0)",
        "LA(ARG0) RA(ARG0-of)",
        "LA(ARG0) DEPENDENT(ARG0,c)",
        "LA(ARG0) SWAP SHIFT RA(ARG0-of)",
    ):
        last = beyond.split()[-1]
        why = why_beyond(limits, actions(f"{two} {beyond} CLOSE"))
        assert why == f"{last} gives a node a role that it has"
    assert "DEPENDENT(name,c)" in str(why_beyond(limits, actions("SHIFT ENTITY(city) DEPENDENT(name,c) CLOSE")))


def test_roles_that_come_once_are_few_and_not_inverse():
    with pytest.raises(ValueError, match="`once` lists 64 roles, but may list at most 63"):
        SearchLimits(0, 0, 1, once=frozenset(map(str, range(64))))
    for role in ("ARG0-of", "domain"):
        with pytest.raises(ValueError, match=f"`once` lists {role}, the inverse of a role"):
            SearchLimits(0, 0, 1, once=frozenset({role, "ARG0", "consist-of"}))


def test_concepts_that_get_a_role_several_times():
    graphs = [graph("(a / a :ARG0 (b / b))")] * 900 + [graph("(c / c-01 :ARG0 (d / d) :ARG0 (e / e))")] * 20
    limits = replace(learned([TWO], graphs), bearers={})
    assert limits.once == {"ARG0"} and limits.several == {"c": {"ARG0"}}
    assert why_beyond(limits, actions("SHIFT PRED(c-02) PRED(a) RA(ARG0) RA(ARG0) CLOSE")) is None
    assert "RA(ARG0)" in str(why_beyond(limits, actions("SHIFT PRED(a) PRED(c) RA(ARG0) RA(ARG0) CLOSE")))
    assert SearchLimits.from_json(limits.to_json()) == limits
    assert SearchLimits.from_json({name: value for name, value in limits.to_json().items() if name != "several"}) == (
        replace(limits, several={})
    )
    with pytest.raises(ValueError, match="`several` lists ARG1 of c, which is not in `once`"):
        replace(limits, several={"c": frozenset({"ARG1"})})


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


def test_as_json_and_back():
    limits = replace(learned([TWO]), once=frozenset({"ARG0", "op1"}))
    assert SearchLimits.from_json(limits.to_json()) == limits
    assert limits.to_json()["once"] == ["ARG0", "op1"]
    assert limits.to_json()["repeats"]["PRED(figure)"] == 3
