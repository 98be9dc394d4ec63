"""A treebank with several root relations, one of which other arcs carry, too: from CoNLL-U to parses."""

import json
import re
from collections.abc import Callable

import pytest

from tests.conftest import SAMPLE, logged, preprocess, run_here, train
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.transitions import TREE_SYSTEMS
from transition_parser.transitions.config import ParserConfig

UNSEEN = {1: "AuxK", 2: "obj"}  # root relations of development trees: nowhere in training; there on other arcs alone


def relabeled(label: Callable[[int], str]) -> list[Sentence]:
    """The sample with root relations by the number of the sentence, and `ExD` for vocatives and discourse."""
    sentences = []
    for number, sentence in enumerate(read_conllu(SAMPLE)):
        tree = sentence.tree()
        relations = [re.sub("vocative|discourse", "ExD", relation) for relation in tree.relations]
        relations[tree.root - 1] = label(number)
        sentences.append(sentence.with_tree(type(tree)(tree.heads, tuple(relations))))
    return sentences


def write(path, sentences: list[Sentence]):
    path.write_text("".join(map(str, sentences)), encoding="utf-8")
    return path


def usual(number: int) -> str:
    return ("Pred", "ExD", "Pred")[number % 3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train.conllu, and dev.conllu with root relations that it lacks, prepared."""
    folder = tmp_path_factory.mktemp("prague")
    training = write(folder / "train.conllu", relabeled(usual))
    dev = write(folder / "dev.conllu", relabeled(lambda number: UNSEEN.get(number, usual(number))))
    unseen = write(folder / "unseen.conllu", [list(read_conllu(dev))[number] for number in UNSEEN])
    preprocess(folder / "data", train=training, valid=dev, test=unseen)
    return folder


def test_the_root_relations_are_learned(folder):
    config = ParserConfig.load(folder / "data")
    assert config.roots == ("ExD", "Pred") and config.shared_roots == ("ExD",)


@pytest.mark.parametrize("system", TREE_SYSTEMS)
def test_the_oracle_needs_no_description_of_the_treebank(folder, system):
    done = run_here("oracle", folder / "dev.conllu", "--system", system, "--check", "--json")
    figures = json.loads(done.stdout)
    assert figures["las"] == 100.0 and figures["illegal_steps"] == 0


def test_a_model_keeps_to_them(folder, tmp_path):
    """Barely trained: legality, not learning, keeps other relations from the root."""
    train(folder / "data", tmp_path, "--disable-validation", updates=2)
    out = tmp_path / "out.conllu"
    run_here("parse", tmp_path / "checkpoint_last.pt", folder / "dev.conllu", "--beam", "4", "-o", out)
    trees = [sentence.tree() for sentence in read_conllu(out)]
    assert {tree.relations[tree.root - 1] for tree in trees} <= {"Pred", "ExD"}
    assert not any(relation == "Pred" and head for tree in trees for head, relation in zip(tree.heads, tree.relations))


def test_validation_leaves_out_what_training_lacks(folder, tmp_path):
    """As it does other relations that no action has: with nothing else in a split, there is no UAS and LAS."""
    common = (folder / "data", tmp_path, "--no-save", "--best-checkpoint-metric", "loss", "--valid-subset")
    for subset, scored in (("valid", True), ("test", False)):
        done = train(*common, subset, updates=1)
        (entry,) = logged(done, f"{subset}_loss")
        assert (f"{subset}_las" in entry) == scored and 0 < float(entry[f"{subset}_loss"]) < 100
