"""The selection of a span for each node: a span that fits, is near the neighbours' spans, and is not shared."""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.graphs.amr import AmrGraph
from transition_parser.preprocess.aligner.rules import Candidate
from transition_parser.preprocess.aligner.tables import FIRST_MENTIONED, SHARING
from transition_parser.preprocess.aligner.words import Span, gap

_DISTANCE, _PRONOUN_DISTANCE = 0.3, 0.1  # the loss of a candidate that is far from all neighbours
_FAR = 12  # tokens; larger gaps count as this one
_NEAR = 0.34  # in fractions of _FAR; `spend` gives a node an unused token up to this distance from its neighbours
_LATE, _LATE_PRONOUN = 0.05, 0.35  # the loss of a candidate at the end of the sentence; early mentions are preferred
# the loss if the token is taken by another node, by a neighbour in the graph, or by a node with the same label
_TAKEN, _TAKEN_BY_NEIGHBOUR, _TAKEN_BY_TWIN = 0.3, 0.15, 0.5
_LEAST = 0.22  # score; a node whose best candidate scores less is left to its neighbours
_SWEEPS = 6


class SpanSelection:
    """A search for a span of each node that has candidates: greedily, then node by node until nothing changes.

    fixed: the spans of nodes that keep their spans
    size: the number of tokens
    """

    def __init__(
        self, graph: AmrGraph, candidates: Sequence[Sequence[Candidate]], fixed: dict[int, Span], size: int
    ) -> None:
        self.graph, self.candidates = graph, candidates
        self.size = size
        self.around = [sorted(set(near) - {node}) for node, near in enumerate(graph.neighbours())]
        self.joined = _conjuncts(graph)
        self.spans: dict[int, Span] = dict(fixed)
        self.free = [node for node in range(len(graph)) if candidates[node] and node not in fixed]
        self.twins = self._twins()
        self.holders: dict[int, set[int]] = {}
        for node, tokens in fixed.items():
            self._hold(node, tokens)

    def run(self) -> dict[int, Span]:
        """Select the spans, and return node → span for the nodes that have a span."""
        for node in sorted(self.free, key=self._doubt):
            self._select(node)
        for _ in range(_SWEEPS):
            changed = [self._select(node) for node in self.free]
            swapped = [self._swap(one, other) for one, other in self.twins]
            if not any(changed) and not any(swapped):
                break
        return self.spans

    def spend(self, nodes: Sequence[int], tokens: Sequence[int]) -> dict[int, Span]:
        """Give each of the nodes at most one unused token near its neighbours, and return node → span for all nodes."""
        pairs = sorted((self._distance(node, (token,)), token, node) for node in nodes for token in tokens)
        given: dict[int, Span] = {}
        for distance, token, node in pairs:
            if distance <= _NEAR and node not in given and not self.holders.get(token):
                given[node] = (token,)
                self._hold(node, (token,))
        self.spans |= given
        return self.spans

    def _twins(self) -> list[tuple[int, int]]:
        """Return the pairs of nodes with the same label and the same spans to choose from."""
        alike: dict[tuple[str, frozenset[Span]], list[int]] = {}
        groups = []
        for node in self.free:
            key = self.graph.labels[node], frozenset(candidate.tokens for candidate in self.candidates[node])
            groups.append(alike.setdefault(key, []))
            groups[-1].append(node)
        return [(one, other) for one, group in zip(self.free, groups, strict=True) for other in group if one < other]

    def _swap(self, one: int, other: int) -> bool:
        """Swap the spans of two nodes if the sum of both nodes' distances from their neighbours becomes smaller.

        Return True if the spans were swapped.

        one, other: nodes with the same label and the same candidates, see `_twins`
        """
        if one not in self.spans or other not in self.spans or self.spans[one] == self.spans[other]:
            return False
        first, second = self.spans[one], self.spans[other]
        before = self._distance(one, first) + self._distance(other, second)
        self.spans[one], self.spans[other] = second, first
        if self._distance(one, second) + self._distance(other, first) < before - 1e-9:
            for node, old, new in ((one, first, second), (other, second, first)):
                self._release(node, old)
                self._hold(node, new)
            return True
        self.spans[one], self.spans[other] = first, second
        return False

    def _doubt(self, node: int) -> tuple[bool, float, int]:
        """Return a sort key that is small for nodes whose best candidate has a high score and a large lead on the next.

        Conjunctions come after all other nodes, the innermost first.
        """
        scores = [candidate.score for candidate in self.candidates[node][:2]]
        margin = scores[0] - scores[1] if len(scores) > 1 else scores[0]
        is_conjunction = bool(self.joined[node])
        return is_conjunction, -node if is_conjunction else -(scores[0] + margin), node

    def _select(self, node: int) -> bool:
        """Select the span of a node again, given the spans of all other nodes. Return True if the span changed."""
        before = self.spans.pop(node, None)
        if before is not None:
            self._release(node, before)
        worth, _, tokens = max((self._worth(node, c), -c.tokens[0], c.tokens) for c in self.candidates[node])
        # the loss by competition is partly given back: a shared token near the neighbours is better than none
        shared = self._competition(node, tokens) * (1 - self._distance(node, tokens))
        if worth + shared < _LEAST:
            return before is not None
        self.spans[node] = tokens
        self._hold(node, tokens)
        return tokens != before

    def _worth(self, node: int, candidate: Candidate) -> float:
        tokens, score = candidate
        pronoun = self.graph.labels[node] in FIRST_MENTIONED
        late = _LATE_PRONOUN if pronoun else _LATE
        far = (_PRONOUN_DISTANCE if pronoun else _DISTANCE) * self._distance(node, tokens)
        return score - far - late * tokens[0] / self.size - self._competition(node, tokens)

    def _distance(self, node: int, tokens: Span) -> float:
        """Return the mean gap, 0 … 1, to the neighbours' spans; 0 for a conjunction between its last conjuncts."""
        if self.joined[node]:
            parts = [self.spans[part] for part in self.joined[node] if part in self.spans]
            if len(parts) > 1 and parts[-2][0] <= tokens[0] <= parts[-1][-1]:
                return 0.0
        gaps = [min(_FAR, gap(tokens, self.spans[near])) for near in self.around[node] if near in self.spans]
        return sum(gaps) / (_FAR * len(gaps)) if gaps else 0.0

    def _competition(self, node: int, tokens: Span) -> float:
        labels = self.graph.labels
        worst = 0.0
        for token in tokens:
            for other in self.holders.get(token, ()):
                if labels[other] == labels[node]:
                    worst = max(worst, _TAKEN_BY_TWIN)
                elif labels[other] not in SHARING and labels[node] not in SHARING:
                    worst = max(worst, _TAKEN_BY_NEIGHBOUR if other in self.around[node] else _TAKEN)
        return worst

    def _hold(self, node: int, tokens: Span) -> None:
        for token in tokens:
            self.holders.setdefault(token, set()).add(node)

    def _release(self, node: int, tokens: Span) -> None:
        for token in tokens:
            self.holders[token].discard(node)


def _conjuncts(graph: AmrGraph) -> list[list[int]]:
    """Return for each node the nodes that it joins as a conjunction, in order."""
    joined: list[list[int]] = [[] for _ in graph.labels]
    for source, role, target in graph.edges:
        if graph.labels[source] in ("and", "or") and role.startswith("op"):
            joined[source].append(target)
    return joined
