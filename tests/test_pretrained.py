"""The model that comes with the package."""

import pytest

from tests.conftest import SAMPLE
from transition_parser import Parser
from transition_parser.checkpoints import PRETRAINED
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency_score import Comparison


def las(beam: int, path) -> float:
    gold = list(read_conllu(path))
    parses = Parser.load("en-ewt", beam=beam).parse(gold)
    return Comparison(gold, [parse.annotated() for parse in parses]).scores()["las"].f1


def test_it_is_small_and_has_a_card():
    assert (PRETRAINED / "en-ewt" / "model.safetensors").stat().st_size < 15e6
    assert "CC BY-SA" in (PRETRAINED / "en-ewt" / "README.md").read_text(encoding="utf-8")


def test_it_knows_english():
    (parse,) = Parser.load("en-ewt").parse("The old man didn't read the letter.")
    arcs = dict(zip(parse.sentence.forms, zip(parse.tree.heads, parse.tree.relations)))
    assert arcs["read"] == (0, "root") and arcs["man"] == (6, "nsubj")
    assert arcs["letter"] == (6, "obj") and arcs["n't"] == (6, "advmod")
    assert all(score > 0.5 for score in parse.arc_scores)


def test_it_parses_the_sample():
    assert las(1, SAMPLE) > 70


@pytest.mark.slow
def test_it_reaches_its_scores(corpora):
    assert las(1, corpora / "ud" / "UD_English-EWT" / "dev.conllu") > 81.0
