"""Counts of the malformed structures in AMR banks.

    python run/bench/malformed.py BANK.amr ... [--json]

Each count is a number of places, not of graphs:

- `constant`: a constant under a role that leads to no such constants (`:polarity +`)
- `role twice`: a node with the same :ARGn, :opN, :sntN, :polarity or :mode twice
- `same constant`: a node with the same constant twice under one role
- `ARG`, `op`, `snt`: a numbered role of a node of the wrong sort, such as :ARG0 of a concept without a frame
- `multi-sentence`: a `multi-sentence` that is not the top
- `no conjunct`: `and` or `or` without :opN
- `name`: a `name` under :name without :op1
- `gap`: :opN or :sntN of a node that skip a number. One conjunct may be :op2 alone: gold graphs write a sentence that
  begins with "And" like this.

The sorts of constants and of bearers are the defaults of `transition_parser.transitions.amr_sorts`. Entries that can't
be read are left out and counted as `unreadable`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.amr_lists import CONJUNCTIONS, gapless
from transition_parser.graphs.bank import read_bank
from transition_parser.transitions.amr_sorts import (
    BEARERS,
    MULTI_SENTENCE,
    TARGETS,
    family,
    role_of_constants,
    sort_of,
)

ONCE = re.compile(r"(ARG|op|snt)\d+|polarity|mode")
KINDS = (
    *("constant", "role twice", "same constant", "ARG", "op", "snt", MULTI_SENTENCE, "no conjunct", "name", "gap"),
)


def malformed(graph: AmrGraph) -> Iterator[str]:
    """Yield the kind of each malformed place of a graph."""
    outgoing: list[list[Edge]] = [[] for _ in graph.labels]
    for edge in graph.edges:
        outgoing[edge.source].append(edge)
        yield from _of_edge(graph, edge)
    for node, edges in enumerate(outgoing):
        if node not in graph.constants:
            yield from _of_node(graph, node, edges)


def _of_edge(graph: AmrGraph, edge: Edge) -> Iterator[str]:
    label, kin = graph.labels[edge.target], family(edge.role)
    takes = TARGETS.get(role_of_constants(edge.role), ())
    if edge.target in graph.constants and sort_of(label, True) not in takes:
        yield "constant"
    if edge.role == "name" and not any(other.source == edge.target and other.role == "op1" for other in graph.edges):
        yield "name"
    if kin and sort_of(graph.labels[edge.source], False) not in BEARERS[kin]:
        yield kin


def _of_node(graph: AmrGraph, node: int, edges: list[Edge]) -> Iterator[str]:
    label, roles = graph.labels[node], Counter(edge.role for edge in edges)
    yield from ("role twice" for role, count in roles.items() if count > 1 and ONCE.fullmatch(role))
    values = Counter((edge.role, graph.labels[edge.target]) for edge in edges if edge.target in graph.constants)
    yield from ("same constant" for count in values.values() if count > 1)
    if label == MULTI_SENTENCE and node != graph.top:
        yield MULTI_SENTENCE
    if label in CONJUNCTIONS and not any(family(role) == "op" for role in roles):
        yield "no conjunct"
    if gapless(label, edges) != edges:
        yield "gap"


def counts(graphs: Iterable[AmrGraph]) -> dict[str, int]:
    """Return how many graphs there are, how many of them are malformed, and how many places of each kind they have."""
    total, found, whole = Counter(dict.fromkeys(KINDS, 0)), 0, 0
    for graph in graphs:
        kinds = list(malformed(graph))
        total.update(kinds)
        found += 1
        whole += not kinds
    return {"graphs": found, "malformed graphs": found - whole, **total}


def main() -> None:
    """Print how many malformed structures of each kind each AMR bank has, as a table or as JSON."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("banks", nargs="+", help="AMR banks")
    options.add_argument("--json", action="store_true", help="print one JSON object: bank → kind → count")
    arguments = options.parse_args()
    found = {}
    for bank in arguments.banks:
        bad: list[InputError] = []
        figures = counts(entry.amr for entry in read_bank(bank, bad))
        found[bank] = {**figures, "unreadable": len(bad)}
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    for bank, figures in found.items():
        print(bank, *(f"{name} {count}" for name, count in figures.items() if count), sep="\n  ")


if __name__ == "__main__":
    main()
