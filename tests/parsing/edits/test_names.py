"""Names get the types that words say; known names that search left out come back."""

from collections.abc import Collection

import pytest

from tests.parsing.edits.helpers import draft_of
from transition_parser.parsing.edits.draft import Draft, Edited
from transition_parser.parsing.edits.names import entity_of, type_names
from transition_parser.parsing.edits.pronouns import with_mentions
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import key


def typed(text: str, graph: str, known: Collection[str] = ()) -> Edited | None:
    draft = draft_of(text, graph, known=known)
    type_names(draft)
    return draft.result()


@pytest.mark.parametrize(
    ("text", "given", "known", "expected"),
    [
        ("Lake Balaton", "person", (), "lake"),
        ("Lake Balaton", "person", ("lake balaton",), "person"),
        ("Lake Balaton", "mountain", (), "lake"),
        ("Lake Balaton", "university", (), "lake"),
        ("Hotel California", "song", (), "song"),
        ("Min Park", "person", (), "person"),
        ("the Min Park", "person", (), "park"),
        ("Hyde Park", "city", (), "park"),
        ("North Carolina", "country", ("north carolina",), "state"),
        ("North Carolina", "river", (), "state"),
        ("North Dakota", "person", (), "state"),
        ("North Dakota", "person", ("north dakota",), "state"),
    ],
)
def test_names_get_the_types_of_their_heads_or_of_the_table(text, given, known, expected):
    *before, first, second = text.split()
    a, b = len(before), len(before) + 1
    graph = f'(x / {given}~{a},{b} :name (n / name~{a},{b} :op1 "{first}"~{a} :op2 "{second}"~{b}))'
    done = typed(text, graph, known)
    assert (done is None) == (given == expected)
    assert (done.graph.labels[done.graph.top] if done else given) == expected


@pytest.mark.parametrize(
    ("given", "beside", "known", "expected"),
    [
        ("protein", "city", (), "enzyme"),
        ("protein", "city", ("HER2",), "protein"),
        ("gene", "protein", (), "gene"),
        ("person", "city", (), "person"),
    ],
)
def test_names_of_genes_get_the_kind_of_their_product(given, beside, known, expected):
    other = f'(o / {beside}~2 :name (m / name~2 :op1 "Zip9"~2))'
    graph = f'(a / and~1 :op1 (x / {given}~0 :name (n / name~0 :op1 "HER2"~0)) :op2 {other})'
    done = typed("HER2 and Zip9", graph, [key(AmrSystem().read(["HER2"])) for _ in known])
    assert (done.graph.labels[1] if done else given) == expected


def test_the_last_word_is_not_the_word_before_a_name_at_the_beginning():
    graph = '(x / person~0,1 :name (n / name~0,1 :op1 "Min"~0 :op2 "Park"~1))'
    assert typed("Min Park left the", graph) is None


def test_names_without_words_stay_but_get_the_word_that_they_have():
    named = draft_of("Ann", '(x / city :name (n / name :op1 "Ann"))')
    draft = Draft(named.graph, [()] * len(named.graph), named.words)
    type_names(draft)
    assert draft.result() is None
    assert with_mentions(draft.graph, draft.alignments, AmrSystem().read(["Eve"])) == draft.alignments
    assert with_mentions(draft.graph, draft.alignments, draft.words) == [(0,)] * len(draft.graph)


def test_addresses():
    assert entity_of("(713)853-7408") == entity_of("303-832-8160") == "phone-number-entity"
    assert entity_of("U.S.") is entity_of("3.5") is entity_of("and/or") is entity_of("beta@-@actin") is None
    assert entity_of("Ann@ACME") is None and entity_of("Ann@acme.com") == "email-address-entity"
