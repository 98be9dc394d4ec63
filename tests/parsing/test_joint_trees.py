"""Trees that several parsers find together."""

import itertools
import math
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SAMPLE, train
from tests.helpers.crosses import mostly_slow
from tests.helpers.simulated_device import DEVICE, SimulatedDevice
from tests.helpers.tables import make_table
from tests.states.brute_force import all_trees
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.tree_decoder import ArcBeliefs
from transition_parser.parsing.alternatives import ranked
from transition_parser.parsing.joint_trees import JointTrees, beliefs_of
from transition_parser.parsing.parses import Parse
from transition_parser.states.table import ActionTable
from transition_parser.storage.checkpoints import load_model
from transition_parser.transitions import RootRelations

RELATIONS = ("root", "nsubj", "obj")


@cache
def table(name: str = "arc-hybrid-swap") -> ActionTable:
    """A vocabulary in which arcs from the root, and no others, are called root."""
    return make_table(name, relations=RELATIONS, roots=RootRelations(frozenset({"root"})))


@st.composite
def believed(draw) -> tuple[int, list[ArcBeliefs]]:
    """Some words, and what two parsers believe about their arcs; one knows a relation that the vocabulary lacks."""
    count = draw(st.integers(1, 4))
    members = []
    for known in (RELATIONS, (*RELATIONS, "strange")):
        arcs = [
            (word, head, relation)
            for word in range(count)
            for head in range(count + 1)
            for relation in known
            if head != word and draw(st.booleans())
        ]
        masses = [draw(st.integers(1, 999)) / 1000 for _ in arcs]
        words, heads, relations = zip(*arcs, strict=True) if arcs else ((), (), ())
        members.append(ArcBeliefs(np.array(words, int), np.array(heads, int), relations, np.array(masses)))
    return count, members


def expected(count: int, members: list[ArcBeliefs], tree: DependencyTree) -> float:
    """The expected number of right arcs of a tree."""
    total = 0.0
    for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        for one in members:
            there = (one.words == word) & (one.heads == (head - 1 if head else count))
            there &= np.array([name == relation for name in one.relations], bool)
            total += one.probabilities[there].sum() / len(members)
    return total


@given(believed())
def test_no_tree_has_more_right_arcs_to_be_expected(case):
    count, members = case
    tree, _ = JointTrees(table()).tree(members, count)
    best = max(
        expected(count, members, DependencyTree(some.heads, labels))
        for some in all_trees(count, projective=False)
        for labels in itertools.product(RELATIONS, repeat=count)
        if all((label == "root") == (head == 0) for head, label in zip(some.heads, labels, strict=True))
    )
    assert tree.why_invalid() is None
    assert all((label == "root") == (head == 0) for head, label in zip(tree.heads, tree.relations, strict=True))
    assert expected(count, members, tree) == pytest.approx(best, abs=1e-9)


def test_the_scores_are_those_of_the_mean_of_all_parsers():
    one = ArcBeliefs(np.array([0, 1]), np.array([1, 2]), ("nsubj", "root"), np.array([0.5, 0.9]))
    other = ArcBeliefs(np.array([0, 1]), np.array([1, 2]), ("nsubj", "root"), np.array([0.7, 0.5]))
    tree, scores = JointTrees(table()).tree([one, other], 2)
    assert tree == DependencyTree((2, 0), ("nsubj", "root"))
    assert [*map(math.exp, scores)] == pytest.approx([0.6, 0.7])


def test_a_system_that_does_not_build_every_tree_is_refused():
    with pytest.raises(InputError, match=r"m\.pt: arc-hybrid can't build every tree: name a model of another system"):
        JointTrees(table("arc-hybrid"), "m.pt")


def test_a_model_without_any_common_relation_is_refused():
    JointTrees(table()).check_shared(["", "obj", "strange"], "m.pt")
    with pytest.raises(InputError, match=r"m\.pt: has no relation in common with the first model"):
        JointTrees(table()).check_shared(["", "strange"], "m.pt")


