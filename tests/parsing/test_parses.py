"""Parses from derivations, without a network: as entries, text, dictionaries, pictures, documents of spaCy."""

import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import networkx
import penman
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.amr_walks import FORMS, FRAMES, LEXICON, legal_actions
from tests.helpers.strategies import trees
from tests.helpers.tables import SPECIAL
from transition_parser import read
from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry, parse_bank, parse_entry
from transition_parser.graphs.conllu import Row, Sentence, parse_conllu, read_conllu
from transition_parser.graphs.dependency import MOST_DRAWN, DependencyTree, arc_levels, tree_text
from transition_parser.graphs.smatch import best_mapping, graph_triples
from transition_parser.oracles.amr_check import derive_entry
from transition_parser.parsing.formalisms import AMR
from transition_parser.parsing.parses import AmrParse, NbestRank, Parse, Parses
from transition_parser.parsing.search import Hypothesis
from transition_parser.parsing.texts import ToParse
from transition_parser.states.table import ActionTable
from transition_parser.text.pieces import normalize
from transition_parser.transitions import make_system

DERIVATION = "SHIFT COPY_LEMMA SHIFT FRAME(01) ROOT LA(ARG0) REDUCE SHIFT MERGE ENTITY(city) RA(ARG1) REDUCE CLOSE"
WIKI = {'city "New" "York"': '"New_York_City"', '"New" "York"': '"New_York_(state)"', '"Ann"': '"Ann_B"'}


def parse_of(sentence: str, derivation: str, metadata: dict[str, str] | None = None, wiki=None) -> AmrParse:
    actions = derivation.split()
    kinds = "SHIFT MERGE COPY_LEMMA COPY_WORD ENTITY(x) LA(x) RA(x) REDUCE SWAP ROOT CLOSE PRED(x)"
    system = make_system("amr", lexicon={}, frames=FRAMES)
    tokens = [*SPECIAL, *dict.fromkeys([*actions, *kinds.split(), *map(str, system.frames.all)])]
    table = ActionTable(system, tokens)
    hypothesis = Hypothesis([tokens.index(action) for action in actions], [-0.5] * len(actions), -0.25)
    words = [normalize(word) for word in sentence.split()]
    lexicon = SimpleNamespace(wiki=wiki) if wiki else None
    parser = SimpleNamespace(lexicon=lexicon)
    resources = cast(Resources, SimpleNamespace(table=table, parser=parser, model="a 1", language="en"))
    prepared = ToParse(AmrEntry.from_words(sentence.split(), metadata), words)
    return AMR.replay(resources, [(prepared, hypothesis, {})])[0]


def test_a_derivation_becomes_an_entry():
    parse = parse_of("She likes New York", DERIVATION, {"id": "a", "note": "x"}, WIKI)
    assert str(parse.annotated(alignment_markers=True)) == (
        "# ::id a\n# ::note x\n# ::snt She likes New York\n# ::tok She likes New York\n"
        "# ::alignments 0-1|0.0 1-2|0 2-4|0.1+0.1.0+0.1.0.0+0.1.0.1\n"
        "# ::node\t0\tlike-01\t1-2\n# ::node\t0.0\tshe\t0-1\n# ::node\t0.1\tcity\t2-4\n"
        '# ::node\t0.1.0\tname\t2-4\n# ::node\t0.1.0.0\t"New"\t2-4\n# ::node\t0.1.0.1\t"York"\t2-4\n'
        "(l / like-01~e.1\n      :ARG0 (s / she~e.0)\n      :ARG1 (c / city~e.2,3\n"
        '            :wiki "New_York_City"\n            :name (n / name~e.2,3\n'
        '                  :op1 "New"~e.2,3\n                  :op2 "York"~e.2,3)))\n\n'
    )


def test_words_that_mention_a_node_are_written():
    actions = "SHIFT COPY_LEMMA SHIFT FRAME(01) ROOT LA(ARG0) REDUCE SHIFT SHIFT COPY_LEMMA RA(ARG1) REDUCE CLOSE"
    entry = parse_of("I like my dog", actions).annotated(alignment_markers=True)
    assert entry.metadata["tok"] == "I like my dog" and "(i / i~e.0,2)" in entry.penman
    assert "# ::alignments 0-1|0.0 1-2|0 2-3|0.0 3-4|0.1" in entry.comments
    (again,) = parse_bank([f"{line}\n".encode() for line in str(entry).split("\n")])
    derived = derive_entry(again, make_system("amr"))
    assert again.alignments == entry.alignments and derived.derivation is not None


