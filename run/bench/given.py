"""Smatch of AMR parses when search is given facts of the gold graphs.

    python run/bench/given.py MODEL GOLD… [--graphs N] [--share 1 0.5 0] [--what nodes names edges top none]

MODEL: a model of AMRs. GOLD: AMR banks; without alignments they are aligned first. With a share of 0.5 each fact is
given with probability 1/2. The report has Smatch (F1), the number of facts, and how many of them search did not fulfil,
so that they were completed on the finished graph.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from common import amr_model, amr_options

from transition_parser import Parser
from transition_parser.graphs.amr import AmrGraph, named
from transition_parser.graphs.amr_score import smatch_counts
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.oracles.amr import Derivation
from transition_parser.oracles.amr_check import derive_entry
from transition_parser.parsing.given import End, Given, GivenEdge, GivenName, GivenNode, Span
from transition_parser.preprocess.aligner.aligner import aligned, train_table
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
    return Given(tuple(nodes), tuple(names.values()), tuple(edges), none, top, "complete" in what, entry.id)


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


def _names(graph: AmrGraph, spans: list[Span], wanted: bool) -> tuple[dict[int, GivenName], set[int]]:
    """Return named node → the fact about its name, and all nodes inside these names; both empty unless `wanted`."""
    names: dict[int, GivenName] = {}
    hidden: set[int] = set()
    for node, name, ops in named(graph):
        parts = {name, *ops}
        whole = all(spans[part] == spans[node] for part in parts)
        if wanted and whole and node not in names and node not in graph.constants:
            strings = tuple(graph.labels[op][1:-1].replace('\\"', '"').replace("\\\\", "\\") for op in ops)
            names[node] = GivenName(spans[node], graph.labels[node], strings, f"n{node}")
            hidden |= parts
    return names, hidden


def entries_of(paths: Sequence[str], most: int) -> Iterator[AmrEntry]:
    """Yield the first graphs of each bank, with alignments: as far as possible the same number from each bank.

    most: the number of graphs of all banks together
    """
    for number, path in enumerate(paths):
        entries = list(read_bank(path))
        share = (most * (number + 1)) // len(paths) - (most * number) // len(paths)
        yield from list(aligned(entries, train_table(entries)))[:share]


def some_of(given: Given, share: float, draws: random.Random) -> Given:
    """Return a random selection of the facts, each kept with the probability `share`."""
    nodes = tuple(fact for fact in given.nodes if draws.random() < share)
    names = tuple(fact for fact in given.names if draws.random() < share)
    edges = [edge for edge in given.edges if draws.random() < share]
    none = frozenset(word for word in sorted(given.none) if draws.random() < share)
    top = given.top if draws.random() < share else None
    variables = {*(fact.variable for fact in nodes), *(fact.variable for fact in names)}

    def end(old: End) -> End:
        place = old if old in variables else given.resolved(old)
        return given.made[place].span if isinstance(place, int) else place

    moved = [replace(edge, source=end(edge.source), target=end(edge.target)) for edge in edges]
    apart = tuple(edge for edge in moved if edge.source != edge.target)
    return replace(
        given,
        nodes=nodes,
        names=names,
        edges=apart,
        none=none,
        top=None if top is None else end(top),
        complete=given.complete and share == 1,
    )


def figures(loaded: Parser, entries: Sequence[AmrEntry], given: Sequence[Given], restarts: int) -> dict[str, float]:
    """Return the Smatch of the parses, the number of facts, how many were completed afterwards, and the seconds."""
    start = time.perf_counter()
    parses = list(loaded.parse_stream(entries, given=given))
    seconds = time.perf_counter() - start
    counts = [smatch_counts(e.amr, parse.graph, restarts) for e, parse in zip(entries, parses, strict=True)]
    total = sum(counts[1:], counts[0])
    return {
        "smatch": round(total.f1, 4),
        "precision": round(total.precision, 4),
        "recall": round(total.recall, 4),
        "facts": sum(map(len, given)),
        "completed": sum(parse.completed for parse in parses),
        "completed_sentences": sum(parse.completed > 0 for parse in parses),
        "seconds": round(seconds, 2),
    }


def main() -> None:
    """Print the figures as JSON."""
    options = amr_options(__doc__ or "")
    options.set_defaults(beam=1)
    options.add_argument("gold", nargs="+", help="AMR banks")
    options.add_argument("--graphs", type=int, default=300, help="number of graphs in all")
    options.add_argument("--share", type=float, nargs="+", default=[1.0, 0.5, 0.0])
    options.add_argument("--what", nargs="+", default=list(WHAT), choices=WHAT)
    options.add_argument("--restarts", type=int, default=4)
    arguments = options.parse_args()
    loaded = amr_model(arguments)
    entries = list(entries_of(arguments.gold, arguments.graphs))
    facts = [facts_of(entry, arguments.what) for entry in entries]
    found = {}
    for share in arguments.share:
        draws = random.Random(1)
        given = [some_of(one, share, draws) for one in facts]
        found[f"share {share:g}"] = figures(loaded, entries, given, arguments.restarts)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
