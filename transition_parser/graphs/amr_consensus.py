"""The choice among several AMRs of a sentence: the graph that agrees most with the others.

Source: Lee et al. 2022 (Maximum Bayes Smatch Ensemble Distillation for AMR Parsing), sec. 3
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from transition_parser.graphs.amr_matching import best_mapping
from transition_parser.graphs.amr_triples import Triples, read_triples


class Consensus(NamedTuple):
    """The best of some graphs.

    best: its place among the graphs
    agreement: the mean Smatch F1 with the others, from 0 to 1; 1 for a single graph
    """

    best: int
    agreement: float


def expected_smatch(graphs: Sequence[str], weights: Sequence[float]) -> list[float]:
    """Return for each graph the weighted mean of its Smatch F1 with all graphs, with itself too: from 0 to 1.

    If the weights are the probabilities of the graphs, this is the Smatch to expect, and its best graph is the choice
    of minimum Bayes risk. Smatch is the F1 of the mapping of nodes that one climb from equal concepts finds.

    graphs: different graphs in PENMAN
    weights: one for each graph, not negative; all count the same where the sum is 0

    Raises `InputError` for graphs that the package `smatch` can't read.

    >>> graphs = ["(s / see-01)", "(s / see-01 :ARG0 (b / boy))"]
    >>> [round(score, 2) for score in expected_smatch(graphs, [3, 1])]
    [0.92, 0.75]
    """
    total = sum(weights)
    shares = [weight / total for weight in weights] if total else [1 / len(graphs)] * len(graphs)
    if len(graphs) == 1:
        return shares
    triples, sums = [*map(read_triples, graphs)], [*shares]  # with itself Smatch is 1
    for i, one in enumerate(triples):
        for j in range(i):
            score = _f1(one, triples[j])
            sums[i] += score * shares[j]
            sums[j] += score * shares[i]
    return sums


def consensus(graphs: Sequence[str], keys: Sequence[Hashable] | None = None) -> Consensus:
    """Return the graph with the largest mean Smatch against all others; of equal ones the first.

    A graph that comes several times counts as often.

    graphs: at least one graph in PENMAN
    keys: a key for each graph, equal for equal graphs, so that these need not be compared

    Raises `InputError` for graphs that the package `smatch` can't read.

    >>> consensus(["(s / see-01)", "(s / see-01 :ARG0 (b / boy))", "(s / see-01 :ARG0 (g / girl))"]).best
    1
    """
    keys = list(graphs if keys is None else keys)
    distinct = list(dict.fromkeys(keys))
    means = expected_smatch([graphs[keys.index(key)] for key in distinct], [*map(keys.count, distinct)])
    best = max(range(len(distinct)), key=lambda i: (means[i], -i))
    others = len(graphs) - 1  # the mean is with the graph itself, too
    agreement = (means[best] * len(graphs) - 1) / others if others else 1.0
    return Consensus(keys.index(distinct[best]), agreement)


def _f1(one: Triples, other: Triples) -> float:
    match, _mapping = best_mapping(one, other, restarts=0)
    return 2 * match / (len(one) + len(other))