@pytest.mark.parametrize("markers", [True, False])
def test_what_is_written_is_read_back(markers):
    parse = parse_of("She likes New York", DERIVATION, wiki=WIKI)
    entry = parse.annotated(scores=True, actions=True, alignment_markers=markers)
    again = parse_entry(str(entry).strip().split("\n"))
    assert sorted(zip(again.graph.labels, again.alignments)) == sorted(zip(parse.graph.labels, parse.alignments))
    assert again.metadata["parse_score"] == "-0.2500" and again.metadata["actions"] == DERIVATION
    assert list(again.wiki.values()) == ['"New_York_City"']
    assert "wiki" not in str(parse.annotated(wiki=False)) and not parse.annotated(wiki=False).wiki


@given(st.data())
def test_an_entry_is_what_reading_its_text_gives(data):
    words = data.draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=5))
    system = make_system("amr", lexicon=LEXICON, frames=FRAMES)
    state = system.initial(system.read(words))
    while not system.is_final(state):
        state = system.apply(state, data.draw(st.sampled_from(legal_actions(system, state))))
    graph = system.result(state)
    wiki = {node: '"Berlin"' for node in range(len(graph)) if node not in graph.constants and node % 3 == 0}
    parse = AmrParse(AmrEntry.from_words(words), graph, tuple(system.alignments(state)), wiki)
    entry = parse.annotated(alignment_markers=True)
    again = parse_entry(str(entry).strip().split("\n"))
    for name in ("graph", "variables", "alignments", "wiki", "paths", "penman", "comments"):
        assert getattr(again, name) == getattr(entry, name), name
    plain = parse.annotated()
    assert (plain.graph, plain.comments) == (entry.graph, entry.comments) and "~e." not in plain.penman


@pytest.mark.parametrize("arc", ["RA", "LA"])
def test_deep_graphs_are_written_drawn_and_read(arc):
    size = 1500
    chain = "SHIFT COPY_LEMMA ROOT " + f"SHIFT COPY_LEMMA {arc}(mod) REDUCE " * (size - 1) + "CLOSE"
    parse = parse_of(" ".join(["very"] * size), chain, {"id": "deep"})
    entry = parse.annotated(scores=True)
    assert parse_entry(str(entry).strip().split("\n")).graph == entry.graph
    assert len(json.loads(parse.to_json())["nodes"]) == len(parse.graph) == size and parse.drawing()
    assert best_mapping(graph_triples(parse.graph), graph_triples(parse.graph))[0] == 2 * size


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


# --- trees, and what both kinds of parses have ---------------------------------------------------------

FOLDER = Path(__file__).with_name("parses")


def contracted(file: str = "contracted.conllu") -> Parse:
    (sentence,) = read_conllu(FOLDER / file)
    tree = DependencyTree((3, 3, 0, 3), ("aux", "advmod", "root", "punct"))
    tagged = sentence.with_tags(("X", "PART", "VERB", "PUNCT"), ("x", "not", "go", "!"))
    return Parse(tagged, tree, (0.5, 1.0, 0.25, 0.75), mean_log_probability=-0.5, model="a 1")


def parsed_again(**options: bool) -> str:
    return contracted("parsed_before.conllu").to_conllu(**options)


def test_what_was_said_of_the_tree_before_goes_with_it():
    """DEPS, empty nodes and this parser's scores; columns and comments that are given stay, only _ is filled."""
    assert parsed_again() == (FOLDER / "parsed_again.conllu").read_text()


def test_scores_of_arcs_are_those_of_the_new_tree():
    found = [row.misc for row in next(parse_conllu(parsed_again(scores=True).encode().split(b"\n"))).words]
    assert found == ["ArcScore=0.5000", "Gloss=ne|ArcScore=1.0000", "Gloss=aller|ArcScore=0.2500", "ArcScore=0.7500"]


def test_a_tree_as_a_dictionary():
    parse = contracted()
    found = json.loads(json.dumps(parse.to_dict()))
    assert found == parse.to_dict()
    assert {**found, "words": found["words"][:2]} == {
        "id": "a",
        "line": 1,
        "text": "Don't go!",
        "model": "a 1",
        "words": [
            {"id": 1, "form": "Do", "lemma": "do", "upos": "AUX", "xpos": "VBP", "feats": "Mood=Imp"}
            | {"head": 3, "deprel": "aux", "score": 0.5, "start": None, "end": None},
            {"id": 2, "form": "n't", "lemma": "not", "upos": "PART", "xpos": None, "feats": None}
            | {"head": 3, "deprel": "advmod", "score": 1.0, "start": None, "end": None},
        ],
        "multiword_tokens": [{"form": "Don't", "first": 1, "last": 2}],
        "mean_log_probability": -0.5,
        "probability": 1.0,
        "actions": [],
    }


