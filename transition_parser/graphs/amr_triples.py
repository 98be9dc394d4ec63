"""The triples of AMRs that Smatch and the fine-grained scores related to it count."""

from __future__ import annotations

import importlib.util
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from typing import Any

from transition_parser.base.errors import InputError, shortened
from transition_parser.graphs.amr import AmrGraph, Edge
from transition_parser.graphs.bank import AmrEntry

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MARK = re.compile(rf"({_STRING})|(?<=[^\s(])~(?:[a-z]\.?)?\d+(?:,\d+)*(?=[\s()]|$)", re.DOTALL)
_ROLE = re.compile(rf"({_STRING})|:[a-zA-Z0-9-]*", re.DOTALL)
_WIKI = re.compile(rf'({_STRING})|\s*:wiki\s+(?:{_STRING}|[^\s()"]+)', re.DOTALL)
_HIDDEN = re.compile('"?(\x00[0-9]+)["_]?')  # what the package reads, and returns, in place of a string
_SENSE = re.compile(r"(/\s*[a-zA-Z0-9-]+)-\d+(?=[\s()]|$)")


@dataclass(frozen=True)
class Triples:
    """A graph as Smatch sees it. Nodes are numbers from 0.

    variables: the name of each node
    concepts: the concept of each node
    attributes: (role, node, constant); a string has its quotation marks
    relations: (role, source node, target node)
    """

    variables: tuple[str, ...]
    concepts: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...]
    relations: tuple[tuple[str, int, int], ...]

    def __len__(self) -> int:
        """Return the number of triples."""
        return len(self.concepts) + len(self.attributes) + len(self.relations)

    def normalized(self) -> Triples:
        """Return the triples as Smatch compares them: in lower case, and without a difference between 6 and "6"."""
        return Triples(
            self.variables,
            tuple(map(_normalized, self.concepts)),
            tuple((role.lower(), node, _normalized(value)) for role, node, value in self.attributes),
            tuple((role.lower(), source, target) for role, source, target in self.relations),
        )

    def distinct(self) -> Triples:
        """Return the triples without repeated attributes and relations."""
        return Triples(
            self.variables,
            self.concepts,
            tuple(dict.fromkeys(self.attributes)),
            tuple(dict.fromkeys(self.relations)),
        )


def _normalized(label: str) -> str:
    return label.lower().removeprefix('"').removesuffix('"')


def read_triples(text: str, error: Callable[[str], InputError] = InputError) -> Triples:
    """Return the triples of PENMAN text as the package `smatch` reads them. Alignments are ignored.

    The text may have several lines. The package reverses edges with inverse roles or :mod (to :domain). It
    adds TOP to the first node, and drops a constant after an inverse role or after :mod. It would read a string up to
    its first blank or escape, so it gets numbers in place of strings.

    error: a function from a message to the exception that is raised for a text that the package can't read
    """
    strings: dict[str, str] = {}

    def hide(match: re.Match) -> str:
        if not match[1]:
            return ""
        hidden = f"\x00{len(strings)}"
        strings[hidden] = match[1]
        return f'"{hidden}"'

    def show(label: str) -> str:
        return _HIDDEN.sub(lambda match: strings.get(match[1], match[0]), label)

    line = " ".join(_MARK.sub(hide, text).split())
    if not line.startswith("("):
        raise error("no graph: write (a / amr-empty) for an empty one")
    reader = _smatch_amr()
    with _log(reader) as log:
        try:
            graph = reader.AMR.parse_AMR_line(line)
            variables = tuple(graph.nodes) if graph else ()
            if graph:
                graph.rename_node("")
        except (IndexError, KeyError) as problem:
            raise error(f"smatch can't read the graph: {shortened(show(line), 120)}") from problem
    if graph is None:
        raise error(f"smatch can't read the graph: {shortened(show(' '.join(log.getvalue().split())), 120)}")
    _, attributes, relations = graph.get_triples()
    return Triples(
        variables,
        tuple(map(show, graph.node_values)),
        tuple((role, int(node), show(value)) for role, node, value in attributes),
        tuple((role, int(source), int(target)) for role, source, target in relations),
    )


def entry_triples(entry: AmrEntry) -> Triples:
    """Return the triples of an entry's graph, `:wiki` included. Raises `InputError` if the graph can't be written."""
    return read_triples(entry.amr.to_penman(None, entry.wiki, entry.variables), entry.error)


