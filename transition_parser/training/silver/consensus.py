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


def consensus(graphs: Sequence[str], keys: Sequence[Hashable] | None = None) -> Consensus:
    """Return the graph with the largest mean Smatch against all others; of equal ones the first.

    Smatch is the F1 of the mapping of nodes that one climb from equal concepts finds. A graph that comes several times
    counts as often.

    graphs: at least one graph in PENMAN
    keys: a key for each graph, equal for equal graphs, so that these need not be compared

    Raises `InputError` for graphs that the package `smatch` can't read.

    >>> consensus(["(s / see-01)", "(s / see-01 :ARG0 (b / boy))", "(s / see-01 :ARG0 (g / girl))"]).best
    1
    """
    keys = list(graphs if keys is None else keys)
    distinct = list(dict.fromkeys(keys))
    triples = [read_triples(graphs[keys.index(key)]) for key in distinct]
    count = [keys.count(key) for key in distinct]
    if len(graphs) == 1:
        return Consensus(0, 1.0)
    sums = [float(number - 1) for number in count]  # with equal graphs Smatch is 1
    for i, one in enumerate(triples):
        for j in range(i):
            score = _f1(one, triples[j])
            sums[i] += score * count[j]
            sums[j] += score * count[i]
    best = max(range(len(distinct)), key=lambda i: (sums[i], -i))
    return Consensus(keys.index(distinct[best]), sums[best] / (len(graphs) - 1))


def _f1(one: Triples, other: Triples) -> float:
    match, _mapping = best_mapping(one, other, restarts=0)
    return 2 * match / (len(one) + len(other))