def test_an_amr_as_a_dictionary():
    parse = parse_of("She likes New York", DERIVATION, {"id": "a"}, WIKI)
    found = json.loads(json.dumps(parse.to_dict()))
    assert found == parse.to_dict()
    assert (found["id"], found["text"], found["model"]) == ("a", "She likes New York", "a 1")
    assert [(word["id"], word["form"]) for word in found["words"]] == [*enumerate(parse.forms, 1)]
    assert " ".join(found["actions"]) == DERIVATION and found["penman"] == str(parse)
    nodes = found["nodes"]
    constants = frozenset(node["id"] - 1 for node in nodes if node["is_constant"])
    edges = tuple(Edge(edge["source"] - 1, edge["role"], edge["target"] - 1) for edge in found["edges"])
    assert AmrGraph(tuple(node["concept"] for node in nodes), constants, edges, found["top"] - 1) == parse.graph
    assert tuple(tuple(word - 1 for word in node["words"]) for node in nodes) == parse.alignments
    assert {node["id"] - 1: node["wiki"] for node in nodes if node["wiki"]} == parse.wiki
    assert tuple(node["score"] for node in found["nodes"]) == parse.node_scores
    assert tuple(edge["score"] for edge in found["edges"]) == parse.edge_scores


def test_triples_are_the_ones_that_penman_reads():
    found = parse_of("She likes New York", DERIVATION, wiki=WIKI).to_dict()
    read = penman.decode(found["penman"])
    assert {(a, f":{role}", b) for a, role, b in found["triples"]} == {*read.triples}
    assert found["nodes"][found["top"] - 1]["variable"] == found["triples"][0][0] == read.top
    assert {node["variable"] for node in found["nodes"]} - {None} == read.variables()


def test_a_line_of_json_has_short_numbers_and_actions_on_request():
    parse = parse_of("She likes New York", DERIVATION, wiki=WIKI)
    parse = replace(parse, mean_log_probability=-0.123456, probability=0.00012345678)
    line = parse.to_json()
    found = json.loads(line)
    assert "\n" not in line and "actions" not in found
    assert (found["mean_log_probability"], found["probability"]) == (-0.1235, 0.0001235)
    assert json.loads(parse.to_json(actions=True))["actions"] == DERIVATION.split()
    ranked = replace(parse, place=NbestRank(1, 2), alternatives=(replace(parse, place=NbestRank(2, 2)),))
    assert "New_York_City" in ranked.to_json()
    (alternative,) = json.loads(ranked.to_json())["alternatives"]
    assert alternative["penman"] == found["penman"] and alternative["alternatives"] == []
    assert "actions" not in alternative


def test_a_parse_has_the_text_and_the_words_of_its_sentence():
    tree, graph = contracted(), parse_of("She likes New York", DERIVATION, {"snt": "She likes New  York"})
    assert (tree.text, tree.forms, len(tree)) == ("Don't go!", ["Do", "n't", "go", "!"], 4)
    assert (graph.text, graph.forms, len(graph)) == ("She likes New  York", ["She", "likes", "New", "York"], 4)
    assert repr(tree) == '<Parse of 4 words: "Don\'t go!">'
    assert repr(graph) == "<AmrParse of 4 words: 'She likes New  York'>"
    assert len(repr(replace(graph, sentence=AmrEntry.from_words(["word"] * 1000)))) < 100


def test_dictionaries_say_where_words_were():
    spans = ((7, 10), (11, 15))
    tree = DependencyTree((2, 0), ("nsubj", "root"))
    parse = Parse(Sentence((Row("1", "She"), Row("2", "ran")), spans=spans), tree)
    assert [(word["start"], word["end"], word["upos"]) for word in parse.to_dict()["words"]] == [
        (*span, None) for span in spans
    ]
    assert (parse.to_dict()["id"], parse.to_dict()["text"]) == (None, "She ran")


def test_a_printed_tree():
    assert str(contracted()).splitlines() == [
        "1  Do   AUX    ────◄┐  aux     3",
        "2  n't  PART   ◄┐   │  advmod  3",
        "3  go   VERB   ─┴─┬─┘  root    0",
        "4  !    PONCT  ──◄┘    punct   3",
    ]
    without_tags = Parse(Sentence.from_words(["Go"]), DependencyTree((0,), ("root",)))
    assert str(without_tags).split() == ["1", "Go", "root", "0"]


def test_a_long_sentence_is_printed_without_arcs():
    n = MOST_DRAWN + 1
    tree = DependencyTree((0, *range(1, n)), ("root", *["dep"] * (n - 1)))
    lines = tree_text(["w"] * n, tree).splitlines()
    assert len(lines) == n and lines[-1].split() == [str(n), "w", "dep", str(n - 1)]


