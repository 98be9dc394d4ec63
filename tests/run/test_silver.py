"""Silver AMRs: sentences, facts and frames that are read, and what is kept."""

from pathlib import Path

import pytest
import silver
from hypothesis import given
from hypothesis import strategies as st
from propbank import Annotation, Argument, Predicate
from shared import Excluded, read_texts
from silver import Source, Sources, TreeReader, best_of, make_bank

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry, parse_entry, read_bank
from transition_parser.graphs.smatch import smatch_counts
from transition_parser.parsing.parses import AmrParse
from transition_parser.parsing.search import ranked


class FakeParser:
    """Gives for the word `w` the graphs `(w / w-01)` and `(w / w-02 :ARG0 (x / x))`, or the second alone."""

    def __init__(self, only_second: bool = False) -> None:
        self.only_second = only_second

    def parse_stream(self, entries, given):
        for entry, facts in zip(entries, given, strict=True):
            word = entry.forms[0]
            first = f"{word}-01" if facts is None else next(iter(facts.nodes.values())).concept
            small = AmrGraph((first,), frozenset(), ())
            large = AmrGraph((f"{word}-02", "x"), frozenset(), (Edge(0, "ARG0", 1),))
            parses = [
                AmrParse(entry, small, ((0,),), node_scores=(1.0,), probability=0.5),
                AmrParse(entry, large, ((0,), (0,)), node_scores=(1.0, 1.0), edge_scores=(1.0,), probability=0.25),
            ]
            yield ranked(parses[1:] if self.only_second else parses, 2)


def sources(*words: str) -> list[Source]:
    return [Source(AmrEntry.from_words([word], {"id": word})) for word in words]


def concepts(bank: Path) -> list[str]:
    return [entry.amr.labels[entry.amr.top] for entry in read_bank(bank)]


