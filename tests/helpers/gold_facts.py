"""Facts of gold AMRs, all of them or some at random, to give to search."""

import random
from collections.abc import Collection
from dataclasses import replace

from transition_parser.graphs.amr import AmrGraph, named
from transition_parser.graphs.bank import AmrEntry
from transition_parser.oracles.amr import Derivation
from transition_parser.oracles.amr_check import derive_entry
from transition_parser.parsing.given import End, Given, GivenEdge, GivenNode, Span
from transition_parser.transitions import Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import MAKE_NODES

WHAT = ("nodes", "names", "edges", "top", "none", "complete")


def facts_of(entry: AmrEntry, what: Collection[str] = WHAT) -> Given:
    """Return the facts of a gold AMR. Each node has the span of words from which the oracle makes it.

    entry: an entry with `# ::tok` and an alignment of each node
    what: the kinds of facts to return, from `WHAT`; `complete` marks the graph as having no other nodes and edges.
        With `names`, the nodes inside a name belong to the fact of the name; without `names`, they are nodes like
        others. For a node that is not among the facts, edges and the top have its span in place of its variable.

    Raises `InputError` for a graph that the transition system can't build.
    """
    derived = derive_entry(entry, AmrSystem())
    if derived.derivation is None:
        raise derived.error or entry.error("the transition system can't build the graph")
    graph = entry.amr
    spans = _spans(derived.derivation, graph)
    names, hidden = _names(graph, spans, "names" in what)
    nodes = [
        GivenNode(spans[node], label, f"n{node}", node in graph.constants)
        for node, label in enumerate(graph.labels)
        if "nodes" in what and node not in names and node not in hidden
    ]
    variables = {*(fact.variable for fact in names.values()), *(fact.variable for fact in nodes)}
    ends: list[End] = [f"n{node}" if f"n{node}" in variables else spans[node] for node in range(len(graph))]
    edges = [
        GivenEdge(ends[source], role, ends[target])
        for source, role, target in graph.edges
        if "edges" in what and not {source, target} & hidden and ends[source] != ends[target]
    ]
    used = {word for first, last in spans for word in range(first, last + 1)}
    none = frozenset(range(len(entry.forms))) - used if "none" in what else frozenset()
    top = ends[graph.top] if "top" in what else None
    return Given((*names.values(), *nodes), tuple(edges), none, top, "complete" in what, entry.id)


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


def _names(graph: AmrGraph, spans: list[Span], wanted: bool) -> tuple[dict[int, GivenNode], set[int]]:
    """Return named node → the fact about its name, and all nodes inside these names; both empty unless `wanted`."""
    names: dict[int, GivenNode] = {}
    hidden: set[int] = set()
    for node, name, ops in named(graph):
        parts = {name, *ops}
        whole = all(spans[part] == spans[node] for part in parts)
        if wanted and whole and node not in names and node not in graph.constants:
            strings = tuple(graph.labels[op][1:-1].replace('\\"', '"').replace("\\\\", "\\") for op in ops)
            names[node] = GivenNode(spans[node], graph.labels[node], f"n{node}", name=strings)
            hidden |= parts
    return names, hidden


def some_of(given: Given, share: float, draws: random.Random) -> Given:
    """Return a random selection of the facts, each kept with the probability `share`."""
    nodes = tuple(fact for fact in given.nodes if draws.random() < share)
    edges = [edge for edge in given.edges if draws.random() < share]
    none = frozenset(word for word in sorted(given.none) if draws.random() < share)
    top = given.top if draws.random() < share else None
    variables = {fact.variable for fact in nodes}

    def end(old: End) -> End:
        place = old if old in variables else given.resolved(old)
        return given.nodes[place].span if isinstance(place, int) else place

    moved = [replace(edge, source=end(edge.source), target=end(edge.target)) for edge in edges]
    apart = tuple(edge for edge in moved if edge.source != edge.target)
    return replace(
        given,
        nodes=nodes,
        edges=apart,
        none=none,
        top=None if top is None else end(top),
        complete=given.complete and share == 1,
    )
