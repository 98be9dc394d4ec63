"""How search ranks the continuations of its hypotheses, with kernels and without."""

import pytest
import torch

from tests.conftest import both_ways
from transition_parser.kernels import search_kernels
from transition_parser.modules.contract import ActionScores
from transition_parser.parsing.search import _best_continuations

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
