"""Which words of sentences are names that everybody knows, with which type and title."""

import pytest

from transition_parser.text.names import known, known_spans, known_type, normal, title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("London is big .", ["London"]), ("London .", ["London"]), ("Barack Obama", ["Barack Obama"])),
        *(("I met him in New York .", ["New York"]), ("The New York Times said so", ["New York Times"])),
        *(("I love McDonald 's .", ["McDonald 's"]), ("the Coca - Cola ad", ["Coca - Cola"])),
        *(("The FBI arrested him", ["FBI"]), ("PLEASE HELP US NOW", []), ("help US NOW", [])),
        *(("Apple sells phones", ["Apple"]), ("Apple pies", []), ("They have left Apple", ["Apple"]), ("an apple", [])),
        *(("Visa announced it", ["Visa"]), ("Visa rules changed", []), ("Turkey is big", ["Turkey"])),
        *(("Jack plays football", ["Jack"]), ("Jack up the car", []), ("Mark the page", [])),
        *(("Reading is a pleasure", []), ("He lives in Reading", ["Reading"]), ("How Reading Is Fun", [])),
        *(("The Guardian published it", ["Guardian"]), ("Guardian angels exist", []), ("the guardian", [])),
        *(("", []), (".", []), ("london is big", [])),
    ],
)  # fmt: skip
def test_words_that_are_surely_known_names(text, expected):
    forms = text.split()
    assert [" ".join(forms[span.start : span.stop]) for span in known_spans(forms)] == expected


@pytest.mark.parametrize(
    ("name", "label", "before", "expected"),
    [
        *(("Dover", "city", "from", "city"), ("Dover", "company", "", "company")),
        *(("London", "person", "", "city"), ("London", "company", "", "city"), ("Zzyx", "city", "", None)),
        *(("Amazon", "person", "", "company"), ("Amazon", "person", "the", "river")),
        *(("Amazon", "river", "wide", "river"), ("The Guardian", "city", "", "newspaper")),
        *(("Lena", "river", "", "person"), ("Lena", "river", "the", "river")),
        *(("Georgia", "state", "", "state"), ("Georgia", "person", "in", "country"), ("Wu", "person", "", None)),
        *(("Tesla", "person", "did", "person"), ("Tesla", "person", "", "company")),
        *(("Jordan", "person", "in", "country"), ("Novartis", "person", "", "company")),
    ],
)  # fmt: skip
def test_the_type_of_a_known_name(name, label, before, expected):
    assert known_type(name.split(), label, before) == expected


def test_words_around_a_name_choose_among_its_types():
    assert known_type(["Jordan"], "person", said="person") == "person"
    assert known_type(["Jordan"], "person", said="ship") == "country"
    assert known_type([], "person") is None


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        *(("London", "city", "London"), ("London", "person", None), ("Lena", "person", None)),
        *(("Einstein", "person", "Albert Einstein"), ("Sao Paulo", "city", "São Paulo"), ("Zzyx", "city", None)),
        *(("Amazon", "company", "Amazon (company)"), ("Amazon", "river", "Amazon River")),
        *(("Austin", "city", "Austin, Texas"), ("The Guardian", "newspaper", "The Guardian")),
    ],
)  # fmt: skip
def test_titles_of_known_names(name, kind, expected):
    assert title(name.split(), kind) == expected


def test_names_are_known_without_accents_and_split_signs():
    assert normal("Citroën 's") == "Citroen's" and known("Nestle") == known("Nestlé") != []
