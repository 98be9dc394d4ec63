"""A labeler is trained for a model, stored with it, and used by it."""

import json
import shutil

import pytest

from tests.conftest import ROOT, SAMPLE_AMR, run
from tests.run.test_scripts import annotated_treebank
from transition_parser import Parser
from transition_parser.data.resources import LABELER
from transition_parser.graphs.bank import read_bank

SCRIPT = ROOT / "run" / "recipes" / "semantic_roles.py"
MODEL = ROOT / "transition_parser" / "pretrained" / "en-amr"
TEXTS = ["Boys fathom sounds .", "They wanted her to go , and I asked him to stay with us .", "Stop", "He left ."]
SENTENCES = [text.split() for text in TEXTS]


def written(parser: Parser, sentences: list[list[str]]) -> list[str]:
    return [parse.graph.to_penman() for parse in parser.parse(sentences)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Two copies of a model whose labelers were trained by the same command, and a third one without any."""
    folder = tmp_path_factory.mktemp("labeled")
    treebank, annotation, frames = annotated_treebank(folder)
    shutil.copytree(MODEL, folder / "one")
    concepts = {label for entry in read_bank(SAMPLE_AMR) for label in entry.amr.labels if label[-3:-2] == "-"}
    rolesets = [".".join(concept.rsplit("-", 1)) for concept in sorted(concepts)]
    with frames.open("a") as file:
        file.writelines(json.dumps({"id": one, "amr": [1], "examples": []}) + "\n" for one in rolesets)
    data = ("--treebank", treebank, "--propbank", annotation, "--frames", frames, "--exclude", SAMPLE_AMR)
    run(SCRIPT, folder / "one", *data, "--banks", SAMPLE_AMR, "--epochs", "2", "--width", "4")
    shutil.copytree(folder / "one", folder / "two")
    run(SCRIPT, folder / "two", *data, "--banks", SAMPLE_AMR, "--epochs", "2", "--width", "4")
    return folder


def test_the_same_command_gives_the_same_bytes(trained):
    """Also for a model that has a labeler already."""
    first, second = (trained / name / LABELER for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes() != (MODEL / LABELER).read_bytes()


@pytest.mark.parametrize("odds", [20, -20])
def test_forms_around_a_word_make_it_an_imperative(odds):
    parser, words = Parser.load("en-amr", precision="fp32"), ["now", "go", "home", "."]
    labeler = parser.model.labeler
    assert labeler is not None
    labeler.weights["forms"][labeler.contexts(words, [1])] = odds
    assert (":mode imperative" in written(parser, [words])[0]) == (odds > 0)


@pytest.mark.parametrize(
    ("model", "annotation", "problem"),
    [
        ("trees", "t.tsv", "is a model of trees"),
        ("one", "other.tsv", "has no sentence of"),
        ("one", "no.tsv", "No such file"),
    ],
)
def test_bad_input(trained, model, annotation, problem):
    before = {path.name: path.read_bytes() for path in (trained / "one").iterdir()}
    (trained / "other.tsv").write_text("# sent_id = other\n1\tfathom\tfathom.01\n")
    folder = MODEL.with_name("en-ewt") if model == "trees" else trained / model
    annotation, frames = trained / annotation, trained / "frames.jsonl"
    data = ("--treebank", trained / "t.conllu", "--propbank", annotation, "--frames", frames)
    assert problem in run(SCRIPT, folder, *data, status=2).stderr
    assert {path.name: path.read_bytes() for path in (trained / "one").iterdir()} == before


@pytest.mark.parametrize("beam", [1, 4])
def test_a_sentence_has_the_same_parse_beside_any_others(both_ways, beam):
    parser = Parser.load("en-amr", beam=beam, precision="fp32")
    assert parser.model.labeler is not None
    together = written(parser, SENTENCES)
    assert together == written(parser, SENTENCES[::-1])[::-1] == [written(parser, [one])[0] for one in SENTENCES]
