"""All edits, one after another, leave connected graphs without odd structures, and gold graphs as they are."""

import pkgutil
import random
import shutil
from collections.abc import Sequence
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.helpers.strategies import graphs, random_heads
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing import edits
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.order import EDITS
from transition_parser.storage.cards import PRETRAINED
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import AmrWord

WORDS = (
    "not enough too more less than as soon old older oldest the , better had worse so that much many who whose "
    "which what when where why how long do you know can please tell me let 's us go close he mine one and nor "
    "nobody is to in 9:30 a.m. half past six quarter minus 12 degrees two thirds hundred thousand about $ 40 "
    "May 2025 Monday ago every day unable thank see hi ? . said Anna house weigh pounds kilometers per hour "
    "a@b.c unless because been out of past colder in"
).split()
CONCEPTS = (
    "have-degree-91 have-quant-91 more most enough too equal good-02 old and or amr-unknown amr-choice "
    "possible-01 say-01 know-01 tell-01 let-01 go-02 cause-01 person you he thing place date-entity "
    "temporal-quantity monetary-quantity percentage-entity ordinal-entity name city month million have-rel-role-91 "
    "mother include-91 correlate-91 nobody"
).split()
LABELS = (
    "me",
    "and",
    "date-entity",
    "temporal-quantity",
    "name",
    "a@b.c",
    "www.x.org-02",
    "year",
    "have-rel-role-91",
    "...",
)
CONSTANTS = ("40", "2025", '"3:16"', '"a@b.c"', '"x"')
ROLES = ("name", "unit", "value", "day", "month", "year", "op1", "quant", "ARG1", "ARG2")


def edited(
    graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[AmrWord], tree: DependencyTree | None = None
) -> AmrGraph:
    """The graph after all edits, each of which says where nodes and edges come from."""
    for edit in EDITS.values():
        draft = Draft(graph, alignments, words, tree=tree)
        edit([draft])
        done = draft.result()
        if done is not None:
            assert done.graph.is_connected()
            assert len({*done.graph.edges}) == len(done.graph.edges) or len({*graph.edges}) < len(graph.edges)
            assert len(done.nodes) == len(done.graph) and len(done.edges) == len(done.graph.edges)
            assert all(-1 <= node < len(graph) for node in done.nodes)
            graph, alignments = done.graph, [alignments[node] if node >= 0 else () for node in done.nodes]
    return graph


@given(graphs(LABELS, ROLES, CONSTANTS, further=0))
def test_edited_graphs_have_no_odd_structure(graph):
    whole = edited(graph, [(0,)] * len(graph), AmrSystem().read(["me"]))
    heads = [edge.target for edge in whole.edges if edge.target in whole.constants]
    assert sorted(heads) == sorted(whole.constants) and not any(e.source in whole.constants for e in whole.edges)
    assert not {"me", "a@b.c", "www.x.org-02"}.intersection(
        label for node, label in enumerate(whole.labels) if node not in whole.constants
    )


@pytest.mark.parametrize("bank", ["yardstick", "sample"])
def test_gold_graphs_stay(bank):
    for entry in read_bank(ROOT / "tests" / "data" / f"{bank}.amr"):
        if entry.tokens:
            aligned = entry.alignments or [()] * len(entry.graph)
            assert edited(entry.graph, aligned, AmrSystem().read(entry.tokens)) == entry.graph


RELATIONS = (
    *("nsubj", "nsubj:pass", "csubj", "obj", "iobj", "obl", "obl:agent", "advcl", "acl", "acl:relcl", "ccomp", "xcomp"),
    *("conj", "cc", "mark", "case", "amod", "advmod", "nmod", "nmod:poss", "aux", "aux:pass", "cop", "det", "punct"),
)


@pytest.mark.parametrize("bank", ["yardstick", "sample"])
def test_graphs_stay_connected_whatever_the_tree(bank):
    draws = random.Random(1)
    for entry in [one for one in read_bank(ROOT / "tests" / "data" / f"{bank}.amr") if one.tokens]:
        words = AmrSystem().read(entry.tokens)
        aligned = entry.alignments or [tuple(draws.sample(range(len(words)), 1)) for _ in entry.graph.labels]
        for _ in range(10):
            heads = random_heads(len(words), draws)
            relations = tuple(draws.choice(RELATIONS) if head else "root" for head in heads)
            assert edited(entry.graph, aligned, words, DependencyTree(tuple(heads), relations)).is_connected()


@given(
    graphs(CONCEPTS, ("ARG0", "op1", "domain", "time", *ROLES), ("-", "imperative", '"9:30"', *CONSTANTS)),
    st.lists(st.sampled_from(WORDS), min_size=3, max_size=12),
    st.randoms(use_true_random=False),
)
@settings(max_examples=400)
def test_any_words_and_graphs_are_written_after_edits(graph, forms, draws):
    heads, different = random_heads(len(forms), draws), {edge for edge in graph.edges if edge.source != edge.target}
    relations = tuple(draws.choice(RELATIONS) if head else "root" for head in heads)
    aligned = [(draws.randrange(len(forms)),) for _ in graph.labels]
    graph = AmrGraph(graph.labels, graph.constants, tuple(different), graph.top)
    assume(graph.is_connected())
    whole = edited(graph, aligned, AmrSystem().read(forms), DependencyTree(tuple(heads), relations))
    assert whole.to_penman()
    assert not any(edge.source == edge.target for edge in whole.edges)
    assert sorted(edge.target for edge in whole.edges if edge.target in whole.constants) == sorted(whole.constants)


def test_each_module_has_an_edit_in_the_list():
    modules = {module.name for module in pkgutil.iter_modules(edits.__path__)} - {"draft", "order", "tree_view"}
    assert {edit.__module__.rpartition(".")[2] for edit in EDITS.values()} == modules


def test_the_docs_have_a_row_for_each_edit_in_the_same_order():
    rows = (ROOT / "docs" / "amr.md").read_text(encoding="utf-8").split("\n")
    assert [row[2:].partition(" |")[0] for row in rows if row[2:].partition(" |")[0] in EDITS] == [*EDITS]


def test_without_edits_graphs_are_as_search_finds_them():
    parser, bare = (Parser.load("en-amr", precision="fp32", threads=1, edits=edits) for edits in (True, False))
    text = "Close the unsafe door."
    for parse in bare.parse(text):
        table = bare.resources.table
        assert table.system.replay(table.system.read(parse.forms), parse.actions) == parse.graph
    assert ":polarity -" in parser.parse(text)[0].to_penman()
    with pytest.raises(InputError, match="for models of AMRs"):
        Parser.load("en-ewt", edits=False)


def test_edits_with_english_words_are_for_english_alone(tmp_path):
    folder, text = tmp_path / "german", "He told us to close the unsafe door behind her and then he left the house."
    shutil.copytree(PRETRAINED / "en-amr", folder)
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8").replace("language: en", "language: de", 1), encoding="utf-8")
    for model, is_english in (("en-amr", True), (folder, False)):
        parser = Parser.load(model, precision="fp32", threads=1)
        with mock.patch.object(Parser, "read_trees", autospec=True, side_effect=Parser.read_trees) as trees:
            (parse,) = parser.parse(text)
        assert trees.called == (":polarity -" in parse.to_penman()) == is_english
