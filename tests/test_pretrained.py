"""The models that come with the package."""

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from transition_parser import Parser
from transition_parser.checkpoints import PRETRAINED
from transition_parser.graphs.amr_score import Counts, smatch_counts
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency_score import Comparison


def las(beam: int, path) -> float:
    gold = list(read_conllu(path))
    parses = Parser.load("en-ewt", beam=beam).parse(gold)
    return Comparison(gold, [parse.annotated() for parse in parses]).scores()["las"].f1


def smatch(beam: int, path) -> float:
    parses = Parser.load("en-amr", beam=beam).parse(path)
    pairs = zip(read_bank(path), parses, strict=True)
    counts = (smatch_counts(gold.graph.to_penman(), parse.graph.to_penman()) for gold, parse in pairs)
    return sum(counts, Counts()).f1


@pytest.mark.parametrize(("name", "licence"), [("en-ewt", "CC BY-SA"), ("en-amr", "Apache-2.0")])
def test_they_are_small_and_have_cards(name, licence):
    assert (PRETRAINED / name / "model.safetensors").stat().st_size < 15e6
    assert licence in (PRETRAINED / name / "README.md").read_text(encoding="utf-8")


def test_en_ewt_knows_english():
    (parse,) = Parser.load("en-ewt").parse("The old man didn't read the letter.")
    arcs = dict(zip(parse.sentence.forms, zip(parse.tree.heads, parse.tree.relations)))
    assert arcs["read"] == (0, "root") and arcs["man"] == (6, "nsubj")
    assert arcs["letter"] == (6, "obj") and arcs["n't"] == (6, "advmod")
    assert all(score > 0.5 for score in parse.arc_scores)


def test_en_amr_knows_english():
    (parse,) = Parser.load("en-amr", beam=10).parse("The little prince does not want to draw a sheep.")
    graph = parse.graph
    assert graph.labels[graph.top] == "want-01"
    assert {"prince", "little", "draw-01", "sheep", "-"} <= set(graph.labels)
    edges = {(graph.labels[s], role, graph.labels[t]) for s, role, t in graph.edges}
    assert {("want-01", "ARG0", "prince"), ("want-01", "polarity", "-"), ("draw-01", "ARG1", "sheep")} <= edges


def test_they_parse_the_samples():
    assert las(1, SAMPLE) > 70
    assert smatch(1, SAMPLE_AMR) > 0.55


@pytest.mark.slow
def test_they_reach_their_scores(corpora):
    assert las(1, corpora / "ud" / "UD_English-EWT" / "dev.conllu") > 81.0
    assert smatch(1, corpora / "amr" / "lpp-v3.0" / "dev.amr") > 0.585
