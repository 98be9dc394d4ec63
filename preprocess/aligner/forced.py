"""Tokens for the nodes that no word expresses.

Such a node gets the tokens of the neighbour in the graph that fits best.
"""

from __future__ import annotations

from collections.abc import Iterator

from transition_parser.graphs.amr import AmrGraph
from transition_parser.preprocess.aligner.morphology import without_sense
from transition_parser.preprocess.aligner.rules import Around
from transition_parser.preprocess.aligner.tables import CONCEPT_WORDS, NEIGHBOURS, SENTENCE_END
from transition_parser.preprocess.aligner.words import Span, Words


def complete(graph: AmrGraph, words: Words, given: dict[int, Span]) -> list[Span]:
    """Return the span of every node, given the spans of some nodes. The graph need not be connected."""
    around = Around(graph)
    spans = dict(given)
    for node in range(len(graph)):
        if node not in spans and graph.labels[node] in _PUNCTUATED:
            tokens = _PUNCTUATED[graph.labels[node]](around, node, words, spans)
            if tokens:
                spans[node] = tokens
    _spread(around, words, spans)
    return [spans[node] for node in range(len(graph))]


def _spread(around: Around, words: Words, spans: dict[int, Span]) -> None:
    """Give every node without tokens the tokens of a neighbour.

    The first rounds follow the edges that `NEIGHBOURS` names, until a round finds nothing. Later rounds follow all
    edges. A round that follows the same edges as the round before looks only at neighbours of newly aligned nodes.
    """
    everything = range(len(around.graph))
    looked_at, strict = set(everything) - spans.keys(), True
    while len(spans) < len(everything):
        more = {node: tokens for node in looked_at if (tokens := _from_neighbours(around, node, spans, strict))}
        if not more and strict:
            looked_at, strict = set(everything) - spans.keys(), False
            continue
        if not more:
            first = next(node for node in everything if node not in spans)
            more = {first: _last_resort(words, spans)}
        spans |= more
        looked_at = {near for node in more for _, near in (*around.out[node], *around.into[node])} - spans.keys()


def is_lexical(graph: AmrGraph, node: int) -> bool:
    """Return True for a concept that is likely to have a word of its own, because the tables do not list it."""
    label = graph.labels[node]
    keys = (label, without_sense(label), label.rpartition("-")[2])
    return node not in graph.constants and not any(key in NEIGHBOURS or key in CONCEPT_WORDS for key in keys)


def _from_neighbours(around: Around, node: int, spans: dict[int, Span], strict: bool) -> Span | None:
    """Return the tokens of the best neighbour, None if no neighbour fits.

    strict: True to consider only the neighbours that `NEIGHBOURS` names for the concept
    """
    for pattern in _patterns(around, node):
        for other in _matching(around, node, pattern):
            if other in spans:
                return spans[other]
    if strict:
        return None
    others = [other for _, other in around.into[node]] + [other for _, other in around.out[node]]
    return next((spans[other] for other in others if other in spans), None)


def _patterns(around: Around, node: int) -> list[str]:
    label = around.graph.labels[node]
    for key in (label, around.lemma(node), label.rpartition("-")[2]):
        if key in NEIGHBOURS:
            return NEIGHBOURS[key].split()
    return [">name"]


def _matching(around: Around, node: int, pattern: str) -> Iterator[int]:
    role = pattern[1:]
    edges = around.out[node]
    if pattern[0] == "<":  # first the sources written below the node, by an inverse role such as :ARG0-of
        edges = sorted(around.into[node], key=lambda edge: edge[1] < node)
    yield from (other for name, other in edges if role in ("*", name))


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


def _last_resort(words: Words, spans: dict[int, Span]) -> Span:
    """Return the first token that is neither a function word nor aligned to a node.

    If there is none, return the first content word, or else the first token.
    """
    taken = {token for tokens in spans.values() for token in tokens}
    free = [token for token in range(len(words)) if not words.function[token] and token not in taken]
    content = [token for token in range(len(words)) if not words.function[token]]
    return ((free or content or [0])[0],)