def test_words_of_a_tree_are_objects():
    parse = contracted()
    assert [*parse] == [*parse.words] and parse.heads == parse.arcs == [3, 3, 0, 3]
    for word, row in zip(parse, parse.to_dict()["words"], strict=True):
        assert (word.head.id if word.head else 0) == row["head"]
        assert all(getattr(word, name) == value for name, value in row.items() if name not in ("feats", "head"))
        assert word.children == [other for other in parse if other.head == word]
        assert word.ancestors == ([word.head] if word.head else [])
    assert parse.root.subtree == [*parse] and parse[0].subtree == [parse[0]] and "parse=" not in repr(parse.root)
    assert parse.root.form == "go" and pickle.loads(pickle.dumps(parse))[-1] == parse[-1]


def test_lists_have_the_attributes_of_all_words_given_or_predicted():
    parse = contracted()
    for name in ("forms", "lemmas", "upos", "xpos", "feats", "deprels"):
        attribute = name.rstrip("s") if name in ("forms", "lemmas", "deprels") else name
        assert getattr(parse, name) == [getattr(word, attribute) for word in parse]
    assert (parse.upos, parse.xpos) == (["AUX", "PART", "VERB", "PONCT"], ["VBP", None, None, None])
    assert parse.feats == [{"Mood": "Imp"}, {}, {}, {}] and parse.lemmas == ["do", "not", "go", "!"]


def test_nodes_of_an_amr_are_objects():
    parse = parse_of("She likes New York", DERIVATION, wiki=WIKI)
    likes = parse.top
    assert (likes.concept, [word.form for word in likes.words], {*likes.edges}) == (
        ("like-01", ["likes"], {"ARG0", "ARG1"})
    )
    (city,) = likes.edges["ARG1"]
    assert (city.wiki, city.variable, parse[3].nodes[0]) == ('"New_York_City"', "c", city)
    assert [edge.score for edge in parse.edges] == [*parse.edge_scores]
    assert [edge.source for edge in parse.edges if edge.target == city] == [likes]


def test_gold_graphs_are_parses_without_scores():
    tree = contracted()
    gold = next(iter(read(SAMPLE)))
    assert gold.words[0].score is gold.model is None and gold.to_dict()["words"][0]["upos"] == "DET"
    assert {*gold.to_dict()} == {*tree.to_dict()} and len(gold.to_spacy()) == len(gold)
    assert gold.to_conllu(scores=True).count("\t") == 9 * len(gold) and "<svg" in gold._repr_svg_()
    amr = next(iter(read(SAMPLE_AMR)))
    assert amr.nodes[0].score is None and "<svg" in amr._repr_svg_() and amr.to_dict()["top"] == amr.top.id


def test_graphs_of_networkx():
    tree, amr = contracted(), parse_of("She likes New York", DERIVATION, wiki=WIKI)
    graph = tree.to_networkx()
    assert networkx.is_arborescence(graph) and [*graph] == [1, 2, 3, 4]
    assert {(head, word): edge["deprel"] for head, word, edge in graph.edges(data=True)} == {
        (word.head.id, word.id): word.deprel for word in tree if word.head
    }
    graph = amr.to_networkx()
    assert sorted(graph.edges(data="role")) == sorted((s + 1, t + 1, role) for s, role, t in amr.graph.edges)
    assert tuple(dict(graph.nodes(data="concept")).values()) == amr.graph.labels
    assert graph.graph["top"] == amr.top.id


def test_files_of_graphml_hold_both_kinds_of_graphs(tmp_path):
    for parse in (contracted(), parse_of("She likes New York", DERIVATION, wiki=WIKI)):
        graph, file = parse.to_networkx(), tmp_path / "graph.xml"
        networkx.write_graphml(graph, file)
        again = networkx.read_graphml(file, node_type=int)
        assert dict(again.nodes(data=True)) == dict(graph.nodes(data=True)) and len(again.edges) == len(graph.edges)


def test_tables_of_pandas(monkeypatch):
    tree, amr = contracted(), parse_of("She likes New York", DERIVATION, wiki=WIKI)
    words = Parses([tree, tree]).to_pandas()
    assert words["sentence"].tolist() == [1] * 4 + [2] * 4 and words["form"].tolist() == 2 * tree.forms
    assert amr.to_pandas()["concept"].tolist() == [*amr.graph.labels]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"tables need the package pandas .*: pip install pandas"):
        tree.to_pandas()


