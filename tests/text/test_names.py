"""What words say about the names of a sentence."""

import pytest

from transition_parser.text.names import gene_product, names_inside, noun_before, tables, type_in_context, type_of
from transition_parser.transitions.amr import AmrSystem


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("Lake Balaton", "lake"), ("Great Slave Lake", "lake"), ("University of Graz", "university")),
        *(("Seven Years War", "war"), ("World War II", "war"), ("Hurricane Iris", "natural-disaster")),
        *(("Iberia Airlines", "company"), ("Mt. Cook", "mountain")),
        *(("Lake Victoria Hotel", "hotel"), ("Mount Sinai Hospital", "hospital"), ("Lake Como", "lake")),
        *(("Lake", None), ("of Lake", "lake"), ("Ann Smith", None), ("II", None), ("", None)),
    ],
)  # fmt: skip
def test_the_head_of_a_name_gives_its_type(name, kind):
    assert type_of(name.split()) == kind


def test_heads_that_are_surnames_give_persons_no_type():
    assert type_of(["Min", "Park"], as_person=True) is None and type_of(["Park", "Hotel"], as_person=True) == "hotel"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oxo saw Ixa and NATO", {2: False, 4: True}),
        ("She said to him : Come , Ixa", {7: False}),
        ("Dogs Bite Men in Uxm", {}),
        ("Dogs Bite Men in Ulm", {4: True}),
        ("Ixa threatened Mr. Rax", {2: False, 3: False}),
        ("the White River Act of Ohio was horrid", {1: True, 2: True, 3: True, 4: True, 5: True}),
        ("he sang the song Imagine", {4: True}),
        ("he met the poet Oxid and Lixia", {6: False}),
        ("Peru is far from here", {0: True}),
        ("near Uxm , not the", {1: False}),
    ],
)
def test_words_inside_names(text, expected):
    assert names_inside(text.split()) == expected


@pytest.mark.parametrize(
    ("text", "places", "expected"),
    [
        ("his old ship Emma sank", [3], 2),
        ("old ship Emma sank", [2], None),
        ("the ship sank", [2], None),
        ("the city of New Ulm", [3, 4], 1),
        ("the oldest city of Peru", [4], None),
        ("the city of Ulm 's mayor", [3], None),
        ("of Ulm", [1], None),
        ("Ulm", [0], None),
    ],
)
def test_nouns_before_names(text, places, expected):
    assert noun_before(text.split(), places) == expected


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("they slept aboard the X", 4, "ship"),
        ("the banks of the X", 4, "river"),
        ("on the banks of X", 4, "river"),
        ("the X flows east", 1, "river"),
        ("we watched X", 2, "film"),
        ("the X sailed", 1, "ship"),
        ("X sailed", 0, None),
        ("X is a long novel", 0, "novel"),
        ("X , an old town", 0, "town"),
        ("X has an old town", 0, None),
    ],
)
def test_words_around_names_say_types(text, place, expected):
    lemmas = [word.lemma for word in AmrSystem().read(text.split())]
    assert type_in_context(lemmas, place, place + 1) == expected
    weak = expected if expected != "film" else None
    assert type_in_context(lemmas, place, place + 1, as_person=True) == weak


@pytest.mark.parametrize(
    ("name", "product"),
    [
        *(("HER2", "enzyme"), ("Cdc25C", "enzyme"), ("CD72", "protein")),
        *(("her-2", "enzyme"), ("GSK-3β", "enzyme"), ("TGF-alpha", "protein")),
        *(("MEK", "enzyme"), ("MEK1/2", "enzyme"), ("STAT", "protein"), ("PKC", "enzyme")),
        *(("MEK162", None), ("MEK/ERK", None), ("Ca2", None), ("A375", None)),
        *(("Fan", "protein"), ("Li", None), ("", None)),
        *(("PI3 kinase", "enzyme"), ("S phase", None), ("disease", None)),
        ("Phase", None),
        ("Kinase", "enzyme"),
    ],
)  # fmt: skip
def test_symbols_of_genes_say_the_kind_of_their_products(name, product):
    assert gene_product(name.split(" ")) == product


def test_tables_are_whole():
    found = tables()
    assert {*found["weak"]} <= {*found["before"], *found["after"]}
    assert {*found["surname"], *found["first head"]} <= {*found["head"]}
