"""The selection of a span for each node: a span that fits, is near the neighbors' spans, and is not shared."""

from __future__ import annotations

from collections.abc import Sequence

from transition_parser.graphs.amr import AmrGraph
from transition_parser.preprocess.aligner import (
    CONCEPT_WORDS,
    FIRST_MENTIONED,
    NEIGHBORS,
    SENTENCE_END,
    SHARING,
)
from transition_parser.preprocess.aligner.rules import Around, Candidate
from transition_parser.preprocess.aligner.words import Span, Words, gap, without_sense

_DISTANCE, _PRONOUN_DISTANCE = 0.3, 0.1  # the loss of a candidate that is far from all neighbors
_FAR = 12  # tokens; larger gaps count as this one
_NEAR = 0.34  # in fractions of _FAR; `spend` gives a node an unused token up to this distance from its neighbors
_LATE, _LATE_PRONOUN = 0.05, 0.35  # the loss of a candidate at the end of the sentence; early mentions are preferred
# the loss if the token is taken by another node, by a neighbor in the graph, or by a node with the same label
_TAKEN, _TAKEN_BY_NEIGHBOR, _TAKEN_BY_TWIN = 0.3, 0.15, 0.5
_LEAST = 0.22  # score; a node whose best candidate scores less is left to its neighbors
_SWEEPS = 6


class SpanSelection:
    """A search for a span of each node that has candidates: greedily, then node by node until nothing changes.

    fixed: the spans of nodes that keep their spans
    """

    def __init__(
        self, graph: AmrGraph, candidates: Sequence[Sequence[Candidate]], fixed: dict[int, Span], size: int
    ) -> None:
        self.graph, self.candidates = graph, candidates
        self.size = size
        self.around = [sorted(set(near) - {node}) for node, near in enumerate(graph.neighbors())]
        self.joined: list[list[int]] = [[] for _ in graph.labels]  # of each conjunction, in order
        for source, role, target in graph.edges:
            if graph.labels[source] in ("and", "or") and role.startswith("op"):
                self.joined[source].append(target)
        self.spans: dict[int, Span] = dict(fixed)
        self.free = [node for node in range(len(graph)) if candidates[node] and node not in fixed]
        # the pairs of nodes with the same label and the same spans to choose from
        alike: dict[tuple[str, frozenset[Span]], list[int]] = {}
        groups = []
        for node in self.free:
            key = graph.labels[node], frozenset(candidate.tokens for candidate in candidates[node])
            groups.append(alike.setdefault(key, []))
            groups[-1].append(node)
        pairs = zip(self.free, groups, strict=True)
        self.twins = [(one, other) for one, group in pairs for other in group if one < other]
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
        """Give each of the nodes at most one unused token near its neighbors, and return node → span for all nodes."""
        pairs = sorted((self._distance(node, (token,)), token, node) for node in nodes for token in tokens)
        given: dict[int, Span] = {}
        for distance, token, node in pairs:
            if distance <= _NEAR and node not in given and not self.holders.get(token):
                given[node] = (token,)
                self._hold(node, (token,))
        self.spans |= given
        return self.spans

    def _swap(self, one: int, other: int) -> bool:
        """Swap the spans of two nodes if the sum of both nodes' distances from their neighbors becomes smaller."""
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
        """Return a sort key that is small for nodes whose best candidate has a high score and a large lead."""
        scores = [candidate.score for candidate in self.candidates[node][:2]]
        margin = scores[0] - scores[1] if len(scores) > 1 else scores[0]
        is_conjunction = bool(self.joined[node])
        return is_conjunction, -node if is_conjunction else -(scores[0] + margin), node

    def _select(self, node: int) -> bool:
        """Select the span of a node again, given the spans of all other nodes. Return True if the span changed."""
        before = self.spans.pop(node, None)
        if before is not None:
            self._release(node, before)
        pronoun = self.graph.labels[node] in FIRST_MENTIONED
        late, far = (_LATE_PRONOUN, _PRONOUN_DISTANCE) if pronoun else (_LATE, _DISTANCE)
        options = []
        for tokens, score in self.candidates[node]:
            near = score - far * self._distance(node, tokens) - late * tokens[0] / self.size
            options.append((near - self._competition(node, tokens), -tokens[0], tokens))
        worth, _, tokens = max(options)
        # the loss by competition is partly given back: a shared token near the neighbors is better than none
        shared = self._competition(node, tokens) * (1 - self._distance(node, tokens))
        if worth + shared < _LEAST:
            return before is not None
        self.spans[node] = tokens
        self._hold(node, tokens)
        return tokens != before

    def _distance(self, node: int, tokens: Span) -> float:
        """Return the mean gap, 0 … 1, to the neighbors' spans; 0 for a conjunction between its last conjuncts."""
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
                    worst = max(worst, _TAKEN_BY_NEIGHBOR if other in self.around[node] else _TAKEN)
        return worst

    def _hold(self, node: int, tokens: Span) -> None:
        for token in tokens:
            self.holders.setdefault(token, set()).add(node)

    def _release(self, node: int, tokens: Span) -> None:
        for token in tokens:
            self.holders[token].discard(node)


