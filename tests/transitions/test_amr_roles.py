"""Roles that a node bears once: learned from graphs; which node an action gives one."""

import pytest

from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import parse_entry
from transition_parser.text.frames import packaged
from transition_parser.transitions import Action
from transition_parser.transitions.amr_frames import frame_actions
from transition_parser.transitions.amr_roles import (
    MOST_ROLES,
    ONCE,
    SECOND,
    TOP,
    borne_once,
    borne_several,
    is_plain,
    keep_to_frames,
    role_given,
)


def graph(penman: str) -> AmrGraph:
    return parse_entry([penman]).graph


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


def test_the_default_ones():
    assert len(ONCE) <= MOST_ROLES and all(map(is_plain, ONCE))
    assert {"ARG0", "ARG9", "op1", "op20", "polarity", "mode", "wiki", "name"} <= ONCE
    assert not {"mod", "domain", "time", "location", "part"} & ONCE


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
