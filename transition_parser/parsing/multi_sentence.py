"""One AMR for a text: the graphs of its sentences under the concept `multi-sentence`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph, Edge, with_numbers
from transition_parser.graphs.bank import AmrEntry
from transition_parser.parsing.parses import AmrParse, Derivation, within_depth

TOP = "multi-sentence"


def multi_sentence(parses: Iterable[AmrParse], id_: str | None = None) -> AmrParse:
    """Return a parse of a text, in whose graph the graphs of its sentences are `:snt1`, `:snt2`, … of `multi-sentence`.

    A sentence that is a `multi-sentence` itself adds its own members, and a single sentence keeps its graph. Words,
    nodes, confidences and actions of the sentences follow one another. Alternatives are left out.

    parses: the parses of the sentences in order
    id_: the `# ::id` of the text

    Raises `InputError` where there are no parses, and for trees.
    """
    parses = [*parses]
    if not parses:
        raise InputError("a text without sentences has no AMR")
    if not all(isinstance(parse, AmrParse) for parse in parses):
        raise InputError("parses of AMRs are needed: these are of another model")
    entries = [parse.sentence for parse in parses]
    metadata = ({} if id_ is None else {"id": id_}) | {"snt": " ".join(entry.text for entry in entries)}
    sentence = replace(
        AmrEntry.from_words((form for entry in entries for form in entry.forms), metadata),
        path=entries[0].path, line=entries[0].line, spans=tuple(span for entry in entries for span in entry.spans),
    )  # fmt: skip
    if len(parses) == 1:
        return replace(parses[0], sentence=sentence, place=None, alternatives=())
    labels, node_scores = [TOP], [1.0]
    alignments: list[tuple[int, ...]] = [()]
    edges: list[Edge] = []
    edge_scores: list[float] = []
    constants: set[int] = set()
    wiki: dict[int, str] = {}
    new_names: dict[int, str] = {}
    words = 0
    for parse in parses:
        graph, is_several = parse.graph, parse.graph.labels[parse.graph.top] == TOP
        nodes = [node for node in range(len(graph)) if not (is_several and node == graph.top)]
        number = {graph.top: 0} | {node: len(labels) + i for i, node in enumerate(nodes)}
        labels += [graph.labels[node] for node in nodes]
        alignments += [tuple(word + words for word in parse.alignments[node]) for node in nodes]
        node_scores += [parse.node_scores[node] for node in nodes]
        constants |= {number[node] for node in graph.constants}
        edges += [Edge(0, "snt", number[graph.top])] * (not is_several)
        for source, role, target in graph.edges:
            is_member = number[source] == 0 and role.startswith("snt")
            edges.append(Edge(number[source], "snt" if is_member else role, number[target]))
        edge_scores += [*[1.0] * (not is_several), *parse.edge_scores]
        wiki |= {number[node]: value for node, value in parse.wiki.items()}
        new_names |= {number[node]: value for node, value in parse.new_names.items()}
        words += len(parse)
    actions = tuple(action for parse in parses for action in parse.actions)
    total = sum(parse.mean_log_probability * (len(parse.actions) + 1) for parse in parses)
    whole = AmrParse(
        sentence, AmrGraph(tuple(labels), frozenset(constants), with_numbers(edges)), tuple(alignments), wiki,
        Derivation(actions, total / (len(actions) + 1)), tuple(node_scores), tuple(edge_scores), new_names,
        sum(parse.completed for parse in parses), probability=math.prod(parse.probability for parse in parses),
        model=parses[0].model,
    )  # fmt: skip
    return within_depth(whole)
