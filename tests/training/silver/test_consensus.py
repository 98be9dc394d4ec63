"""The graph that agrees most with the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr_score import smatch_counts
from transition_parser.training.silver.consensus import consensus

SEE = "(s / see-01 :ARG0 (b / boy))"
GRAPHS = [SEE, "(s / see-01 :ARG0 (g / girl))", "(s / see-01 :ARG1 (b / boy))", "(l / look-01 :ARG0 (b / boy))"]


def test_a_single_graph_agrees_with_itself():
    assert consensus([SEE]) == (0, 1.0)


def test_the_majority_is_chosen_and_of_equal_ones_the_first():
    assert consensus([GRAPHS[1], SEE, SEE]).best == 1
    assert consensus([GRAPHS[1], SEE]).best == 0
    assert consensus([SEE, SEE]) == (0, 1.0)


@given(st.lists(st.sampled_from(GRAPHS), min_size=2, max_size=6))
def test_agreement_is_the_mean_smatch_with_all_others(graphs):
    means = []
    for i, one in enumerate(graphs):
        scores = [smatch_counts(one, other).f1 for j, other in enumerate(graphs) if j != i]
        means.append(sum(scores) / len(scores))
    best = consensus(graphs)
    assert best.agreement == pytest.approx(max(means)) and means[best.best] == pytest.approx(max(means))


def test_graphs_of_equal_keys_are_compared_once(monkeypatch):
    from transition_parser.training.silver import consensus as module

    compared = []
    monkeypatch.setattr(module, "best_mapping", lambda one, other, restarts: compared.append(1) or (1, []))
    module.consensus([SEE, "(x / see-01 :ARG0 (y / boy))", GRAPHS[1]], ["a", "a", "b"])
    assert len(compared) == 1


def test_a_text_that_is_no_graph_is_an_error():
    with pytest.raises(InputError):
        consensus([SEE, "see"])