def complete(graph: AmrGraph, words: Words, given: dict[int, Span]) -> list[Span]:
    """Return the span of every node, given the spans of some nodes. The graph need not be connected."""
    around = Around(graph)
    spans = dict(given)
    for node in range(len(graph)):
        if node not in spans and graph.labels[node] in _PUNCTUATED:
            tokens = _PUNCTUATED[graph.labels[node]](around, node, words, spans)
            if tokens:
                spans[node] = tokens
    everything = range(len(graph))
    looked_at, strict = set(everything) - spans.keys(), True  # nodes that may get the tokens of a neighbor
    while len(spans) < len(everything):
        more = {node: tokens for node in looked_at if (tokens := _from_neighbors(around, node, spans, strict))}
        if not more and strict:
            looked_at, strict = set(everything) - spans.keys(), False
            continue
        if not more:
            # the first token that is neither a function word nor aligned to a node
            taken = {token for tokens in spans.values() for token in tokens}
            content = [token for token in range(len(words)) if not words.function[token]]
            free = [token for token in content if token not in taken]
            more = {next(node for node in everything if node not in spans): ((free or content or [0])[0],)}
        spans |= more
        looked_at = {near for node in more for _, near in (*around.out[node], *around.into[node])} - spans.keys()
    return [spans[node] for node in everything]


def is_lexical(graph: AmrGraph, node: int) -> bool:
    """Return True for a concept that is likely to have a word of its own, because the tables do not list it."""
    label = graph.labels[node]
    keys = (label, without_sense(label), label.rpartition("-")[2])
    return node not in graph.constants and not any(key in NEIGHBORS or key in CONCEPT_WORDS for key in keys)


def _from_neighbors(around: Around, node: int, spans: dict[int, Span], strict: bool) -> Span | None:
    """Return the tokens of the best neighbor, None if no neighbor fits."""
    label = around.graph.labels[node]
    key = next((key for key in (label, around.lemma(node), label.rpartition("-")[2]) if key in NEIGHBORS), None)
    for direction, role in ((one[0], one[1:]) for one in (NEIGHBORS[key].split() if key else [">name"])):
        edges = around.out[node]
        if direction == "<":  # first the sources written below the node, by an inverse role such as :ARG0-of
            edges = sorted(around.into[node], key=lambda edge: edge[1] < node)
        for name, other in edges:
            if role in ("*", name) and other in spans:
                return spans[other]
    if strict:
        return None
    others = [other for _, other in around.into[node]] + [other for _, other in around.out[node]]
    return next((spans[other] for other in others if other in spans), None)


def _sentence_end(around: Around, node: int, words: Words, spans: dict[int, Span]) -> Span | None:
    """Return the first mark that may end a sentence, as the span of `multi-sentence`; None if there is none."""
    ends = [token for token in range(len(words)) if words.forms[token] in SENTENCE_END]
    return (ends[0],) if ends else None


def _between(around: Around, node: int, words: Words, spans: dict[int, Span]) -> Span | None:
    """Return the last unaligned punctuation mark between two successive conjuncts; None if there is none."""
    parts = [spans[other] for role, other in around.out[node] if role.startswith("op") and other in spans]
    taken = {token for tokens in spans.values() for token in tokens}
    for left, right in zip(parts[-2::-1], parts[:0:-1], strict=True):
        marks = [t for t in range(left[-1] + 1, right[0]) if words.is_punctuation(t) and t not in taken]
        if marks:
            return (marks[-1],)
    return None


_PUNCTUATED = {"multi-sentence": _sentence_end, "and": _between, "or": _between}