@cache
def _smatch_amr() -> Any:
    """Return the module `amr` of the package `smatch`. A plain import could find an `amr.py` of the user's own."""
    spec = importlib.util.spec_from_file_location(
        "smatch_amr", str(metadata.distribution("smatch").locate_file("amr.py"))
    )
    assert spec is not None and spec.loader is not None  # the name ends in .py
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _log(reader: Any) -> Iterator[io.StringIO]:
    """Yield a buffer that takes the messages that the reader of `smatch` would print on standard error."""
    before, reader.ERROR_LOG = reader.ERROR_LOG, io.StringIO()
    try:
        yield reader.ERROR_LOG
    finally:
        reader.ERROR_LOG = before


def without_alignments(text: str) -> str:
    """Return PENMAN text without the alignment marks after symbols and roles.

    >>> without_alignments('(s / see-01~e.1 :ARG0~e.0,2 (n / name :op1 "a~e.1"~e.3))')
    '(s / see-01 :ARG0 (n / name :op1 "a~e.1"))'
    """
    return _MARK.sub(lambda match: match[1] or "", text)


def without_roles(text: str) -> str:
    """Return PENMAN text with one role for all edges. An edge with an inverse role keeps its written direction.

    >>> without_roles('(s / see-01 :ARG1-of (n / name :op1 "a:b"))')
    '(s / see-01 :label (n / name :label "a:b"))'
    """
    return _ROLE.sub(lambda match: match[1] or ":label", text)


def without_wiki(text: str) -> str:
    """Return PENMAN text without `:wiki`. The text must have no alignment marks.

    >>> without_wiki('(c / city :wiki "Rome" :name (n / name :op1 ":wiki x"))')
    '(c / city :name (n / name :op1 ":wiki x"))'
    """
    return _WIKI.sub(lambda match: match[1] or "", text)


def without_senses(text: str) -> str:
    """Return PENMAN text with the same sense for all concepts that have a sense.

    >>> without_senses("(h / have-org-role-91 :ARG1 (b / bear-02))")
    '(h / have-org-role-01 :ARG1 (b / bear-01))'
    """
    return _SENSE.sub(r"\1-01", text)


def graph_triples(graph: AmrGraph) -> Triples:
    """Return the triples of a graph, TOP included, without writing and reading PENMAN."""
    whole = _part(graph, graph.edges, range(len(graph)))
    top = [node for node in range(len(graph)) if node not in graph.constants].index(graph.top)
    return replace(whole, attributes=(*whole.attributes, ("TOP", top, "top")))


def srl_triples(graph: AmrGraph) -> Triples:
    """Return the triples of the edges :ARG0, :ARG1, … and of the concepts that they join."""
    return _part(graph, [edge for edge in graph.edges if edge.role.startswith("ARG")])


def reentrancy_triples(graph: AmrGraph) -> Triples:
    """Return the triples of the edges into nodes with several incoming edges, and of the concepts that they join.

    Edges are counted in the direction of `AmrGraph.edges`, which has no inverse roles between concepts.
    """
    incoming = Counter(edge.target for edge in graph.edges)
    return _part(graph, [edge for edge in graph.edges if incoming[edge.target] > 1])


def _part(graph: AmrGraph, edges: Sequence[Edge], of: Iterable[int] | None = None) -> Triples:
    """Return the triples of some edges and nodes of a graph."""
    ends = {node for edge in edges for node in (edge.source, edge.target)} if of is None else of
    nodes = [node for node in sorted(ends) if node not in graph.constants]
    number = {node: index for index, node in enumerate(nodes)}
    names = graph.variables()  # None for constants
    return Triples(
        tuple(names[node] or "" for node in nodes),
        tuple(graph.labels[node] for node in nodes),
        tuple((e.role, number[e.source], graph.labels[e.target]) for e in edges if e.target in graph.constants),
        tuple((e.role, number[e.source], number[e.target]) for e in edges if e.target not in graph.constants),
    )


def concepts(entry: AmrEntry) -> set[str]:
    """Return the concepts of a graph."""
    return {label for node, label in enumerate(entry.amr.labels) if node not in entry.amr.constants}


def named_concepts(entry: AmrEntry) -> set[str]:
    """Return the concepts that have a :name (the types of the entities)."""
    return _concepts_with(entry, "name")


def negated_concepts(entry: AmrEntry) -> set[str]:
    """Return the concepts that have a :polarity."""
    return _concepts_with(entry, "polarity")


def _concepts_with(entry: AmrEntry, role: str) -> set[str]:
    return {entry.amr.labels[edge.source] for edge in entry.amr.edges if edge.role == role}


def wiki_values(entry: AmrEntry) -> set[str]:
    """Return the values of :wiki, `-` included."""
    return set(entry.wiki.values())
