"""SemBLEU of AMRs: corpus BLEU whose n-grams are paths of the graphs.

Source: Song and Gildea 2019, "SemBleu: A Robust Metric for AMR Parsing Evaluation".

An n-gram is a path: n labels of nodes with the roles between them, for n = 1, 2, 3. It follows edges in their own
direction. The length of a graph, for the brevity penalty, is its number of nodes and edges. An n-gram order
without matches is smoothed geometrically (NIST; method 3 of Chen and Cherry 2014). sacrebleu computes the score from
the counts.

Where the paper is silent:
- Constants are nodes, and so is the value of `:wiki`. Letter case and quotation marks make no difference.
- `:domain` is the inverse of `:mod`, as in Smatch. An inverse role is turned into the role itself. The authors' program
  turns the edge but keeps `-of` in its label, so that in the program it matters from which end an edge was written.
- Every node begins n-grams. The authors' program starts from nodes without incoming edges, and so misses nodes that can
  be reached only from cycles. No edge comes twice in one n-gram.
- The three orders have the same weight (in the program: 0.34, 0.33, 0.34). An order is left out if the system has no
  n-gram of it in the whole file, as in the program.
- The top has no mark, so the focus of a graph makes no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU

from transition_parser.graphs.bank import AmrEntry

MAX_ORDER = 3


@dataclass(frozen=True)
class NgramCounts:
    """Numbers of n-grams for n = 1, 2, 3, and sizes of graphs. Counts can be added.

    match: for each n the number of the system's n-grams that match; each counts at most as often as gold has it
    system: for each n the number of all n-grams of the system
    system_size, gold_size: the number of nodes and edges of each graph
    """

    match: tuple[int, ...] = (0,) * MAX_ORDER
    system: tuple[int, ...] = (0,) * MAX_ORDER
    system_size: int = 0
    gold_size: int = 0

    @property
    def sembleu(self) -> float:
        """SemBLEU, from 0 to 1."""
        found = BLEU.compute_bleu(
            list(self.match),
            list(self.system),
            self.system_size,
            self.gold_size,
            smooth_method="exp",
            effective_order=True,
            max_ngram_order=MAX_ORDER,
        )
        return found.score / 100

    def __add__(self, other: NgramCounts) -> NgramCounts:
        return NgramCounts(
            tuple(ours + theirs for ours, theirs in zip(self.match, other.match, strict=True)),
            tuple(ours + theirs for ours, theirs in zip(self.system, other.system, strict=True)),
            self.system_size + other.system_size,
            self.gold_size + other.gold_size,
        )


def ngram_counts(gold: AmrEntry, system: AmrEntry) -> NgramCounts:
    """Return the counts from which SemBLEU of two graphs is computed."""
    (theirs, gold_size), (ours, system_size) = _ngrams(gold), _ngrams(system)
    match = tuple((ours[n] & theirs[n]).total() for n in range(MAX_ORDER))
    return NgramCounts(match, tuple(counts.total() for counts in ours), system_size, gold_size)


def _ngrams(entry: AmrEntry) -> tuple[list[Counter[tuple[str, ...]]], int]:
    """Return (a counter of the n-grams for each n, the number of nodes and edges). Nodes of `:wiki` are included."""
    labels, edges = list(entry.amr.labels), list(entry.amr.edges)
    outgoing: list[list[tuple[int, str, int]]] = [[] for _ in range(len(labels) + len(entry.wiki))]
    for number, (source, role, target) in enumerate(edges):
        outgoing[source].append((number, role, target))
    for number, node in enumerate(entry.wiki):
        outgoing[node].append((len(edges) + number, "wiki", len(labels) + number))
    names = [label.strip('"').lower() for label in (*labels, *entry.wiki.values())]
    counts: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(MAX_ORDER)]
    for node in range(len(names)):
        for order, ngram in _paths(node, names, outgoing):
            counts[order][ngram] += 1
    return counts, len(names) + len(edges) + len(entry.wiki)


def _paths(
    start: int, names: list[str], outgoing: list[list[tuple[int, str, int]]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the paths of at most MAX_ORDER nodes that begin at a node, breadth first.

    Each item is (the number of edges, the labels and roles in order).
    """
    layer: list[tuple[int, tuple[str, ...], frozenset[int]]] = [(start, (names[start],), frozenset())]
    for order in range(MAX_ORDER):
        for _node, ngram, _edges in layer:
            yield order, ngram
        layer = [
            (target, (*ngram, role.lower(), names[target]), edges | {edge})
            for node, ngram, edges in layer
            for edge, role, target in outgoing[node]
            if edge not in edges
        ]
