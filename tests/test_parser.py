"""The Python API."""

import math
from pathlib import Path

import pytest

from tests.conftest import SAMPLE
from transition_parser import Parser
from transition_parser.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.search import search


@pytest.fixture(scope="module")
def parser(checkpoint) -> Parser:
    return Parser.load(checkpoint)


def test_all_kinds_of_input(parser):
    words = ["Dogs", "bark", "."]
    (a,) = parser.parse(words)
    (b,) = parser.parse("Dogs bark.")
    (c,) = parser.parse([words])
    assert a.tree == b.tree == c.tree and len(a.tree) == len(a.arc_scores) == 3
    sentences = list(read_conllu(SAMPLE))
    from_path, from_objects = parser.parse(Path(SAMPLE)), parser.parse(sentences)
    assert [p.tree for p in from_path] == [p.tree for p in from_objects]
    assert [p.sentence.id for p in from_path] == [s.id for s in sentences]
    assert parser.parse([]) == []
    assert [p.tree for p in parser.parse(s.forms for s in sentences)] == [p.tree for p in from_path]


@pytest.mark.parametrize("text", ["", [["a"], []], [["", "b"]], [["a\tb"]]])
def test_what_is_no_sentence(parser, text):
    with pytest.raises(InputError, match=r"no words|word \d is"):
        parser.parse(text)


def test_scores_are_probabilities_of_the_derivation(parser):
    for parse in parser.parse(Path(SAMPLE))[:10]:
        assert parse.tree.why_invalid() is None
        assert all(0.0 < score <= 1.0 for score in parse.arc_scores)
        arcs = sum(math.log(score) for score in parse.arc_scores)
        assert arcs >= parse.score * (len(parse.actions) + 1) - 1e-4


def test_a_wider_beam_scores_no_worse_in_a_fixed_length(checkpoint):
    greedy, wide = (Parser.load(checkpoint, beam=beam).parse(Path(SAMPLE)) for beam in (1, 8))
    pairs = [(g.score, w.score) for g, w in zip(greedy, wide) if len(g.actions) == len(w.actions)]
    assert sum(w > g + 1e-6 for g, w in pairs) > 0
    assert sum(w < g - 1e-6 for g, w in pairs) <= len(pairs) // 10  # beam search may lose the greedy path


def test_an_exhaustive_beam_finds_the_best_derivation(parser):
    """A beam that holds every derivation of two words: nothing scores better than what it returns."""
    words = ["Stop", "!"]
    resources, model = parser.resources, parser.model
    source = resources.encode(words)[None]
    encoder_out = model.encoder(source, features=resources.features(source))
    found = search(model.decoder, encoder_out, beam=2000, nbest=2000)[0]
    scores = [hypothesis.score for hypothesis in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(h.tokens) for h in found}) == len(found)
    total = sum(math.exp(sum(h.step_scores)) for h in found)
    assert total == pytest.approx(1.0, abs=1e-3)  # all derivations together are the whole probability


def test_bad_options(checkpoint):
    with pytest.raises(InputError, match="beam"):
        Parser.load(checkpoint, beam=0)
