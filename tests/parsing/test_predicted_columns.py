"""XPOS and features that a model predicts, in all forms of a parse; the weights of their heads are random."""

import pytest
import torch

from transition_parser import Parser
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.modules.tagging import TagHeads
from transition_parser.text.columns import Columns

VALUES = {"upos": ("NOUN", "VERB"), "xpos": ("NN", "VB"), "feats": ("Number=Sing", "Case=Nom", "Number=Plur")}
SEEN = {"xpos": {"NOUN": ["NN"], "VERB": ["VB"]}, "feats": {"NOUN": ["Number=Sing", "Number=Plur"], "VERB": []}}


@pytest.fixture(scope="module")
def parser() -> Parser:
    parser = Parser.load("en-ewt", precision="fp32")
    torch.manual_seed(1)
    heads = TagHeads(parser.model.tag_heads["upos"].in_features, Columns(VALUES, seen=SEEN), 0.1).eval()
    with torch.no_grad():
        heads["feats"].bias[1:] += torch.tensor([9.0, 9.0, 0.0])  # Number=Sing, and a Case that no tag allows
    parser.model.tags = heads
    return parser


def sentence(*columns: dict[str, str]) -> Sentence:
    words = enumerate(zip(("Glorps", "blarf", "‽‽"), columns, strict=True), 1)
    return Sentence(tuple(Row(str(i), form, **given) for i, (form, given) in words))


def test_what_is_missing_is_filled_in_and_fits_the_tag(parser):
    (parse,) = parser.parse([sentence({"upos": "NOUN"}, {"upos": "VERB"}, {})])
    dogs, bark, stop = parse.annotated().words
    assert (dogs.upos, dogs.xpos, dogs.feats) == ("NOUN", "NN", "Number=Sing")
    assert (bark.upos, bark.xpos, bark.feats) == ("VERB", "VB", "_")
    assert (stop.xpos, stop.feats) in (("NN", "Number=Sing"), ("VB", "_")) and stop.upos in VALUES["upos"]


def test_given_values_are_kept(parser):
    (parse,) = parser.parse([sentence({"xpos": "own"}, {"upos": "NOUN", "feats": "Case=Voc"}, {"upos": "NOUN"})])
    dogs, bark, stop = parse.annotated().words
    assert dogs.xpos == "own" and bark.feats == "Case=Voc" and stop.xpos == "NN"
    assert dogs.feats == stop.feats == "_"  # beside given features, _ is "no features"


def test_models_that_do_not_predict_them(checkpoint):
    (parse,) = Parser.load(checkpoint, precision="fp32").parse([["Dogs", "bark", "."]])
    assert parse.xpos == [None] * 3 and parse.feats == [{}] * 3
    assert {row.feats for row in parse.annotated().words} == {"_"}
