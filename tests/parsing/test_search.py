"""How search ranks the continuations of its hypotheses, with kernels and without, and what an observer is told."""

import pytest
import torch

from tests.conftest import both_ways
from tests.small_models import encode, make_folder, make_model, make_task
from transition_parser import Parser
from transition_parser.kernels import search_kernels
from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.search import Observed, _best_continuations, search

DEAD = float("-inf")


kernels = both_ways(search_kernels)


@pytest.mark.usefixtures("kernels")
def test_a_dead_hypothesis_never_wins():
    """The second hypothesis of the first sentence and all of the second are dead, and have no legal action."""
    legal = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    totals = torch.tensor([[-1.0, DEAD], [DEAD, DEAD]])
    found = torch.tensor([[0.0, 0.0, 9.0], [1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    best, added, index = _best_continuations(ActionScores(found, None, legal, None), totals, 3)
    half = float(torch.tensor(0.5).log())
    assert best[0, :2].tolist() == pytest.approx([-1.0 + half] * 2)
    assert best[0, 2] == DEAD and (best[1] == DEAD).all()
    assert added[0, :2].tolist() == pytest.approx([half] * 2)
    assert sorted(index[0, :2].tolist()) == [0, 1] and ((index >= 0) & (index < 6)).all()


class Prefixes:
    """An observer that keeps the scores of the next action by the sentence and the actions so far."""

    def __init__(self, sentences: int, actions: int) -> None:
        self.rows: list[tuple[int, ...]] = [(sentence,) for sentence in range(sentences)]
        self.actions, self.first, self.fewest = actions, True, sentences
        self.scores: dict[tuple[int, ...], torch.Tensor] = {}

    def __call__(self, step: Observed) -> None:
        if not self.first:
            tokens = step.tokens.tolist()
            origin = range(len(tokens)) if step.origin is None else step.origin.tolist()
            self.rows = [(*self.rows[row], token) for row, token in zip(origin, tokens, strict=True)]
        self.first, self.fewest = False, min(self.fewest, len({row[0] for row in self.rows}))
        found = step.scores.log_probabilities(self.actions)
        alive = step.alive.tolist()
        self.scores |= {row: scores for row, scores, there in zip(self.rows, found, alive, strict=True) if there}


@pytest.mark.parametrize("beam", [1, 3])
def test_an_observer_can_follow_each_hypothesis(tmp_path_factory, beam):
    """Through the moves of hypotheses, and where finished sentences leave the batch."""
    resources = make_task(make_folder("arc-hybrid-swap", tmp_path_factory)).resources
    parser = Parser(make_model("state", resources).plain, resources, precision="fp32")
    sentences = [["word"] * length for length in (1, 12, 2, 7, 1)]
    observer = Prefixes(len(sentences), len(resources.table.tokens))
    found = search(parser.model, encode(parser, sentences), beam, beam, observer=observer)
    assert observer.fewest < len(sentences)
    for sentence, hypotheses in enumerate(found):
        assert len(hypotheses) == 1 or beam > 1
        for best in hypotheses:
            prefixes = [(sentence, *best.tokens[:step]) for step in range(len(best.tokens))]
            scores = [float(observer.scores[p][token]) for p, token in zip(prefixes, best.tokens, strict=True)]
            assert scores == pytest.approx(best.step_scores, abs=1e-5)
    unobserved = search(parser.model, encode(parser, sentences), beam, beam)
    assert [[one.tokens for one in some] for some in unobserved] == [[one.tokens for one in some] for some in found]


def _forced_steps(_step: Observed) -> None:
    """An observer that does nothing: with an observer, search goes step by step."""


@pytest.mark.skipif(search_kernels.library() is None, reason="set up without a compiler for the kernels")
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("beam", [1, 2, 7])
@pytest.mark.parametrize("system", ["arc-hybrid", "arc-hybrid-swap", "arc-standard", "arc-standard-swap"])
def test_the_kernel_finds_what_search_finds_step_by_step(tmp_path_factory, system, beam, precision):
    """A decoder that adds up vectors of words is searched by one call: the same derivations with the same scores."""
    resources = make_task(make_folder(system, tmp_path_factory, 0)).resources
    model = make_model("tob", resources).plain
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.mul_(3.0)  # random weights are small: derivations would have nearly equal scores
    parser = Parser(model, resources, precision=precision)
    words = "the old dog saw a cat and its Kittens slept , 1999".split()
    sentences = [[words[(i * step) % len(words)] for i in range(step)] for step in (*range(1, 24), 3, 1)] * 3
    encoded = encode(parser, sentences)
    at_once = search(parser.model, encoded, beam, beam)
    by_steps = search(parser.model, encoded, beam, beam, observer=_forced_steps)
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encoded, beam) is not None
    same = 0
    for one, other in zip(at_once, by_steps, strict=True):
        assert len(one) == len(other)
        if [a.tokens for a in one] == [b.tokens for b in other]:
            same += 1
            for a, b in zip(one, other, strict=True):
                assert a.step_scores == pytest.approx(b.step_scores, abs=0.05 if precision == "bf16" else 1e-4)
                assert a.score == pytest.approx(b.score, abs=0.05 if precision == "bf16" else 1e-4)
    # in bf16 sums that differ in their last bit are rounded to other numbers, so that few beams are ordered otherwise
    assert same == len(sentences) if precision == "fp32" else same >= 0.8 * len(sentences)


@pytest.mark.parametrize("kind", ["arc-eager", "labelled shift", "amr"])
def test_search_goes_step_by_step_where_the_kernel_cannot_follow(tmp_path_factory, kind):
    """Legality depends on arcs, on the word of SHIFT, or on the nodes of an AMR."""
    labelled = kind == "labelled shift"
    folder = make_folder("arc-hybrid-swap" if labelled else kind, tmp_path_factory, 3 if labelled else 0)
    resources = make_task(folder).resources
    parser = Parser(make_model("tob", resources).plain, resources, precision="fp32")
    with torch.inference_mode():
        assert parser.model.decoder.search_at_once(encode(parser, [["The", "dog"]]), 1) is None
