"""Facts of gold AMRs, all of them or some at random, to give to search."""

import random
from collections.abc import Collection
from dataclasses import replace

from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.bank import AmrEntry
from transition_parser.oracles.amr import Derivation
from transition_parser.oracles.amr_check import derive_entry
from transition_parser.parsing.given import End, Given, GivenEdge, GivenNode, Span
from transition_parser.transitions import Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import MAKE_NODES

WHAT = ("nodes", "edges", "top", "none")


def facts_of(entry: AmrEntry, what: Collection[str] = WHAT) -> Given:
    """Return the facts of a gold AMR. Each node has the span of words from which the oracle makes it.

    entry: an entry with `# ::tok` and an alignment of each node
    what: the kinds of facts to return, from `WHAT`. Without nodes, edges and the top have their spans.

    Raises `InputError` for a graph that the transition system can't build.
    """
    derived = derive_entry(entry, AmrSystem())
    if derived.derivation is None:
        raise derived.error or entry.error("the transition system can't build the graph")
    graph = entry.amr
    spans = _spans(derived.derivation, graph)
    labels = graph.labels if "nodes" in what else ()
    nodes = {f"n{node}": GivenNode(spans[node], label) for node, label in enumerate(labels)}
    ends: list[End] = [*(nodes or spans)]
    edges = [
        GivenEdge(ends[source], role, ends[target])
        for source, role, target in graph.edges
        if "edges" in what and ends[source] != ends[target]
    ]
    used = {word for first, last in spans for word in range(first, last + 1)}
    none = frozenset(range(len(entry.forms))) - used if "none" in what else frozenset()
    top = ends[graph.top] if "top" in what else None
    return Given(nodes, tuple(edges), none, top)


def _spans(derivation: Derivation, graph: AmrGraph) -> list[Span]:
    """Return for each node of the graph the span of words from which the derivation makes the node."""
    spans: list[Span] = [(0, 0)] * len(graph)
    order = iter(derivation.order)
    for action, span in zip(derivation.actions, derivation.spans, strict=True):
        if action.kind not in MAKE_NODES:
            continue
        node = next(order)
        spans[node] = span
        if action.kind is Kind.ENTITY:
            name = next(order)
            spans[name] = span
            for _ in [edge for edge in graph.edges if edge.source == name]:
                spans[next(order)] = span
    return spans


def some_of(given: Given, share: float, draws: random.Random) -> Given:
    """Return a random selection of the facts, each kept with the probability `share`."""
    nodes = {variable: fact for variable, fact in given.nodes.items() if draws.random() < share}
    edges = [edge for edge in given.edges if draws.random() < share]
    none = frozenset(word for word in sorted(given.none) if draws.random() < share)
    top = given.top if draws.random() < share else None

    def end(old: End) -> End:
        return given.nodes[old].span if isinstance(old, str) and old not in nodes else old

    moved = [GivenEdge(end(edge.source), edge.role, end(edge.target)) for edge in edges]
    apart = tuple(edge for edge in moved if edge.source != edge.target)
    return replace(given, nodes=nodes, edges=apart, none=none, top=None if top is None else end(top))
