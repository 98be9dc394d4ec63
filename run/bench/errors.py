"""Classes of errors in AMR parses, and the Smatch that the parses would gain without the errors of each class.

    python run/bench/errors.py GOLD.amr PARSED.amr [GOLD.amr PARSED.amr ...] [--ignore-wiki]

The best mapping of nodes that Smatch finds is fixed, except that two nodes are not mapped to each other if none of
their triples matches. A node without a counterpart is *missing* (in the parse) or *invented* (by the parse). Each gold
triple that does not match, and each triple of the parse that does not match, belongs to one class. To repair a class is
to add its gold triples to the parse, and to remove its other triples. The gain of a class is Smatch after the repair of
this class alone, minus Smatch; in points (hundredths). All classes repaired give 100.

The classes, in order: a triple belongs to the first class that it fits.

    nodes             concepts of missing and invented nodes
    edges at nodes    all edges of missing and invented nodes, also those to constants and to `name` nodes
    top               the top
    wiki              :wiki (this class and those below count only triples whose nodes are in both graphs)
    name strings      :op1, :op2, … of names
    constants         other edges to constants: numbers, :polarity, :mode
    sense             concepts that differ in their sense alone (run-01, run-02)
    name type         concepts of nodes that have a :name in one of the graphs or in both (city, country)
    concept           other concepts
    role              edges between the right two nodes with another role, or in the other direction
    attachment        edges with the right role and one right end: the head or the dependent is another node
    re-entrancy       edges that only one graph has, into a node with several incoming edges in that graph
    other edges       other edges between nodes that both graphs have

Edges are the edges that Smatch compares: inverse roles are turned, and :mod stands for the inverse of :domain.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from transition_parser.base.errors import InputError
from transition_parser.graphs.amr_score import Counts, paired_entries
from transition_parser.graphs.smatch import Triples, best_mapping, entry_triples

CLASSES = (
    "nodes", "edges at nodes", "top", "wiki", "name strings", "constants", "sense", "name type", "concept", "role",
    "attachment", "re-entrancy", "other edges",
)  # fmt: skip
_SENSE = re.compile(r"(.+)-\d+")
_OP = re.compile(r"op\d+")
T = TypeVar("T", bound=Hashable)


class MatchedEdge(NamedTuple):
    """An edge between two nodes that have counterparts, by the numbers of the gold nodes."""

    role: str
    source: int
    target: int


@dataclass
class Errors:
    """The errors of parses, which can be added: the counts of Smatch, and the triples of each class.

    missing: class → number of gold triples that the parses lack
    invented: class → number of triples of the parses that gold lacks
    """

    counts: Counts = field(default_factory=Counts)
    missing: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Errors) -> Errors:
        return Errors(self.counts + other.counts, self.missing + other.missing, self.invented + other.invented)

    def repaired(self, classes: Iterable[str]) -> Counts:
        """Return the counts of Smatch after the repair of some classes."""
        missing, invented = (sum(errors[name] for name in set(classes)) for errors in (self.missing, self.invented))
        return self.counts + Counts(missing, missing - invented)

    def gain(self, *classes: str) -> float:
        """Return the Smatch that the repair of some classes would add, from 0 to 1."""
        return self.repaired(classes).f1 - self.counts.f1


class _Graph:
    """The triples of a graph whose nodes have the numbers of their gold counterparts.

    constants: (role, node, constant) of nodes with a counterpart, and of the top; a top without a counterpart gets a
        number below 0, which no node of the other graph has
    alone, at_alone: the number of nodes without a counterpart, and of their edges
    several: nodes with several incoming edges
    """

    def __init__(self, triples: Triples, number: Mapping[int, int]) -> None:
        self.concepts = {number[node]: concept for node, concept in enumerate(triples.concepts) if node in number}
        self.alone = len(triples.concepts) - len(self.concepts)
        self.constants = Counter(
            (role, number.get(node, -1 - node), value)
            for role, node, value in triples.attributes
            if node in number or role == "top"
        )
        between = [one for one in triples.relations if {*one[1:]} <= number.keys()]
        self.edges = Counter(MatchedEdge(role, number[source], number[target]) for role, source, target in between)
        self.at_alone = len(triples.attributes) + len(triples.relations) - self.constants.total() - len(between)
        incoming = Counter(target for _, _, target in triples.relations)
        self.several = {number[node] for node, count in incoming.items() if count > 1 and node in number}
        self.named = {number[source] for role, source, _ in triples.relations if role == "name" and source in number}


def errors_of(gold: Triples, system: Triples) -> Errors:
    """Return the errors of a parse."""
    gold, system = gold.normalized, system.normalized
    match, mapping = best_mapping(system, gold)
    number = dict(_supported(system, gold, mapping))
    ours, theirs = _Graph(system, number), _Graph(gold, {node: node for node in number.values()})
    found = Errors(Counts(match, len(system), len(gold)))
    for errors, graph, other in ((found.missing, theirs, ours), (found.invented, ours, theirs)):
        errors.update(_of_nodes(graph, other))
        errors.update(_of_constants(graph.constants - other.constants, graph))
        errors["nodes"] += graph.alone
        errors["edges at nodes"] += graph.at_alone
    for errors, classes in zip((found.missing, found.invented), _of_edges(theirs, ours), strict=True):
        errors.update(classes)
    return found


def _supported(system: Triples, gold: Triples, mapping: list[int | None]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of nodes in the mapping with a matching triple; Smatch may also pair nodes that share nothing."""
    pairs = {node: other for node, other in enumerate(mapping) if other is not None}
    attributes, relations = Counter(gold.attributes), Counter(gold.relations)
    supported = {node for node, other in pairs.items() if system.concepts[node] == gold.concepts[other]}
    for role, node, value in system.attributes:
        if node in pairs and attributes[role, pairs[node], value]:
            supported.add(node)
    for role, source, target in system.relations:
        if source in pairs and target in pairs and relations[role, pairs[source], pairs[target]]:
            supported |= {source, target}
    return ((node, pairs[node]) for node in sorted(supported))