def test_the_parse_that_most_parses_agree_with_is_kept(tmp_path):
    bank = tmp_path / "a.amr"
    made = make_bank(str(bank), sources("a", "b", "c"), [FakeParser(), FakeParser(only_second=True)])
    assert concepts(bank) == ["a-02", "b-02", "c-02"] and made.kept == 3
    assert bank.read_text().startswith("# ::id a\n# ::agreement 0.")
    assert [entry.text for entry in read_bank(bank)] == ["a", "b", "c"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.amr"]


def test_graphs_that_agree_too_little_or_have_an_unwanted_concept_are_left_out(tmp_path):
    some, parsers = sources("a", "b"), [FakeParser(), FakeParser(only_second=True)]
    made = make_bank(str(tmp_path / "a.amr"), some, parsers, without=["a-02"])
    assert concepts(tmp_path / "a.amr") == ["b-02"] and made.left_out == {"unwanted concept": 1}
    assert made.agreement < 1
    with pytest.raises(InputError, match="no sentence is left"):
        make_bank(str(tmp_path / "b.amr"), some, parsers, least=0.9)
    assert not (tmp_path / "b.amr").exists()


@pytest.mark.parametrize(
    ("graph", "odd"),
    [
        *((f"(b / bear-02 :time (d / date-entity {roles}))", f"{odd} that cannot be")
          for roles, odd in ((":month 1 :year 17", ":year"), (":month 13", ":month"), (":day 0", ":day"))),
        *((f"(b / bear-02 :time (d / date-entity {roles}))", None)
          for roles in (":month 1 :day 17", ":year 1917 :month 12 :day 31", ":year (y / y :mod 3)")),
        ("(b / bear-02 :time (d / date-entity))", "empty date"),
        ("(c / cost-01 :ARG2 (m / monetary-quantity :unit (d / dollar)))", "quantity without :quant"),
        ("(c / cost-01 :ARG2 (m / monetary-quantity :quant 3 :unit (d / dollar)))", None),
        ("(s / see-01 :ARG1 (m / me))", "me, my and the like"),
        ("(s / see-01 :ARG0 (i / it) :ARG1 (b / be-located-at-91))", None),
        ("(b / be-01 :ARG1 (c / cat))", "be"),
        ("(b / be-02 :ARG1 (c / cat))", None),
        ("(w / write-01 :ARG2 (a / ann@mail.org-01))", "address as a concept"),
        ('(w / write-01 :ARG2 (p / person :name (n / name :op1 "ann@mail.org")))', "address as a name"),
        ('(w / write-01 :ARG2 (e / email-address-entity :value "ann@mail.org"))', None),
    ],
)  # fmt: skip
def test_graphs_with_odd_structures_are_left_out(graph, odd):
    entry = parse_entry(["# ::id 1", "# ::snt A", graph])
    parse = AmrParse(entry, entry.graph, ((0,),) * len(entry.graph))
    assert silver.kept(entry, parse, 1.0, 0.0, ()).left_out == (odd or "")


ENTRY = AmrEntry.from_words(["boy", "saw"], {"id": "a"})
SEE = AmrGraph(("see-01", "boy"), frozenset(), (Edge(0, "ARG0", 1),))
GRAPHS = [SEE, AmrGraph(("see-01", "girl"), frozenset(), (Edge(0, "ARG0", 1),)),
          AmrGraph(("see-01", "boy"), frozenset(), (Edge(0, "ARG1", 1),)),
          AmrGraph(("look-01", "boy"), frozenset(), (Edge(0, "ARG0", 1),))]  # fmt: skip


@given(st.lists(st.sampled_from(GRAPHS), min_size=2, max_size=6))
def test_agreement_is_the_mean_smatch_with_all_others(graphs):
    means = []
    for i, one in enumerate(graphs):
        others = [other for j, other in enumerate(graphs) if j != i]
        means.append(sum(smatch_counts(one, other).f1 for other in others) / len(others))
    scores = {"node_scores": (1.0, 1.0), "edge_scores": (1.0,)}
    best = best_of([AmrParse(ENTRY, graph, ((1,), (0,)), **scores) for graph in graphs])
    assert best[1] == pytest.approx(max(means)) == pytest.approx(means[graphs.index(best[0].graph)])


# --- sentences and facts ---

GO = Predicate(1, "go.02", (Argument("ARG0", (0, 0)),))


def treebank(path: Path, *texts: str) -> Path:
    """A treebank in which all words hang on the second one."""
    blocks = []
    for number, text in enumerate(texts, 1):
        rows = [f"# sent_id = s{number}"]
        for i, form in enumerate(text.split(), 1):
            head, relation, tag = ("0", "root", "VERB") if i == 2 else ("2", "dep", "NOUN")
            rows.append("\t".join([str(i), form, "_", tag, "_", "_", head, relation, "_", "_"]))
        blocks.append("\n".join(rows) + "\n\n")
    path.write_text("".join(blocks))
    return path


def test_sentences_come_once_with_their_facts(tmp_path):
    found = Sources(inventory={"go.02"})
    path = treebank(tmp_path / "t.conllu", "Boys go home", "Boys go", "Girls go home", "Boys go home", "a " * 61)
    found.add_treebank(path, {"s1": Annotation("s1", (GO,), {1: "go"}, "a.tsv", 1)})
    first, second = found.found
    assert (first.entry.id, first.entry.text, second.entry.text) == ("t.s1", "Boys go home", "Girls go home")
    assert first.facts is not None and [node.concept for node in first.facts.nodes.values()] == ["go-02"]
    assert second.facts is None
    assert found.counts == {"node": 1, "edge": 1, "sentence with facts": 1}
    assert [tree.heads for tree in found.trees.values()] == [(2, 0, 2), (2, 0, 2)]


def test_edits_read_the_trees_of_treebanks_and_of_a_model(tmp_path):
    found = Sources()
    found.add_treebank(treebank(tmp_path / "t.conllu", "the boys go"), {})
    reader = TreeReader.load("en-amr")
    reader.known, reader.of_others = found.trees, "en-fast"
    trees = reader.read_trees([["the", "girls", "go"], ["the", "boys", "go"]])
    assert [tree.heads for tree in trees] == [(2, 3, 0), (2, 0, 2)]


def test_a_node_of_no_word_counts_for_none():
    parse = AmrParse(ENTRY, SEE, ((1,), ()), node_scores=(1.0, 1.0), edge_scores=(1.0,))
    assert silver.kept(ENTRY, parse, 1.0, 0.0, ()).left_out == ""


def test_an_english_text_is_divided_into_sentences_and_words(tmp_path):
    (tmp_path / "a.txt").write_text("He can't stay. Go\nhome now!\n\nYes.\n")
    found = Sources()
    found.add_text(tmp_path / "a.txt")
    assert [(one.entry.id, one.entry.text, one.facts) for one in found.found] == [
        ("a.1", "He ca n't stay .", None), ("a.2", "Go home now !", None)
    ]  # fmt: skip
    (tmp_path / "a.txt").write_bytes("Go home now.\nTr\u00e8s bien.\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"a\.txt:2: byte 3 of the line is not UTF-8"):
        found.add_text(tmp_path / "a.txt")


# --- texts that stay out ---

LONG = "The boy who lives here wants to see the sea"


@pytest.mark.parametrize(
    ("text", "is_excluded"),
    [
        (LONG, True),
        ("the BOY who lives here wants to see the séa !", True),
        ("theboy who lives here wan ts to see the sea", True),
        (f"He said that {LONG} .", True),  # contains it
        ("boy who lives here wants to see the", True),  # is a part of it
        ("who lives here wants to see the", False),  # of seven words
        ("The boy who lives there wants to see the sea", False),
        ("Go home .", True),
        ("I go home", False),  # contains a short one
        ("... !", False),
        ("", False),
    ],
)
def test_equal_texts_and_long_parts_are_excluded(text, is_excluded):
    assert (text in Excluded([LONG, "Go home!", "..."])) == is_excluded


def test_texts_are_read_from_treebanks_and_banks(tmp_path):
    (tmp_path / "a.conllu").write_text("# text = Don't go\n1\tDo" + "\t_" * 8 + "\n2\tn't" + "\t_" * 8 + "\n\n")
    (tmp_path / "a.amr").write_text("# ::id a ::snt Go\n# ::tok Go .\n(g / go-02\n\n")  # the graph need not be whole
    assert [*read_texts([tmp_path / "a.conllu", tmp_path / "a.amr"])] == ["Do n't", "Don't go", "Go", "Go ."]
