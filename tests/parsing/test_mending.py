"""Structures that no AMR has are mended in parses; what gold AMRs have stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.parsing.edits import on_one_line
from transition_parser.graphs.amr import AmrGraph, Edge, without_gaps
from transition_parser.graphs.bank import parse_entry, read_bank
from transition_parser.parsing.mending import SUBJECTS, entity_of, mended, with_mentions, with_types
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import Word, key


def words_of(text: str) -> list[Word]:
    return AmrSystem().read(text.split())


def mend(text: str, graph: str) -> str:
    """The mended graph on one line. Marks `~N` align nodes to words."""
    entry = parse_entry([f"# ::tok {text}", graph])
    return on_one_line(mended(entry.graph, entry.alignments, words_of(text)))


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("see me", "(s / see-01~0 :ARG1 (m / me~1))", "(s / see-01 :ARG1 (i / i))"),
        ("over years", "(o / over~0 :op1 (t / temporal-quantity~1 :unit (y / year~1)))", "(o / over :op1 (y / year))"),
        ("over 2 years", "(o / over~0 :op1 (t / temporal-quantity~2 :quant 2~1 :unit (y / year~2)))", "the same"),
        ("years", "(t / temporal-quantity~0 :unit (y / year~0 :mod (m / many~0)))", "(y / year :mod (m / many))"),
        ("cost $ 2", "(c / cost-01~0 :ARG2 (m / monetary-quantity~1 :quant 2~2 :unit (d / dollar~1 :unit-of"
         " (m2 / monetary-quantity~1 :mod (m3 / most~0)))))",
         "(c / cost-01 :ARG2 (m / monetary-quantity :quant 2 :unit (d / dollar :mod (m2 / most))))"),
        ("3:16 PM", '(t / temporal-quantity~1 :value "3:16"~0 :unit (p / pm~1))', '(d / date-entity :time "15:16")'),
        ("12:05 AM", '(t / temporal-quantity~1 :value "12:05"~0 :unit (a / am~1))', '(d / date-entity :time "0:05")'),
        ("KM", "(t / temporal-quantity~0)", "(k / km)"),
        ("vast scale", "(s / seismic-quantity~1 :mod (v / vast~0))", "(s / scale :mod (v / vast))"),
        ("=)", "(t / temporal-quantity~0)", "(t / thing)"),
        ("come soon", "(c / come-01~0 :time (d / date-entity~1))", "(c / come-01 :time (s / soon))"),
        ("come Monday", "(c / come-01~0 :time (d / date-entity~1 :weekday (m / monday~1)))", "the same"),
        ("June 2025", "(d / date-entity~0 :month 6~0 :day 2025~1)", "(d / date-entity :month 6 :year 2025)"),
        ("869 June", "(d / date-entity~1 :month 6~1 :day 869~0)", "(d / date-entity :month 6)"),
        ("June 5 - 6", "(d / date-entity~0 :month 6~0 :day 5~1 :year 6~3)", "(d / date-entity :month 6 :day 5)"),
        ("June 29", "(d / date-entity~0 :month 6~0 :year 29~1)", "(d / date-entity :month 6 :day 29)"),
        ("in 05", "(i / it~0 :time (d / date-entity~1 :year 5~1))", "the same"),
        ("12 2025", "(d / date-entity~0 :day 2025~1 :year 12~0 :month 3~0)",
         "(d / date-entity :year 2025 :day 12 :month 3)"),
        ("come soon", "(c / come-01~0 :time (d / date-entity~1 :day 40~1))", "(c / come-01 :time (s / soon))"),
        ("$ cost", "(c / cost-01~1 :ARG1 (d / dollar~0) :ARG2 (m / monetary-quantity~0 :unit d))", "the same"),
        ("in 98", "(i / it~0 :time (d / date-entity~1 :year 98~1))", "the same"),
        ("13 2025", "(d / date-entity~0 :month 13~0 :day 2025~1)", "(d / date-entity :day 13 :year 2025)"),
        ("13 31", "(d / date-entity~0 :month 13~0 :day 31~1)", "(d / date-entity :day 31)"),
        ("http://a.org/b", "(d / date-entity~0)", '(u / url-entity :value "http://a.org/b")'),
        ("mail Ann@b.com", "(m / mail-01~0 :ARG2 (a / ann@b.com-02~1))",
         '(m / mail-01 :ARG2 (e / email-address-entity :value "Ann@b.com"))'),
        ("see www.b.net", '(s / see-01~0 :ARG1 (c / city~1 :name (n / name~1 :op1 "www.b.net"~1)))',
         '(s / see-01 :ARG1 (u / url-entity :value "www.b.net"))'),
        ("Cem c@b.com 713-532-3836",
         '(p / person~0 :name (n / name~0 :op1 "Cem"~0 :op2 "c@b.com"~1 :op3 "713-532-3836"~2))',
         '(p / person :name (n / name :op1 "Cem") :mod (e / email-address-entity :value "c@b.com") :mod'
         ' (p2 / phone-number-entity :value "713-532-3836"))'),
        ("Cem.com Books", '(c / company~0 :name (n / name~0 :op1 "Cem.com"~0 :op2 "Books"~1))', "the same"),
        ("go before you leave",
         "(g / go-02~0 :ARG0 (y / you) :time (b / before~1 :op1 (l / leave-11~3 :ARG0 (y2 / you~2))))",
         "(g / go-02 :ARG0 (y / you) :time (b / before :op1 (l / leave-11 :ARG0 y)))"),
        ("I hurt me", "(h / hurt-01~1 :ARG0 (i / i~0) :ARG1 (m / me~2))", "(h / hurt-01 :ARG0 (i / i) :ARG1 i)"),
        ("you and you", "(a / and~1 :op1 (y / you~0) :op2 (y2 / you~2))", "the same"),
        ("you you", "(y / you~0 :mod (y2 / you~1))", "the same"),
        ("he saw him", "(s / see-01~1 :ARG0 (h / he~0) :ARG1 (h2 / he~2))", "the same"),
        ("A B.C.", '(c / city~0 :name (n / name~0 :op1 "A"~0 :op2 "B.C."~1))', "the same"),
    ],
)  # fmt: skip
def test_odd_structures_are_mended(text, graph, expected):
    assert mend(text, graph) == expected


SHE = "(s / she~0)"
BOB_AND_CEM = (
    '(a / and~3 :op1 (p / person~{0} :name (n / name~{0} :op1 "Bob"~{0})) :op2 (p2 / person~{1} :name'
    ' (n2 / name~{1} :op1 "Cem"~{1})))'
)
LOST = '(h / help-01~5 :ARG0 (a / and~3 :op1 (p / person~0 :name (n / name~0 :op1 "Ann"~0))))'


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("she wept , ran and sang",
         f"(w / weep-01~1 :ARG0 {SHE} :ARG1 (a / and~4 :op1 (r / run-02~3 :ARG0 s) :op2 (s2 / sing-01~5 :ARG0 s)))",
         "(a / and :op1 (w / weep-01 :ARG0 (s / she)) :op2 (r / run-02 :ARG0 s) :op3 (s2 / sing-01 :ARG0 s))"),
        ("she ran , wept and sang", f"(k / know-01 :ARG1 (a / and~4 :op1 (r / run-02~1 :ARG0 {SHE}) :op2 (s2 /"
         " sing-01~5 :ARG0 s) :ARG1-of (w / weep-01~3 :ARG0 s)))",
         "(k / know-01 :ARG1 (a / and :op1 (r / run-02 :ARG0 (s / she)) :op2 (w / weep-01 :ARG0 s) :op3 (s2 / sing-01"
         " :ARG0 s)))"),
        ("she wants to run and sing",
         f"(w / want-01~1 :ARG0 {SHE} :ARG1 (a / and~4 :op1 (r / run-02~3 :ARG0 s) :op2 (s2 / sing-01~5 :ARG0 s)))",
         "the same"),
        ("try , run and sing",
         "(t / try-01~0 :ARG1 (a / and~3 :op1 (r / run-02~2) :op2 (s / sing-01~4)))", "the same"),
        ("Ann , Bob and Cem help", LOST.replace("))))", ')) :op2 (p2 / person~4 :name (n2 / name~4 :op1 "Cem"~4))))'),
         '(h / help-01 :ARG0 (a / and :op1 (p / person :name (n / name :op1 "Ann")) :op2 (p3 / person :name (n3 / name'
         ' :op1 "Bob")) :op3 (p2 / person :name (n2 / name :op1 "Cem"))))'),
        ("I saw Ann , Bob and Cem", f"(s / see-01~1 :ARG1 {BOB_AND_CEM.format(4, 6)})",
         '(s / see-01 :ARG1 (a / and :op1 (p3 / person :name (n3 / name :op1 "Ann")) :op2 (p / person :name (n / name'
         ' :op1 "Bob")) :op3 (p2 / person :name (n2 / name :op1 "Cem"))))'),
        ("However , Bob and Cem help", f"(h / help-01~5 :ARG0 {BOB_AND_CEM.format(2, 4)})", "the same"),
        ("Ann , then and now helps", LOST, "the same"),
        ("Ann , her and Bob Cem", LOST, "the same"),
    ],
)  # fmt: skip
def test_what_stands_in_a_list_becomes_a_member(text, graph, expected):
    assert mend(text, graph) == expected


def test_a_new_member_gets_its_word():
    entry = parse_entry(["# ::tok Ann , Bob and she helps", LOST.replace("op1 (p", "op2 (s / she~4) :op1 (p")])
    words = words_of(entry.metadata["tok"])
    done = mended(entry.graph, entry.alignments, words)
    assert done is not None
    alignments = with_mentions(done.graph, [entry.alignments[node] for node in done.nodes], words)
    places = {label: alignments[node] for node, label in enumerate(done.graph.labels)}
    assert places['"Ann"'] == (0,) and places['"Bob"'] == (2,) and places["she"] == (4,)


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
    entry = parse_entry([f"# ::tok {text}", graph])
    done = with_types(entry.graph, entry.alignments, words_of(text), known)
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
    entry = parse_entry([f"# ::tok {text}", graph])
    done = with_types(entry.graph, entry.alignments, words_of(text))
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
    entry, words = parse_entry(["# ::tok HER2 and Zip9", graph]), words_of("HER2 and Zip9")
    done = with_types(entry.graph, entry.alignments, words, [key(words[:1]) for _ in known])
    assert (done.graph if done else entry.graph).labels[1] == expected


def test_the_last_word_is_not_the_word_before_a_name_at_the_beginning():
    entry = parse_entry(
        ["# ::tok Min Park left the", '(x / person~0,1 :name (n / name~0,1 :op1 "Min"~0 :op2 "Park"~1))']
    )
    assert with_types(entry.graph, entry.alignments, words_of("Min Park left the")) is None


def test_names_without_words_stay_but_get_the_word_that_they_have():
    entry = parse_entry(["# ::tok Ann", '(x / city :name (n / name :op1 "Ann"))'])
    alignments = [()] * len(entry.graph)
    assert with_types(entry.graph, alignments, words_of("Ann")) is None
    assert with_mentions(entry.graph, alignments, words_of("Eve")) == alignments
    assert with_mentions(entry.graph, alignments, words_of("Ann")) == [(0,)] * len(entry.graph)


def test_addresses():
    assert entity_of("(713)853-7408") == entity_of("303-832-8160") == "phone-number-entity"
    assert entity_of("U.S.") is entity_of("3.5") is entity_of("and/or") is entity_of("beta@-@actin") is None
    assert entity_of("Ann@ACME") is None and entity_of("Ann@acme.com") == "email-address-entity"
    assert SUBJECTS["us"] == "we" and SUBJECTS["it"] == "it"


LABELS = ("me", "and", "date-entity", "temporal-quantity", "name", "a@b.c", "www.x.org-02", "year")
CONSTANTS = ("40", "2025", '"3:16"', '"a@b.c"', '"x"')
ROLES = ("name", "unit", "value", "day", "month", "year", "op1", "quant", "ARG1")


@st.composite
def odd_graphs(draw):
    """Connected graphs of labels and roles that mends look at."""
    edges = []
    labels = [draw(st.sampled_from(LABELS))]
    constants = set()
    for node in range(1, draw(st.integers(1, 7))):
        other = draw(st.sampled_from([one for one in range(node) if one not in constants]))
        labels.append(draw(st.sampled_from(LABELS + CONSTANTS)))
        role = draw(st.sampled_from(ROLES))
        if labels[-1] in CONSTANTS:
            constants.add(node)
            edges.append(Edge(other, role, node))
        else:
            edges.append(draw(st.sampled_from([Edge(other, role, node), Edge(node, role, other)])))
    top = draw(st.sampled_from([node for node in range(len(labels)) if node not in constants]))
    return AmrGraph(tuple(labels), frozenset(constants), tuple(edges), top)


@given(odd_graphs())
def test_mended_graphs_are_connected_and_have_no_such_structure(graph):
    alignments = [(0,)] * len(graph)
    done = mended(graph, alignments, words_of("me"))
    if done is None:
        return
    whole = done.graph
    assert whole.is_connected() and len(done.nodes) == len(whole) and len(done.edges) == len(whole.edges)
    assert all(0 <= node < len(graph) for node in done.nodes)
    heads = [edge.target for edge in whole.edges if edge.target in whole.constants]
    assert sorted(heads) == sorted(whole.constants) and not any(e.source in whole.constants for e in whole.edges)
    assert not {"me", "a@b.c", "www.x.org-02"}.intersection(
        label for node, label in enumerate(whole.labels) if node not in whole.constants
    )


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("I hurt me and My dog", "(h / hurt-01~1 :ARG0 (i / i~0))", [(1,), (0, 2, 4)]),
        ("We said mine is ours", "(s / say-01~1 :ARG0 (w / we~0) :ARG1 (i / i))", [(1,), (0, 4), (2,)]),
        ("we and US ; us", "(a / and~1 :op1 (w / we~0))", [(1,), (0, 4)]),
        ("he and him ; his", "(a / and~1 :op1 (h / he~0) :op2 (h2 / he~2))", [(1,), (0,), (2,)]),
        ("it seems it slept", "(s / seem-01~1 :ARG1 (s2 / sleep-01~3 :ARG0 (i / it~2)))", [(1,), (3,), (2,)]),
        ("the dog and its dog", "(a / and~2 :op1 (d / dog~1) :op2 (d2 / dog~4))", [(2,), (1,), (4,)]),
        ("You saw You and Yours", '(s / see-01~1 :ARG0 (y / you~0) :ARG1 (b / band :name (n / name~2,3,4 '
         ':op1 "You"~2 :op2 "and"~3 :op3 "Yours"~4)))', [(1,), (0,), (), (2, 3, 4), (2,), (3,), (4,)]),
    ],
)  # fmt: skip
def test_a_shared_node_of_a_pronoun_has_all_its_mentions(text, graph, expected):
    entry = parse_entry([f"# ::tok {text}", graph])
    assert with_mentions(entry.graph, [*entry.alignments], words_of(text)) == expected


def test_the_graphs_of_the_yardstick_stay():
    for entry in read_bank(ROOT / "tests" / "data" / "yardstick.amr"):
        graph = entry.graph
        assert (
            mended(graph, [(0,)] * len(graph), words_of("x")) is None
            or mended(graph, [(0,)] * len(graph), words_of("x")).graph.labels == graph.labels
        )
