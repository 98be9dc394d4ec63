"""Facts about the AMR of a sentence that are known before parsing, and that the parse keeps.

A file of facts has one JSON object a line, for one sentence:

    {"id": "s1", "nodes": {"p": {"span": [2, 2], "concept": "price-01"}, "c": {"span": [0, 1], "concept": "company"}},
     "edges": [["p", "ARG0", "c"], ["p", "ARG1", [3, 5]]], "none": [6], "top": "p"}

Words count from 0. A span is its first and its last word. `nodes` has a variable for each node. An end of an edge, and
the top, is a variable, or a span, which stands for any node that comes from one of its words. `none` lists the words
that no node comes from.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, cast

from transition_parser.base.errors import InputError, errors_at, input_error, shortened
from transition_parser.base.files import open_input
from transition_parser.base.model_files import OBJECT, Key, check_keys, json_object
from transition_parser.graphs.amr import edge_of
from transition_parser.graphs.conllu import decode_line
from transition_parser.transitions.amr_state import is_constant, limits_of

Span = tuple[int, int]  # first and last word
End = str | Span  # an end of an edge: the variable of a given node, or any node of a span


class GivenNode(NamedTuple):
    """A node that the graph has.

    span: the words that the node comes from; they become one span of the derivation
    concept: the label of the node, a concept (`price-01`) or a constant as PENMAN writes it (`-`, `6`, `"New"`)
    """

    span: Span
    concept: str

    @property
    def is_constant(self) -> bool:
        """True where the node is a constant."""
        return is_constant(self.concept)

    def __str__(self) -> str:
        return f"the node {shortened(self.concept)} of {_words(self.span)}"


class GivenEdge(NamedTuple):
    """An edge that the graph has.

    source, target: the variables of given nodes, or spans; a span stands for any node that comes from one of its words
    role: the role without its colon; inverse roles are allowed
    """

    source: End
    role: str
    target: End

    def __str__(self) -> str:
        return f"the edge :{shortened(self.role)} from {_end(self.source)} to {_end(self.target)}"


@dataclass(frozen=True)
class Given:
    """The facts about one sentence.

    nodes: variable → node; several nodes may come from one span
    none: words that no node comes from
    top: the top of the graph: a variable or a span, as for the end of an edge
    id: the id of the sentence, for messages
    path, line: the file and the line of the facts, for messages

    Raises `InputError` for facts that contradict each other.
    """

    nodes: Mapping[str, GivenNode] = field(default_factory=dict)
    edges: tuple[GivenEdge, ...] = ()
    none: frozenset[int] = frozenset()
    top: End | None = None
    id: str | None = None
    path: str | None = None
    line: int | None = None

    def __post_init__(self) -> None:
        for what, end in self._ends():
            if isinstance(end, str) and end not in self.nodes:
                raise self.error(f"{what}: no node has the variable {end!r:.60}")
        for what, (first, last) in self._spans():
            if not 0 <= first <= last:
                raise self.error(f"{what}: a span is its first and its last word, counted from 0")
        nodes = sorted(self.nodes.values(), key=lambda node: node.span)
        for one, other in pairwise(nodes):
            if one.span != other.span and other.span[0] <= one.span[1]:
                raise self.error(f"{one} and {other} overlap: their spans must be equal, or have no word in common")
        for node in nodes:
            if inside := self._none_in(node.span):
                raise self.error(f"{node} contradicts that word {min(inside)} must have no node")
        for what, end in self._ends():
            if not isinstance(end, str) and len(self._none_in(end)) > end[1] - end[0]:
                raise self.error(f"{what}: a node of {_words(end)} is wanted, but {_words(end)} must have none")
        self._check_edges()

    def _check_edges(self) -> None:
        heads: dict[End, GivenEdge] = {}
        for edge, normal in zip(self.edges, self.normal_edges, strict=True):
            if edge.source == edge.target and (isinstance(edge.source, str) or edge.source[0] == edge.source[1]):
                raise self.error(f"{edge} goes from a node to itself")
            if edge.role in ("", "-of"):
                raise self.error(f"{edge} has no role")
            if self._is_constant(normal.source):
                raise self.error(f"{edge}: a constant has no edges of its own")
            if self._is_constant(normal.target) and heads.setdefault(normal.target, normal) != normal:
                raise self.error(f"{heads[normal.target]} and {edge} give a constant two heads")
        if self.top is not None and self._is_constant(self.top):
            raise self.error(f"the top is {_end(self.top)}, a constant")

    def check(self, words: int) -> None:
        """Raise `InputError` for facts that no graph of a sentence with this number of words can have."""
        bare = ((f"a word without a node, {shortened(str(word))}", (word, word)) for word in sorted(self.none))
        for what, span in (*self._spans(), *bare):
            if span[1] >= words:
                raise self.error(f"{what}: the sentence has {words} words, counted from 0")
        if len(self.none) == words:
            raise self.error("no word has a node, but a graph needs a concept")
        most = limits_of(words)[2]
        if len(self.nodes) > most:
            raise self.error(f"{len(self.nodes)} nodes, but a sentence of {words} words may have {most}")

    def error(self, problem: str) -> InputError:
        """Return an `InputError` that names the file, the line and the sentence."""
        return input_error(problem, self.path, self.line, self.id)

    @cached_property
    def normal_edges(self) -> tuple[GivenEdge, ...]:
        """The edges; those with an inverse role and no constant as target are reversed."""
        edges = []
        for edge in self.edges:
            first, role, _last = edge_of(0, edge.role, 1)
            is_kept = first == 0 or self._is_constant(edge.target)
            edges.append(edge if is_kept else GivenEdge(edge.target, role, edge.source))
        return tuple(edges)

    @cached_property
    def merged(self) -> set[int]:
        """The words that must join the word before them in one span."""
        return {word for node in self.nodes.values() for word in range(node.span[0] + 1, node.span[1] + 1)}

    @cached_property
    def cut(self) -> set[int]:
        """The words that must not join the word before them."""
        found = {border for node in self.nodes.values() for border in (node.span[0], node.span[1] + 1)}
        found |= {border for word in self.none for border in (word, word + 1)}
        for edge in self.edges:  # adjacent ends of an edge must not become one span
            one, other = sorted(self.nodes[end].span if isinstance(end, str) else end for end in edge[::2])
            if one[1] + 1 == other[0]:
                found.add(other[0])
        return found - self.merged

    def _ends(self) -> list[tuple[str, End]]:
        """The ends of edges, and the top, each with its name for messages."""
        ends: list[tuple[str, End]] = [(str(edge), end) for edge in self.edges for end in (edge.source, edge.target)]
        return ends if self.top is None else [*ends, ("the top", self.top)]

    def _spans(self) -> list[tuple[str, Span]]:
        """The spans of nodes, edges and the top, each with its name for messages."""
        spans = [(what, end) for what, end in self._ends() if not isinstance(end, str)]
        return [*((str(node), node.span) for node in self.nodes.values()), *spans]

    def _none_in(self, span: Span) -> list[int]:
        """Return the words of a span, however long it is, that no node comes from."""
        return [word for word in self.none if span[0] <= word <= span[1]]

    def _is_constant(self, end: End) -> bool:
        return isinstance(end, str) and self.nodes[end].is_constant


def _words(span: Span) -> str:
    first, last = (shortened(str(word)) for word in span)
    return f"word {first}" if first == last else f"words {first}–{last}"


def _end(end: End) -> str:
    return shortened(end) if isinstance(end, str) else _words(end)


# --- files --------------------------------------------------------------------------------------


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(type(word) is int and word >= 0 for word in value)


def _is_span(value: object) -> bool:
    return _is_words(value) and len(cast(list, value)) == 2


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_end(value: object) -> bool:
    return _is_text(value) or _is_span(value)


def _is_edge(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    source, role, target = value
    return _is_end(source) and _is_text(role) and _is_end(target)


_LINE = {
    "id": Key("a text", _is_text),
    "nodes": OBJECT._replace(required=False),
    "edges": Key(
        "a list of edges, [source, role, target]; an end is a variable, or a span, [first word, last word]",
        lambda value: isinstance(value, list) and all(map(_is_edge, value)),
        False,
    ),
    "none": Key("a list of words, counted from 0", _is_words, False),
    "top": Key("a variable, or a span, [first word, last word]", _is_end, False),
}
_NODE = {
    "span": Key("a span, [first word, last word], counted from 0", _is_span),
    "concept": Key("a text", _is_text),
}


def read_given(path: str | os.PathLike) -> dict[str, Given]:
    """Return id → facts of a file. Raises `InputError`, with the line, for a line that holds no facts of a sentence."""
    found: dict[str, Given] = {}
    for given in _read(path):
        if found.setdefault(str(given.id), given) is not given:
            raise given.error("there are facts of this sentence already: put all its facts into one object")
    return found


def _read(path: str | os.PathLike) -> Iterator[Given]:
    name = str(path)
    with errors_at(path), open_input(path) as file:
        lines = [*enumerate(file, 1)]
    for number, raw in lines:
        if line := decode_line(raw, name, number).strip():
            yield given_of(json_object(line, name, number), name, number)


def given_of(values: Mapping[str, Any], path: str | None = None, line: int | None = None) -> Given:
    """Return the facts that a JSON object holds. Raises `InputError` for anything else."""
    sentence = values.get("id") if isinstance(values.get("id"), str) else None
    with errors_at(path, line, sentence):
        check_keys(values, _LINE, None)
        for variable, node in values.get("nodes", {}).items():
            if not isinstance(node, dict):
                raise InputError(f"the node {shortened(variable)} must be an object with a span and a concept")
            check_keys(node, _NODE, None)
    nodes = {name: GivenNode(_end_of(node["span"]), node["concept"]) for name, node in values.get("nodes", {}).items()}
    edges = [GivenEdge(*map(_end_of, edge)) for edge in values.get("edges", ())]
    none = frozenset(values.get("none", ()))
    return Given(nodes, tuple(edges), none, _end_of(values.get("top")), sentence, path, line)


def _end_of(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
