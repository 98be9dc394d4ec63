"""Names get the types that words say; known names that search left out come back."""

from collections.abc import Collection

import pytest

from tests.parsing.edits.helpers import after, draft_of
from transition_parser.graphs.amr import without_gaps
from transition_parser.parsing.edits.draft import Draft, Edited
from transition_parser.parsing.edits.names import add_names, type_names
from transition_parser.parsing.edits.pronouns import with_mentions
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import key


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("IL-6 receptor levels rose", '(r / rise-01~3 :ARG1 (l / level~2 :mod (p / protein~0 :name (n / name~0 :op1'
         ' "IL-6"~0))))', '(r / rise-01 :ARG1 (l / level :mod (p / protein :name (n / name :op1 "IL-6" :op2'
         ' "receptor"))))'),
        ("IL-6 receptors rose", '(r / rise-01~2 :ARG1 (r2 / receptor~1 :mod (p / protein~0 :name (n / name~0 :op1'
         ' "IL-6"~0))))', "the same"),
        ("the MYC gene mutates", '(m / mutate-01~3 :ARG1 (p / protein~1 :name (n / name~1 :op1 "MYC"~1)))',
         '(m / mutate-01 :ARG1 (g / gene :name (n / name :op1 "MYC")))'),
        ("SHP2 phosphatase acts", '(a / act-02~2 :ARG0 (r / respond-01~1 :ARG2 (e / enzyme~0 :name (n / name~0 :op1'
         ' "SHP2"~0))))', '(a / act-02 :ARG0 (e / enzyme :name (n / name :op1 "SHP2" :op2 "phosphatase")))'),
        ("Smith database fails", '(f / fail-01~2 :ARG1 (d / database~1 :mod (p / person~0 :name (n / name~0 :op1'
         ' "Smith"~0))))', "the same"),
        ("CaCo cells grow", "(g / grow-01~2 :ARG1 (c / cell~1 :mod (c2 / caco~0)))",
         '(g / grow-01 :ARG1 (c / cell-line :name (n / name :op1 "CaCo")))'),
        ("Blood cells grow", "(g / grow-01~2 :ARG1 (c / cell~1 :mod (b / blood~0)))", "the same"),
    ],
)  # fmt: skip
def test_names_of_genes_and_cells_keep_their_heads(text, graph, expected):
    assert after(type_names, text, graph) == expected


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
    ("text", "graph", "expected"),
    [
        ("the film Ran", '(p / person~2 :name (n / name~2 :op1 "Ran"~2) :mod (f / film~1))',
         '(f / film :name (n / name :op1 "Ran"))'),
        ("the film Ran", '(f / film~1 :mod (p / person~2 :name (n / name~2 :op1 "Ran"~2)) :mod (o / old))',
         '(f / film :name (n / name :op1 "Ran") :mod (o / old))'),
        ("the film Ran", '(p / person~2 :name (n / name~2 :op1 "Ran"~2))', '(f / film :name (n / name :op1 "Ran"))'),
        ("the film Ran", '(p / person~1,2 :name (n / name~1,2 :op1 "film"~1 :op2 "Ran"~2))',
         '(f / film :name (n / name :op1 "Ran"))'),
        ("a book Ann wrote", '(b / book~1 :ARG1-of (w / write-01~3 :ARG0 (p / person~2 :name (n / name~2 :op1 "Ann"~2'
         "))))", None),
        ("on the isle and the island of Rab", '(o / on~0 :op1 (i / island~5 :part-of (c / city~7 :name (n / name~7'
         ' :op1 "Rab"~7))))', '(o / on :op1 (i / island :name (n / name :op1 "Rab")))'),
        ("Ann", '(p / person~0 :name (n / name~0 :op1 "Ann"~0))', None),
        ("go", "(g / go-02~0)", None),
    ],
)  # fmt: skip
def test_a_noun_before_a_name_becomes_its_type(text, graph, expected):
    done = typed(text, graph)
    if expected is None:
        assert done is None
    else:
        assert " ".join(without_gaps(done.graph).to_penman().split()) == expected
        assert len(done.nodes) == len(done.graph) and len(done.edges) == len(done.graph.edges)


@pytest.mark.parametrize(
    ("given", "beside", "known", "expected"),
    [
        ("protein", "city", (), "enzyme"),
        ("protein", "city", ("HER2",), "protein"),
        ("gene", "protein", (), "gene"),
        ("person", "city", (), "person"),
        ("person", "cell-line", (), "enzyme"),
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


NAME = ':name (n / name :op1 "{}"))'


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("MIT is in Rome", "(b / be-located-at-91~1 :ARG2 (t / there~3))",
         f"(b / be-located-at-91 :ARG2 (t / there) :ARG1 (u / university {NAME.format('MIT')})"),
        ("Ikea lost it", "(l / lose-02~1 :ARG0 (y / you))", f"(l / lose-02 :ARG0 (c / company {NAME.format('Ikea')})"),
        ("The Louvre is big", "(b / big~3)", f"(b / big :domain (m / museum {NAME.format('Louvre')})"),
        ("Tom can run", "(r / run-02~2)", f"(r / run-02 :ARG0 (p / person {NAME.format('Tom')})"),
        ("Tom can run", "(r / run-02~2 :ARG0 (y / you~0))", "the same"),
        ("he can run to Tom", "(r / run-02~2 :ARG0 (h / he~0))", "the same"),
    ],
)  # fmt: skip
def test_known_names_that_no_node_has_get_one(text, graph, expected):
    assert after(add_names, text, graph) == expected
