"""How search ranks the continuations of its hypotheses, and what an observer is told."""

import pytest
import torch

from tests.small_models import encode, make_folder, make_model, make_task
from transition_parser import Parser
from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.search import Observed, _best_continuations, search

DEAD = float("-inf")


def test_a_dead_hypothesis_never_wins():
    """The second hypothesis of the first sentence and all of the second are dead, and have no legal action."""
    legal = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    totals = torch.tensor([[-1.0, DEAD], [DEAD, DEAD]])
    found = torch.tensor([[0.0, 0.0, 9.0], [1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    best, added, index = _best_continuations(ActionScores(found, None, legal), totals, 3)
    half = float(torch.tensor(0.5).log())
    assert best[0, :2].tolist() == pytest.approx([-1.0 + half] * 2)
    assert best[0, 2] == DEAD and (best[1] == DEAD).all()
    assert added[0, :2].tolist() == pytest.approx([half] * 2)
    assert sorted(index[0, :2].tolist()) == [0, 1] and ((index >= 0) & (index < 6)).all()


class Prefixes:
    """An observer that keeps the scores of the next action by the sentence and the actions so far."""

    def __init__(self, sentences: int) -> None:
        self.rows: list[tuple[int, ...]] = [(sentence,) for sentence in range(sentences)]
        self.first, self.fewest = True, sentences
        self.scores: dict[tuple[int, ...], torch.Tensor] = {}

    def __call__(self, step: Observed) -> None:
        if not self.first:
            tokens = step.tokens.tolist()
            origin = range(len(tokens)) if step.origin is None else step.origin.tolist()
            self.rows = [(*self.rows[row], token) for row, token in zip(origin, tokens, strict=True)]
        self.first, self.fewest = False, min(self.fewest, len({row[0] for row in self.rows}))
        found = step.scores.log_probabilities()
        alive = step.alive.tolist()
        self.scores |= {row: scores for row, scores, there in zip(self.rows, found, alive, strict=True) if there}


@pytest.mark.parametrize("beam", [1, 3])
def test_an_observer_can_follow_each_hypothesis(tmp_path_factory, beam):
    """Through the moves of hypotheses, and where finished sentences leave the batch."""
    resources = make_task(make_folder("arc-hybrid-swap", tmp_path_factory)).resources
    parser = Parser(make_model("state", resources).plain, resources, precision="fp32")
    sentences = [["word"] * length for length in (1, 12, 2, 7, 1)]
    observer = Prefixes(len(sentences))
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
