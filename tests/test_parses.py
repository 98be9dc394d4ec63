"""AMR parses from derivations, without a network."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.amr_walks import FORMS, LEXICON, legal_actions
from tests.states.test_machine import SPECIAL
from transition_parser.errors import InputError
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry, parse_entry
from transition_parser.parses import AmrParse, replay_amr
from transition_parser.search import Hypothesis
from transition_parser.states.table import ActionTable
from transition_parser.text.pieces import normalise
from transition_parser.transitions import make_system

DERIVATION = "SHIFT COPY_LEMMA SHIFT COPY_SENSE01 ROOT LA(ARG0) REDUCE SHIFT MERGE ENTITY(city) RA(ARG1) REDUCE CLOSE"
WIKI = {'city "New" "York"': '"New_York_City"', '"New" "York"': '"New_York_(state)"', '"Ann"': '"Ann_B"'}


def parse_of(sentence: str, derivation: str, metadata: dict[str, str] | None = None, wiki=None) -> AmrParse:
    actions = derivation.split()
    kinds = "SHIFT MERGE COPY_LEMMA COPY_SENSE01 COPY_WORD ENTITY(x) LA(x) RA(x) REDUCE SWAP ROOT CLOSE PRED(x)"
    tokens = [*SPECIAL, *dict.fromkeys([*actions, *kinds.split()])]
    table = ActionTable(make_system("amr"), tokens)
    hypothesis = Hypothesis([tokens.index(action) for action in actions], [-0.5] * len(actions), -0.25)
    words = [normalise(word) for word in sentence.split()]
    return replay_amr(table, AmrEntry.from_words(sentence.split(), metadata), words, hypothesis, wiki)


def test_a_derivation_becomes_an_entry():
    parse = parse_of("She likes New York", DERIVATION, {"id": "a", "note": "x"}, WIKI)
    assert str(parse.annotated(marks=True)) == (
        "# ::id a\n# ::note x\n# ::snt She likes New York\n# ::tok She likes New York\n"
        "# ::alignments 0-1|0.0 1-2|0 2-4|0.1+0.1.0+0.1.0.0+0.1.0.1\n"
        "# ::node\t0\tlike-01\t1-2\n# ::node\t0.0\tshe\t0-1\n# ::node\t0.1\tcity\t2-4\n"
        '# ::node\t0.1.0\tname\t2-4\n# ::node\t0.1.0.0\t"New"\t2-4\n# ::node\t0.1.0.1\t"York"\t2-4\n'
        "(l / like-01~e.1\n      :ARG0 (s / she~e.0)\n      :ARG1 (c / city~e.2,3\n"
        '            :wiki "New_York_City"\n            :name (n / name~e.2,3\n'
        '                  :op1 "New"~e.2,3\n                  :op2 "York"~e.2,3)))\n\n'
    )


@pytest.mark.parametrize("marks", [True, False])
def test_what_is_written_is_read_back(marks):
    parse = parse_of("She likes New York", DERIVATION, wiki=WIKI)
    entry = parse.annotated(scores=True, actions=True, marks=marks)
    again = parse_entry(str(entry).strip().split("\n"))
    assert sorted(zip(again.graph.labels, again.alignments)) == sorted(zip(parse.graph.labels, parse.alignments))
    assert again.metadata["parse_score"] == "-0.2500" and again.metadata["actions"] == DERIVATION
    assert list(again.wiki.values()) == ['"New_York_City"']
    assert "wiki" not in str(parse.annotated(wiki=False)) and not parse.annotated(wiki=False).wiki


@given(st.data())
def test_an_entry_is_what_reading_its_text_gives(data):
    words = data.draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=5))
    system = make_system("amr", lexicon=LEXICON)
    state = system.initial(system.read(words))
    while not system.is_final(state):
        state = system.apply(state, data.draw(st.sampled_from(legal_actions(system, state))))
    graph = system.result(state)
    wiki = {node: '"Berlin"' for node in range(len(graph)) if node not in graph.constants and node % 3 == 0}
    parse = AmrParse(AmrEntry.from_words(words), graph, tuple(system.alignments(state)), wiki, (), 0.0)
    entry = parse.annotated(marks=True)
    again = parse_entry(str(entry).strip().split("\n"))
    for name in ("graph", "variables", "alignments", "wiki", "paths", "penman", "comments"):
        assert getattr(again, name) == getattr(entry, name), name
    plain = parse.annotated()
    assert (plain.graph, plain.comments) == (entry.graph, entry.comments) and "~e." not in plain.penman


@pytest.mark.parametrize("depth", [900, 1500])
def test_a_deeply_nested_graph_is_written_or_named(depth):
    edges = tuple(Edge(node, "ARG0", node + 1) for node in range(depth - 1))
    graph = AmrGraph(("thing",) * depth, frozenset(), edges)
    parse = AmrParse(AmrEntry.from_words(["x"], {"id": "deep"}), graph, ((0,),) * depth, {}, (), 0.0)
    if depth < 1000:
        assert parse_entry(str(parse.annotated()).strip().split("\n")).graph == graph
    else:
        with pytest.raises(InputError, match="sentence deep: the graph would be written more than 1000 levels deep"):
            parse.annotated()


def test_what_an_earlier_parse_wrote_is_replaced():
    old = {"id": "a", "alignments": "0-1|0.9", "node": "0\tx", "actions": "SHIFT", "parse_score": "-9", "date": "2020"}
    text = str(parse_of("She likes New York", DERIVATION, old).annotated())
    assert text.count("::alignments") == 1 and "::actions" not in text and "::parse_score" not in text
    assert "0.9" not in text and "# ::date 2020\n" in text


@pytest.mark.parametrize(
    ("sentence", "concept", "known", "expected"),
    [
        ("New York", "city", WIKI, {0: '"New_York_City"'}),  # by concept and name
        ("New York", "state", WIKI, {0: '"New_York_(state)"'}),  # by name
        ("New Rome", "city", WIKI, {0: "-"}),  # unknown
        ("New York", "city", {}, {}),  # training has no :wiki at all
        ("New York", "city", None, {}),
    ],
)
def test_wiki(sentence, concept, known, expected):
    assert parse_of(sentence, f"SHIFT MERGE ENTITY({concept}) ROOT CLOSE", wiki=known).wiki == expected


def test_the_network_s_spelling_of_words_is_not_that_of_the_entry():
    parse = parse_of("a▁b", "SHIFT ENTITY(thing) ROOT CLOSE")
    assert parse.graph.labels[2] == '"a_b"' and parse.annotated().forms == ["a▁b"]