def test_a_parse_is_believed_with_the_confidences_of_its_beam():
    sentence = Sentence.from_words(("a", "b"))
    trees = DependencyTree((2, 0), ("nsubj", "root")), DependencyTree((0, 1), ("root", "obj"))
    parses = [Parse(sentence, tree, (0.5, 0.5), probability=mass) for tree, mass in zip(trees, (0.6, 0.4), strict=True)]
    found = beliefs_of(ranked(parses, 2))
    rows = zip(found.words.tolist(), found.heads.tolist(), found.relations, found.probabilities.tolist(), strict=True)
    assert {(word, head, relation): pytest.approx(mass) for word, head, relation, mass in rows} == {
        (0, 1, "nsubj"): 0.6,
        (1, 2, "root"): 0.6,
        (0, 2, "root"): 0.4,
        (1, 0, "obj"): 0.4,
    }


# --- whole models ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trees_model(data_folder, tmp_path_factory) -> Path:
    """A barely trained model that scores whole trees; its SHIFTs have words."""
    folder = tmp_path_factory.mktemp("whole_trees")
    train(data_folder, folder, "--disable-validation", arch="spa_dp_graph_small", updates=3)
    return folder / "checkpoint_last.pt"


@pytest.fixture(params=["whole trees first", "actions first"])
def models(request, checkpoint, trees_model) -> list[Path | str]:
    """Models of other data, other pieces and other architectures: one scores whole trees, two score actions."""
    found = [trees_model, checkpoint, "en-fast"]
    return found if request.param == "whole trees first" else found[::-1]


@pytest.mark.parametrize("beam", mostly_slow([1, 4], 4))
def test_a_sentence_does_not_depend_on_its_batch(models, beam):
    parser = Parser.load(models[0], precision="fp32", beam=beam, others=models[1:])
    sentences = list(parser.read(SAMPLE))[:6]
    together = parser.parse(sentences)
    for sentence, wanted in zip(sentences, together, strict=True):
        (alone,) = parser.parse([sentence])
        assert alone.actions == wanted.actions and alone.arc_scores == pytest.approx(wanted.arc_scores, abs=1e-4)
        assert alone.tree.why_invalid() is None and alone.place is None
    again = pickle.loads(pickle.dumps(parser)).parse(sentences)
    assert [(parse.actions, parse.arc_scores) for parse in again] == [
        (parse.actions, parse.arc_scores) for parse in together
    ]


def test_the_first_model_predicts_the_tags(models, checkpoint):
    sentences = list(Parser.load("en-fast").read(SAMPLE))[:8]
    alone = Parser.load(models[0]).parse(sentences)
    together = Parser.load(models[0], others=models[1:]).parse(sentences)
    assert [(parse.upos, parse.lemmas) for parse in together] == [(parse.upos, parse.lemmas) for parse in alone]


@pytest.mark.parametrize("nbest", [1, 3])
def test_there_is_one_tree_whatever_is_asked_for(models, trees_model, nbest):
    """Of a model that scores whole trees, and of several models; even without a beam."""
    for others in ((), models[1:]):
        first = models[0] if others else trees_model
        for parse in Parser.load(first, nbest=nbest, others=others).parse([["Dogs", "bark"], ["Stop"]]):
            assert parse.ranked == (parse,) and parse.place == ((1, 1) if nbest > 1 else None)


def test_parsers_in_memory_find_trees_together_and_so_do_their_copies(trees_model):
    loaded = Parser.load(trees_model, precision="fp32", others=["en-fast"])
    model, resources = load_model(trees_model)
    other = Parser.load("en-fast", precision="fp32")
    here = Parser(model, resources, precision="fp32", others=[other])
    sentences = list(loaded.read(SAMPLE))[:8]
    wanted = [(parse.actions, parse.arc_scores) for parse in loaded.parse(sentences)]
    for parser in (here, pickle.loads(pickle.dumps(here))):
        assert [(parse.actions, parse.arc_scores) for parse in parser.parse(sentences)] == wanted
    with pytest.raises(InputError, match="finds trees together with others can't be one of them"):
        Parser(model, resources, others=[here])


@pytest.mark.parametrize("beam", mostly_slow([1, 3], 3))
def test_on_an_accelerator(models, beam):
    """A simulated one."""
    sentences = list(Parser.load("en-fast").read(SAMPLE))[:6]
    options = {"precision": "fp32", "beam": beam, "others": models[1:]}
    wanted = Parser.load(models[0], **options).parse(sentences)
    with SimulatedDevice():
        found = Parser.load(models[0], device=DEVICE.type, **options).parse(sentences)
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.tree == theirs.tree and ours.arc_scores == pytest.approx(theirs.arc_scores, abs=1e-4)
