"""Facts that are given about AMRs: what may be said, and what files may hold."""

import json

import pytest

from transition_parser.base.errors import InputError
from transition_parser.parsing.given import Given, GivenEdge, GivenNode, given_of, read_given

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


LINE = {
    "id": "s1",
    "nodes": {"p": {"span": [2, 2], "concept": "price-01"}, "c": {"span": [0, 1], "concept": "city"}},
    "edges": [["p", "ARG1", [3, 5]]],
    "none": [6],
    "top": "p",
}


def test_a_line_of_facts():
    given = given_of(LINE, "facts.jsonl", 3)
    nodes = {"p": GivenNode((2, 2), "price-01"), "c": GivenNode((0, 1), "city")}
    edges = (GivenEdge("p", "ARG1", (3, 5)),)
    assert given == Given(nodes, edges, frozenset({6}), "p", "s1", "facts.jsonl", 3)
    assert str(given.error("x")) == "facts.jsonl:3: sentence s1: x"


BAD_LINES = {
    "{": "not JSON: ",
    "[]": "must be a JSON object",
    '{"id": "a", "node": {}}': "sentence a: unknown key 'node'",
    '{"id": "a", "nodes": {"n": {"words": 1}}}': "sentence a: unknown key 'words'",
    '{"id": "a", "nodes": {"n": 1}}': "the node n must be an object with a span and a concept",
    '{"id": "a", "nodes": [{"span": [1, 1], "concept": "x"}]}': "'nodes' must be a JSON object",
    '{"id": "a", "nodes": {"n": {"span": [1, 1]}}}': "the key 'concept' is missing",
    '{"id": "a", "nodes": {"n": {"span": [1], "concept": "x"}}}': r"'span' must be a span, .* not \[1\]",
    '{"id": "a", "nodes": {"n": {"span": [2, 1], "concept": "x"}}}': "a span is its first and its last word",
    '{"id": "a", "nodes": {"n": {"span": [1, 1], "concept": ""}}}': "'concept' must be a text, not ''",
    '{"id": "a", "edges": [[1, "mod", [2, 2]]]}': "'edges' must be a list of edges, .source, role, target.",
    '{"id": "a", "edges": [["x", "mod"]]}': "'edges' must be a list of edges",
    '{"id": "a", "edges": [["x", "mod", "y", "z"]]}': "'edges' must be a list of edges",
    '{"id": "a", "none": 1}': "'none' must be a list of words",
    '{"id": 2}': "'id' must be a text",
    '{"none": [0]}': "the key 'id' is missing",
    '{"id": "s", "nodes": {"n": {"span": [0, 0], "concept": "x"}}, "none": [0]}': "sentence s: the node",
    json.dumps(LINE): "sentence s1: there are facts of this sentence already",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_bad_line_is_named(tmp_path, line):
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps(LINE) + "\n\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"facts\.jsonl:3: .*{BAD_LINES[line]}"):
        read_given(path)


HUGE = 10**4000


@pytest.mark.parametrize(
    "facts",
    [
        {"nodes": {"n": {"span": [1, HUGE], "concept": "x"}}, "none": [0]},
        {"edges": [[[0, HUGE], "x", [1, 1]]], "none": [0]},
        {"top": [1, HUGE], "none": [0]},
        {"none": [HUGE]},
    ],
)
def test_a_span_of_any_length_is_refused_at_once(facts):
    given = given_of({"id": "s1", **json.loads(json.dumps(facts))})
    with pytest.raises(InputError, match="the sentence has 3 words") as raised:
        given.check(3)
    assert len(str(raised.value)) < 400


LONG = "x" * 5000


@pytest.mark.parametrize(
    "facts",
    [
        {"nodes": {LONG: {"span": [1, 1], "concept": LONG}}, "none": [1]},
        {"nodes": {LONG: 1}},
        {"nodes": {"a": {"span": [1, 2], "concept": LONG}, "b": {"span": [2, 3], "concept": LONG}}, "id": LONG},
        {"edges": [[LONG, LONG, LONG]]},
        {"top": LONG},
        {LONG: 1},
    ],
)
def test_messages_are_short_however_long_names_are(facts):
    with pytest.raises(InputError) as raised:
        given_of({"id": "s1", **facts}, "facts.jsonl", 3)
    assert len(str(raised.value)) < 400
