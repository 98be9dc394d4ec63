"""The agreement between several AMRs of one sentence. The AMR that agrees most with all of them is the best.

Source: Lee et al. 2022 (Maximum Bayes Smatch Ensemble Distillation for AMR Parsing), sec. 3
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.amr_matching import LARGE, climbed
from transition_parser.graphs.amr_triples import graph_triples


def agreements(
    graphs: Sequence[AmrGraph], alignments: Sequence[Sequence[Sequence[int]]], weights: Sequence[float]
) -> list[float]:
    """Return for each AMR its mean Smatch F1 with all AMRs, itself included, from 0 to 1.

    The hill-climbing for the best mapping of nodes starts by joining nodes that are aligned to the same words. If a
    graph has more than 400 nodes, all agreements are 0, because the comparison would take too long.

    graphs: at least one AMR
    alignments: for each graph the words of each node
    weights: the weight of each AMR in the means; not all are 0
    """
    total, sums = sum(weights), [*map(float, weights)]
    if max(map(len, graphs)) ** 2 > LARGE:
        return [0.0] * len(graphs)
    triples = [graph_triples(graph).normalized() for graph in graphs]
    places = [_places(graph, words) for graph, words in zip(graphs, alignments, strict=True)]
    numbers = [{place: node for node, place in enumerate(own)} for own in places]
    for i, (one, own) in enumerate(zip(triples, places, strict=True)):
        for j in range(i):
            match = climbed(one, triples[j], [numbers[j].get(place, -1) for place in own])
            score = 2 * match / (len(one) + len(triples[j]))
            sums[i] += score * weights[j]
            sums[j] += score * weights[i]
    return [one / total for one in sums]


def _places(graph: AmrGraph, alignments: Sequence[Sequence[int]]) -> list[tuple[tuple[int, ...], int]]:
    """Return (words, number among the nodes of these words) for each concept node. Equal pairs are joined first."""
    seen: Counter[tuple[int, ...]] = Counter()
    places = []
    for node, words in enumerate(map(tuple, alignments)):
        if node not in graph.constants:
            places.append((words, seen[words]))
            seen[words] += 1
    return places
