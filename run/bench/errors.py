"""Classes of errors in AMR parses, and the Smatch that the parses would gain without the errors of each class.

    python run/bench/errors.py GOLD.amr PARSED.amr [GOLD.amr PARSED.amr ...] [--ignore-wiki] [--json]

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
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

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


class _Graph(NamedTuple):
    """A graph whose nodes have the numbers of their gold counterparts, or their own numbers if they have none."""

    concepts: dict[int, str]
    alone: list[str]  # the concepts of nodes without a counterpart
    constants: Counter[tuple[str, int, str]]  # (role, node, constant) of nodes with a counterpart, and of the top
    edges: Counter[MatchedEdge]
    at_alone: int  # the number of edges of nodes without a counterpart
    named: frozenset[int]  # nodes with a :name
    names: frozenset[int]  # nodes with the concept `name`
    several: frozenset[int]  # nodes with several incoming edges


def errors_of(gold: Triples, system: Triples) -> Errors:
    """Return the errors of a parse."""
    gold, system = gold.normalized, system.normalized
    match, mapping = best_mapping(system, gold)
    number = dict(_supported(system, gold, mapping))
    ours, theirs = _graph(system, number), _graph(gold, {node: node for node in number.values()})
    found = Errors(Counts(match, len(system), len(gold)))
    for errors, graph, other in ((found.missing, theirs, ours), (found.invented, ours, theirs)):
        errors.update(_of_nodes(graph, other))
        errors.update(_of_constants(graph.constants - other.constants, graph))
        errors["nodes"] += len(graph.alone)
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


def _graph(triples: Triples, number: dict[int, int]) -> _Graph:
    alone = [concept for node, concept in enumerate(triples.concepts) if node not in number]
    at_alone = sum(node not in number for role, node, _ in triples.attributes if role != "top")
    at_alone += sum(not {source, target} <= number.keys() for _, source, target in triples.relations)
    edges = [MatchedEdge(role, number[s], number[t]) for role, s, t in triples.relations if {s, t} <= number.keys()]
    incoming = Counter(target for _, _, target in triples.relations)
    # a top without counterpart gets a number below 0, which no node of the other graph has
    constants = [
        (role, number.get(node, -1 - node), value)
        for role, node, value in triples.attributes
        if node in number or role == "top"
    ]
    return _Graph(
        {number[node]: concept for node, concept in enumerate(triples.concepts) if node in number},
        alone,
        Counter(constants),
        Counter(edges),
        at_alone,
        frozenset(number[source] for role, source, _ in triples.relations if role == "name" and source in number),
        frozenset(number[node] for node in number if triples.concepts[node] == "name"),
        frozenset(number[node] for node, count in incoming.items() if count > 1 and node in number),
    )


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
        string = node in graph.names and _OP.fullmatch(role)
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


def errors_of_banks(gold: str, system: str, ignore_wiki: bool = False) -> tuple[Errors, int]:
    """Return the errors of all parses of a file, and the number of sentences."""
    total, sentences = Errors(), 0
    for theirs, ours in paired_entries(gold, system, ignore_wiki):
        total += errors_of(entry_triples(theirs), entry_triples(ours))
        sentences += 1
    return total, sentences


def as_data(errors: Errors, sentences: int) -> dict:
    """Return the figures as JSON holds them: Smatch from 0 to 1, gains in points."""
    classes = {}
    for name in CLASSES:
        gain = round(100 * errors.gain(name), 2)
        classes[name] = {"gain": gain, "missing": errors.missing[name], "invented": errors.invented[name]}
    return {"sentences": sentences, "smatch": round(errors.counts.f1, 4), "classes": classes}


def table(pairs: list[dict]) -> str:
    """Return the figures as a table in Markdown, one row for each class and three columns for each pair of files."""
    lines = [
        "| class |" + " gain | missing | invented |" * len(pairs),
        "|---|" + "---:|" * 3 * len(pairs),
    ]
    for name in CLASSES:
        cells = ["{gain:.2f} | {missing} | {invented}".format(**pair["classes"][name]) for pair in pairs]
        lines.append(" | ".join([f"| {name}", *cells]) + " |")
    heads = [f"{pair['system']} against {pair['gold']}: {pair['sentences']} sentences, Smatch {pair['smatch']:.4f}"
             for pair in pairs]  # fmt: skip
    return "\n".join([*heads, "", *lines])


def main() -> None:
    """Print the table, or one JSON object with --json. The exit status is 2 for bad input."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="+", metavar="FILE", help="pairs of files: gold, then the parses")
    options.add_argument("--ignore-wiki", action="store_true", help="leave :wiki out of all files")
    options.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = options.parse_args()
    if len(arguments.files) % 2:
        options.error("give pairs of files: GOLD.amr PARSED.amr")
    pairs = []
    try:
        for gold, system in zip(arguments.files[::2], arguments.files[1::2], strict=True):
            found = errors_of_banks(gold, system, arguments.ignore_wiki)
            pairs.append({"gold": gold, "system": system, **as_data(*found)})
    except (InputError, OSError) as error:
        sys.stderr.write(f"errors.py: error: {error}\n")
        sys.exit(2)
    print(json.dumps({"pairs": pairs}) if arguments.json else table(pairs))


if __name__ == "__main__":
    main()