def test_metadata_that_penman_reads():
    parse = parse_of("She likes New York", DERIVATION, {"id": "a"}, WIKI)
    decoded = penman.decode(parse.to_penman(metadata=True))
    assert decoded.metadata.keys() == {"id", "snt", "tok", "alignments"} and decoded.triples
    assert parse.to_penman(metadata=True).endswith("\n" + parse.to_penman()) and str(parse) == parse.to_penman()


@pytest.mark.parametrize("count", [2, 12])
def test_lists_of_parses_in_notebooks(count):
    parses = Parses([contracted(), parse_of("She likes New York", DERIVATION)] * (count // 2))
    html = parses._repr_html_()
    assert html.count("<svg") == min(count, 10) and ("… and 2 more" in html) == (count == 12)
    assert "overflow-x: auto" in html


def test_pictures_in_notebooks():
    tree, graph = contracted(), parse_of("She likes New York", DERIVATION, wiki=WIKI)
    for parse, shown in ((tree, ["Do", "n't", "go", "aux", "advmod"]), (graph, ["like-01", "ARG0", "York", "wiki"])):
        svg = parse._repr_svg_()
        assert svg.startswith("<svg") and svg.rstrip().endswith("</svg>") and parse._repr_svg_() == svg
        assert all(f">{word}<" in svg for word in shown)
    tree = DependencyTree((0,), ("<b>",))
    svg = Parse(Sentence.from_words(["<script>$\\frac$</script>"]), tree)._repr_svg_()
    assert "<script" not in svg and "&lt;script&gt;$\\frac$&lt;" in svg and "<b>" not in svg


# --- documents of spaCy --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vocab():
    from spacy.vocab import Vocab

    return Vocab()


def test_a_document_of_a_tree(vocab):
    document = contracted().to_spacy(vocab)
    assert document.text == "Don't go! "
    assert [token.text for token in document] == ["Do", "n't", "go", "!"]
    assert [token.head.i for token in document] == [2, 2, 2, 2]
    assert [token.dep_ for token in document] == ["aux", "advmod", "root", "punct"]
    assert [token.pos_ for token in document] == ["AUX", "PART", "VERB", ""]  # spaCy knows no PONCT
    assert [token.lemma_ for token in document] == ["do", "not", "go", "!"]
    assert (document[0].tag_, str(document[0].morph), document[1].tag_) == ("VBP", "Mood=Imp", "")


def test_a_document_of_an_amr_has_names_as_entities(vocab):
    parse = parse_of("She likes New York", DERIVATION, wiki=WIKI)
    places = ((0, 3), (4, 9), (10, 13), (14, 18))
    document = replace(parse, sentence=replace(parse.sentence, spans=places)).to_spacy(vocab)
    (name,) = document.ents
    assert (name.text, name.label_, name.kb_id_) == ("New York", "city", "New_York_City")
    assert document.text == parse.to_spacy(vocab).text == "She likes New York" and len([*document.sents]) == 1


def test_words_that_do_not_spell_their_token_stand_apart(vocab):
    rows = (Row("1-2", "du", misc="SpaceAfter=No"), Row("1", "de"), Row("2", "le"), Row("3", "!"))
    tree = DependencyTree((3, 3, 0), ("a", "b", "root"))
    document = Parse(Sentence(rows), tree).to_spacy(vocab)
    assert document.text == "de le! "


def test_a_word_below_thousands_of_others_has_them_all_as_ancestors():
    length = 3000
    tree = DependencyTree(tuple(range(length)), ("root", *["dep"] * (length - 1)))
    parse = Parse(Sentence.from_words(["w"] * length), tree)
    assert [word.id for word in parse[-1].ancestors] == [*range(length - 1, 0, -1)]


UP, DOWN = "┘┴│┤┼", "┐┬│┤┼"  # characters with a line that leaves the row


def drawn_head(rows: list[str], word: int) -> int:
    """The word at the other end of the line that an arrow ends."""
    place = rows[word - 1].index("◄") + 1
    goes = DOWN if rows[word - 1][place] in "┐┬" else UP
    row = word - 1
    while rows[row][place] in goes:
        row += 1 if goes == DOWN else -1
    return row + 1


@given(trees())
def test_lines_of_a_printed_tree_lead_from_each_word_to_its_head(tree):
    lines = tree_text(["w"] * len(tree), tree).splitlines()
    start = lines[0].index("w") + 3
    rows = [line[start : start + 2 * max(arc_levels(tree).values(), default=0)] for line in lines]
    heads = [drawn_head(rows, word) if "◄" in rows[word - 1] else 0 for word in range(1, len(tree) + 1)]
    assert tuple(heads) == tree.heads
