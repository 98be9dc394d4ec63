"""Facts that are given about AMRs: what may be said, and what files may hold."""

import json

import pytest

from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import AmrEntry
from transition_parser.parsing.given import (
    Given,
    GivenEdge,
    GivenFacts,
    GivenNode,
    given_of,
    normal_edge,
    read_given,
)

DOG, BARK = GivenNode((1, 1), "dog", "d"), GivenNode((2, 2), "bark-01", "b")

CONTRADICTIONS = {
    "have the same words: if you want both nodes, give each a variable": lambda: Given(
        (GivenNode((1, 1), "dog"), GivenNode((1, 1), "cat"))
    ),
    "have the same words": lambda: Given((DOG, GivenNode((1, 1), "city", name=()))),
    "overlap": lambda: Given((GivenNode((0, 1), "dog"), GivenNode((1, 2), "cat"))),
    "two nodes have the variable 'd'": lambda: Given((DOG, GivenNode((2, 2), "cat", "d"))),
    "no node has the variable 'x'": lambda: Given((DOG,), edges=(GivenEdge("d", "ARG0", "x"),)),
    "the top: no node has the variable 'x'": lambda: Given((DOG,), top="x"),
    "contradicts that word 1 must have no node": lambda: Given((DOG,), none=frozenset({1})),
    "but word 1 must have none": lambda: Given(edges=(GivenEdge((0, 0), "mod", (1, 1)),), none=frozenset({1})),
    "goes from a node to itself": lambda: Given((DOG,), edges=(GivenEdge("d", "ARG0", "d"),)),
    "word 1 to word 1 goes from a node to itself": lambda: Given(edges=(GivenEdge((1, 1), "ARG0", (1, 1)),)),
    "has no role": lambda: Given(edges=(GivenEdge((1, 1), "", (2, 2)),)),
    "a constant has no edges of its own": lambda: Given(
        (DOG, GivenNode((2, 2), "-", "n")), edges=(GivenEdge("n", "polarity", "d"),)
    ),
    "give a constant two heads": lambda: Given(
        (DOG, BARK, GivenNode((3, 3), "-", "n")),
        edges=(GivenEdge("d", "polarity", "n"), GivenEdge("b", "polarity", "n")),
    ),
    "the top is n, a constant": lambda: Given((GivenNode((2, 2), "-", "n"),), top="n"),
    "a constant, has a name": lambda: Given((GivenNode((2, 2), "-", name=("Dash",)),)),
    "is not a span": lambda: Given((GivenNode((2, 1), "dog"),)),
}


@pytest.mark.parametrize("problem", CONTRADICTIONS)
def test_facts_that_contradict_each_other_are_refused(problem):
    with pytest.raises(InputError, match=problem):
        CONTRADICTIONS[problem]()


@pytest.mark.parametrize(
    ("given", "words", "problem"),
    [
        (Given((DOG,)), 1, "the node dog of word 1: the sentence has 1 words"),
        (Given(edges=(GivenEdge((0, 0), "mod", (3, 4)),)), 4, "from word 0 to words 3–4: the sentence has 4 words"),
        (Given(none=frozenset({0, 1})), 2, "no word has a node"),
        (Given(none=frozenset({5})), 2, "a word without a node, 5: the sentence has 2 words"),
        (Given(top=(2, 2)), 2, "the top: the sentence has 2 words"),
        (Given(tuple(GivenNode((0, 0), "dog", f"d{i}") for i in range(10))), 1, "10 nodes.* may have 9"),
    ],
)
def test_facts_that_a_sentence_can_not_have_are_refused(given, words, problem):
    with pytest.raises(InputError, match=problem):
        given.check(words)
    given.check(30)


def test_inverse_roles_are_turned_round_unless_the_target_is_a_constant():
    given = Given(
        (DOG, BARK, GivenNode((3, 3), "-", "n")),
        edges=(GivenEdge("d", "ARG0-of", "b"), GivenEdge("d", "domain", "b"), GivenEdge("d", "x-of", "n")),
    )
    assert [normal_edge(given, edge) for edge in given.edges] == [(1, "ARG0", 0), (1, "mod", 0), (0, "x-of", 2)]


LINE = {
    "id": "s1",
    "nodes": [
        {"span": [2, 2], "concept": "price-01", "variable": "p"},
        {"span": [0, 1], "concept": "city", "name": ["New", "York"], "variable": "c"},
    ],
    "edges": [{"source": "p", "role": "ARG1", "target": [3, 5]}],
    "none": [6],
    "top": "p",
    "complete": True,
}