def _of_nodes(graph: _Graph, other: _Graph) -> Counter[str]:
    """Return class → the number of nodes whose concept differs from that in the other graph."""
    classes: Counter[str] = Counter()
    for node, concept in graph.concepts.items():
        if concept != other.concepts[node]:
            lemmas = [_SENSE.fullmatch(one) for one in (concept, other.concepts[node])]
            if all(lemmas) and len({lemma[1] for lemma in lemmas if lemma}) == 1:
                classes["sense"] += 1
            else:
                classes["name type" if node in graph.named | other.named else "concept"] += 1
    return classes


def _of_constants(constants: Counter[tuple[str, int, str]], graph: _Graph) -> Counter[str]:
    """Return the classes of edges to constants that the other graph lacks."""
    classes: Counter[str] = Counter()
    for (role, node, _), count in constants.items():
        string = graph.concepts.get(node) == "name" and _OP.fullmatch(role)
        classes[role if role in ("top", "wiki") else "name strings" if string else "constants"] += count
    return classes


def _of_edges(gold: _Graph, system: _Graph) -> tuple[Counter[str], Counter[str]]:
    """Return class → number of edges that only gold has, and that only the parse has; `_ALIKE` pairs share a class."""
    missing, invented = list((gold.edges - system.edges).elements()), list((system.edges - gold.edges).elements())
    classes: Counter[str] = Counter()
    for name, keys in _ALIKE:
        for key in keys:
            classes[name] += _remove_alike(missing, invented, key)
    both = []
    for edges, graph in ((missing, gold), (invented, system)):
        reentrant = sum(edge.target in graph.several for edge in edges)
        both.append(classes + Counter({"re-entrancy": reentrant, "other edges": len(edges) - reentrant}))
    return both[0], both[1]


# class → keys; a gold edge and an edge of the parse with the same key are a pair; earlier keys are tried first
_ALIKE: tuple[tuple[str, tuple[Callable[[MatchedEdge], Hashable], ...]], ...] = (
    ("role", (lambda edge: (edge.source, edge.target), lambda edge: frozenset((edge.source, edge.target)))),
    ("attachment", (lambda edge: (edge.role, edge.target), lambda edge: (edge.role, edge.source))),
)


def _remove_alike(missing: list[T], invented: list[T], key: Callable[[T], Hashable]) -> int:
    """Remove pairs of edges with the same key from both lists, and return the number of pairs."""
    found: dict[Hashable, list[T]] = defaultdict(list)
    for edge in reversed(invented):
        found[key(edge)].append(edge)
    pairs = 0
    for edge in list(missing):
        if found[key(edge)]:
            missing.remove(edge)
            invented.remove(found[key(edge)].pop())
            pairs += 1
    return pairs


def errors_of_banks(gold: str, system: str, ignore_wiki: bool = False) -> dict[str, Any]:
    """Return the figures of all parses of a file: Smatch from 0 to 1, gains in points."""
    pairs = paired_entries(gold, system, ignore_wiki)
    found = [errors_of(entry_triples(theirs), entry_triples(ours)) for theirs, ours in pairs]
    total = sum(found, Errors())
    classes = {
        name: {
            "gain": round(100 * total.gain(name), 2),
            "missing": total.missing[name],
            "invented": total.invented[name],
        }
        for name in CLASSES
    }
    return {"gold": gold, "system": system, "sentences": len(found), "smatch": round(total.counts.f1, 4), **classes}


def main() -> None:
    """Print a JSON object for each pair of files. The exit status is 2 for bad input."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", metavar="FILE", help="pairs of files: gold, then the parses")
    options.add_argument("--ignore-wiki", action="store_true", help="leave :wiki out of all files")
    arguments = options.parse_args()
    if len(arguments.files) % 2:
        options.error("give pairs of files: GOLD.amr PARSED.amr")
    try:
        for gold, system in zip(arguments.files[::2], arguments.files[1::2], strict=True):
            print(json.dumps(errors_of_banks(gold, system, arguments.ignore_wiki)))
    except (InputError, OSError) as error:
        options.exit(2, f"{options.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
