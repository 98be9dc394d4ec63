"""Several parses of one sentence: each another graph, best first, with probabilities."""

import math
from dataclasses import dataclass
from itertools import pairwise

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.crosses import mostly_slow
from tests.helpers.small_models import make_model, task_of
from transition_parser import Parser
from transition_parser.parsing.parses import NbestRank
from transition_parser.parsing.search import ranked

BEAM, NBEST = 6, 4
MODELS = {"en-ewt": SAMPLE, "en-amr": SAMPLE_AMR}


@dataclass(frozen=True)
class Letters:
    """A graph whose parts are letters."""

    text: str
    letter_scores: tuple[float, ...]
    probability: float
    place: NbestRank | None = None
    alternatives: tuple = ()

    def graph_key(self):
        return self.text

    def parts(self):
        return {"letter_scores": list(self.text)}


def test_derivations_of_one_graph_are_merged_by_hand():
    best = ranked(
        [
            Letters("ab", (0.5, 0.8), probability=0.4),
            Letters("ac", (1.0, 0.1), probability=0.2),
            Letters("ab", (0.9, 0.2), probability=0.1),
            Letters("cd", (0.3, 0.3), probability=0.1),
        ],
        2,
    )
    both = (best, *best.alternatives)
    assert [parse.text for parse in both] == ["ab", "ac"]
    assert [parse.probability for parse in both] == pytest.approx([0.5, 0.2])
    assert [parse.place for parse in both] == [(1, 2), (2, 2)]
    # found: 0.8. Of a, 0.7, and its mean confidence (0.4 * 0.5 + 0.2 * 1.0 + 0.1 * 0.9) / 0.7 of the other 0.2
    a = 0.7 + 0.2 * 0.49 / 0.7
    b = 0.5 + 0.2 * (0.4 * 0.8 + 0.1 * 0.2) / 0.5
    c = 0.3 + 0.2 * (0.2 * 0.1 + 0.1 * 0.3) / 0.3
    assert best.letter_scores == pytest.approx((a, b))
    assert best.alternatives[0].letter_scores == pytest.approx((a, c))
    assert best.alternatives[0].alternatives == ()


@pytest.fixture(scope="module", params=mostly_slow(MODELS, "en-amr"))
def parsed(request) -> tuple:
    """A model's name, sentences, a parser of several parses, and these."""
    parser = Parser.load(request.param, BEAM, precision="fp32", threads=1, nbest=NBEST)
    sentences = list(parser.read(MODELS[request.param]))[:24]
    return request.param, sentences, parser, parser.parse(sentences)


def test_graphs_are_different_and_ranked(parsed):
    _, _, parser, parses = parsed
    assert sum(len(parse.ranked) == NBEST for parse in parses) > len(parses) // 3  # edits make some graphs equal
    for parse in parses:
        places = [(rank, len(parse.ranked)) for rank in range(1, len(parse.ranked) + 1)]
        assert [one.place for one in parse.ranked] == places and len(places) <= NBEST
        assert len({one.graph_key() for one in parse.ranked}) == len(places)
        # as search ranks: log-probability / (actions + 1) ** P
        ranks = [
            one.mean_log_probability * (len(one.actions) + 1) ** (1 - parser.formalism.lenpen) for one in parse.ranked
        ]
        assert all(a >= b - 1e-9 for a, b in pairwise(ranks))


def test_probabilities_sum_to_1_at_most(parsed):
    *_, parses = parsed
    for parse in parses:
        assert sum(one.probability for one in parse.ranked) <= 1 + 1e-9
        for one in parse.ranked:  # that of its best derivation at least
            assert one.probability >= math.exp(one.mean_log_probability * (len(one.actions) + 1)) * (1 - 1e-6)
            for name in one.parts():
                assert all(0 <= score <= 1 for score in getattr(one, name))


def test_the_first_is_the_parse_without_alternatives(parsed):
    name, sentences, _, parses = parsed
    plain = Parser.load(name, BEAM, precision="fp32", threads=1).parse(sentences)
    assert [parse.actions for parse in plain] == [parse.actions for parse in parses]
    assert all(parse.place is None and parse.alternatives == () for parse in plain)
    few = Parser.load(name, BEAM, precision="fp32", threads=1, nbest=2).parse(sentences)
    for one, other in zip(few, parses, strict=True):
        assert [p.actions for p in one.ranked] == [p.actions for p in other.ranked[:2]]


def test_a_model_of_whole_trees_has_one(tmp_path_factory):
    task = task_of("arc-hybrid-swap", tmp_path_factory)
    model = make_model("heads", task.resources).plain
    (one,), (parse,) = (
        Parser(model, task.resources, precision="fp32", nbest=nbest).parse([["She", "sleeps", "."]]) for nbest in (1, 3)
    )
    assert one.place is None and parse.place == (1, 1) and parse.alternatives == () and parse.tree == one.tree
    assert 0 < one.probability == pytest.approx(math.prod(one.arc_scores))
    assert parse.probability == pytest.approx(one.probability)


def test_alternatives_do_not_depend_on_the_batch(parsed):
    name, sentences, _, parses = parsed
    alone = Parser.load(name, BEAM, 1, precision="fp32", threads=1, nbest=NBEST).parse(sentences)
    for one, other in zip(alone, parses, strict=True):
        assert [p.actions for p in one.ranked] == [p.actions for p in other.ranked]
        assert [p.probability for p in one.ranked] == pytest.approx([p.probability for p in other.ranked], rel=1e-3)