def test_a_line_of_facts():
    given = given_of(LINE, "facts.jsonl", 3)
    assert given == Given(
        (GivenNode((2, 2), "price-01", "p"), GivenNode((0, 1), "city", "c", name=("New", "York"))),
        (GivenEdge("p", "ARG1", (3, 5)),),
        frozenset({6}),
        "p",
        True,
        "s1",
        path="facts.jsonl",
        line=3,
    )
    assert len(given) == 5
    assert str(given.error("x")) == "facts.jsonl:3: sentence s1: x"


BAD_LINES = {
    "not JSON": ("{", "not JSON: "),
    "a list": ("[]", "must be a JSON object"),
    "an unknown key": ('{"node": []}', "unknown key 'node'"),
    "an unknown key of a node": ('{"id": "a", "nodes": [{"words": 1}]}', "sentence a: nodes: unknown key 'words'"),
    "no concept": ('{"nodes": [{"span": [1, 1]}]}', "the key 'concept' is missing"),
    "a span of one number": ('{"nodes": [{"span": [1], "concept": "x"}]}', r"'span' must be a span, .* not \[1\]"),
    "a span that is reversed": ('{"nodes": [{"span": [2, 1], "concept": "x"}]}', "must be a span"),
    "an empty concept": ('{"nodes": [{"span": [1, 1], "concept": ""}]}', "'concept' must be a text, not ''"),
    "a number as an end": (
        '{"edges": [{"source": 1, "role": "mod", "target": [2, 2]}]}',
        "must be a variable, or a span",
    ),
    "words that are no list": ('{"none": 1}', "'none' must be a list of words"),
    "an id that is a number": ('{"id": 2}', "'id' must be a text"),
    "a contradiction": (
        '{"id": "s", "nodes": [{"span": [0, 0], "concept": "x"}], "none": [0]}',
        "sentence s: the node",
    ),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named(tmp_path, name):
    path, (line, problem) = tmp_path / "facts.jsonl", BAD_LINES[name]
    path.write_text(json.dumps(LINE) + "\n\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"facts\.jsonl:3: .*{problem}"):
        read_given(path)


HUGE = 10**4000


@pytest.mark.parametrize(
    "facts",
    [
        {"nodes": [{"span": [1, HUGE], "concept": "x"}], "none": [0]},
        {"nodes": [{"span": [1, HUGE], "concept": "x", "name": []}]},
        {"edges": [{"source": [0, HUGE], "role": "x", "target": [1, 1]}], "none": [0]},
        {"top": [1, HUGE], "none": [0]},
        {"none": [HUGE]},
    ],
)
def test_a_span_of_any_length_is_refused_at_once(facts):
    given = given_of(json.loads(json.dumps(facts)))
    with pytest.raises(InputError, match="the sentence has 3 words") as raised:
        given.check(3)
    assert len(str(raised.value)) < 400


def sentences(*ids: str | None) -> list[AmrEntry]:
    return [AmrEntry.from_words(["Dogs"], {} if name is None else {"id": name}) for name in ids]


def test_ids_tell_the_sentences():
    a, b = Given((DOG,), id="a"), Given((BARK,), id="b")
    given = GivenFacts({"a": a, "b": b})
    assert [given.next(sentence) for sentence in sentences("a", None, "c")] == [a, None, None]
    with pytest.warns(UserWarning, match="the inputs do not have the sentence of these facts$"):
        given.warn_of_unused()


def test_without_ids_the_order_tells_the_sentences():
    a, b = Given((DOG,)), Given((BARK,))
    given = GivenFacts([a, None, b, b])
    assert [given.next(sentence) for sentence in sentences("a", None, "c")] == [a, None, b]


@pytest.mark.parametrize(("line", "problem"), [({**LINE}, "sentence .*: there are facts of"), ({"none": [0]}, "no id")])
def test_each_line_of_a_file_has_an_id_of_its_own(line, problem, tmp_path):
    path = tmp_path / "facts.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"facts\.jsonl:2: .*{problem}"):
        read_given(path)


LONG = "x" * 5000


@pytest.mark.parametrize(
    "facts",
    [
        {"nodes": [{"span": [1, 1], "concept": LONG, "variable": LONG}] * 2},
        {"nodes": [{"span": [1, 1], "concept": LONG}] * 2, "id": LONG},
        {"nodes": [{"span": [1, 1], "concept": LONG}], "none": [1]},
        {"nodes": [{"span": [1, 1], "concept": LONG, "name": []}], "none": [1]},
        {"edges": [{"source": LONG, "role": LONG, "target": LONG}]},
        {"top": LONG},
        {LONG: 1},
    ],
)
def test_messages_are_short_however_long_names_are(facts):
    with pytest.raises(InputError) as raised:
        given_of(facts, "facts.jsonl", 3)
    assert len(str(raised.value)) < 400
