"""Facts about the AMR of a sentence that are known before parsing, and that the parse keeps.

A file of facts has one JSON object a line, for one sentence:

    {"id": "s1", "nodes": [{"span": [2, 2], "concept": "price-01", "variable": "p"},
                           {"span": [0, 1], "concept": "company", "name": [], "variable": "c"}],
     "edges": [{"source": "p", "role": "ARG0", "target": "c"}, {"source": "p", "role": "ARG1", "target": [3, 5]}],
     "none": [6], "top": "p"}

Words count from 0. A span is its first and its last word. An end of an edge is a variable, or a span, which stands for
any node that comes from one of its words. `none` lists the words that no node comes from. See `Given` for other keys.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from transition_parser.base.errors import InputError, errors_at, input_error, shortened, warn
from transition_parser.base.files import open_input
from transition_parser.base.model_files import TRUTH, Key, check_keys, json_object
from transition_parser.graphs.amr import edge_of
from transition_parser.graphs.conllu import decode_line
from transition_parser.transitions.amr_state import is_constant, limits_of

Span = tuple[int, int]  # first and last word
End = str | Span  # an end of an edge: the variable of a given node, or any node of a span


@dataclass(frozen=True)
class GivenNode:
    """A node that the graph has.

    span: the words that the node comes from; they become one span of the derivation
    concept: the label of the node, a concept (`price-01`) or a constant as PENMAN writes it (`-`, `6`, `"New"`)
    variable: a name by which edges and the top refer to the node. Several nodes may come from one span if each of them
        has a variable.
    constant: True for a constant, False for a concept; None to decide by the label
    name: the strings of the node's name, without quotation marks; () for the words of the span; None for no such fact
    """

    span: Span
    concept: str
    variable: str | None = None
    constant: bool | None = None
    name: tuple[str, ...] | None = None

    @property
    def is_constant(self) -> bool:
        """True where the node is a constant."""
        return is_constant(self.concept) if self.constant is None else self.constant

    def __str__(self) -> str:
        return f"the node {shortened(self.concept)} of {_words(self.span)}"


@dataclass(frozen=True)
class GivenEdge:
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

    none: words that no node comes from
    top: the top of the graph: a variable or a span, as for the end of an edge
    complete: True if the graph has no other nodes, and no other edges except edges that it needs to be connected
    id: the id of the sentence, for messages
    path, line: the file and the line of the facts, for messages

    Raises `InputError` for facts that contradict each other.
    """

    nodes: tuple[GivenNode, ...] = ()
    edges: tuple[GivenEdge, ...] = ()
    none: frozenset[int] = frozenset()
    top: End | None = None
    complete: bool = False
    id: str | None = None
    path: str | None = None
    line: int | None = None

    def __post_init__(self) -> None:
        _check_ends(self)
        _check_overlaps(self)
        _check_edges(self)

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.nodes) + len(self.edges) + len(self.none) + (self.top is not None)

    def resolved(self, end: End) -> int | Span:
        """Return the end of an edge as the index in `nodes` of the node with this variable, or as the span itself."""
        if isinstance(end, str):
            return next(i for i, fact in enumerate(self.nodes) if fact.variable == end)
        return end

    def check(self, words: int) -> None:
        """Raise `InputError` for facts that no graph of a sentence with this number of words can have."""
        spans = [(str(fact), fact.span) for fact in self.nodes]
        spans += [(what, end) for what, end in self._ends() if not isinstance(end, str)]
        spans += [(f"a word without a node, {shortened(str(word))}", (word, word)) for word in sorted(self.none)]
        for what, span in spans:
            if span[1] >= words:
                self._fail(f"{what}: the sentence has {words} words, counted from 0")
        if len(self.none) == words:
            self._fail("no word has a node, but a graph needs a concept")
        most = limits_of(words)[2]
        if len(self.nodes) > most:
            self._fail(f"{len(self.nodes)} nodes, but a sentence of {words} words may have {most}")

    def error(self, problem: str) -> InputError:
        """Return an `InputError` that names the file, the line and the sentence."""
        return input_error(problem, self.path, self.line, self.id)

    def _ends(self) -> list[tuple[str, End]]:
        """The ends of edges, and the top, each with its name for messages."""
        ends: list[tuple[str, End]] = [(str(edge), end) for edge in self.edges for end in (edge.source, edge.target)]
        return ends if self.top is None else [*ends, ("the top", self.top)]

    def _fail(self, problem: str) -> NoReturn:
        raise self.error(problem)


def _words(span: Span) -> str:
    first, last = (shortened(str(word)) for word in span)
    return f"word {first}" if first == last else f"words {first}–{last}"


def _end(end: End) -> str:
    return shortened(end) if isinstance(end, str) else _words(end)


# --- contradictions ---------------------------------------------------------------------------


def _check_ends(given: Given) -> None:
    of_ends = [end for _, end in given._ends() if not isinstance(end, str)]
    for span in (*(fact.span for fact in given.nodes), *of_ends):
        if not 0 <= span[0] <= span[1]:
            given._fail(f"{list(span)} is not a span: give its first and its last word, counted from 0")
    for span in of_ends:
        if len(_none_in(given, span)) > span[1] - span[0]:
            given._fail(f"a node of {_words(span)} is wanted, but {_words(span)} must have none")
    variables = Counter(fact.variable for fact in given.nodes if fact.variable is not None)
    twice = next((name for name, count in variables.items() if count > 1), None)
    if twice is not None:
        given._fail(f"two nodes have the variable {twice!r:.60}")
    for what, end in given._ends():
        if isinstance(end, str) and end not in variables:
            given._fail(f"{what}: no node has the variable {end!r:.60}")


def _check_overlaps(given: Given) -> None:
    ordered = sorted(given.nodes, key=lambda fact: fact.span)
    for one, other in pairwise(ordered):
        if one.span == other.span and None in (one.variable, other.variable):
            given._fail(f"{one} and {other} have the same words: if you want both nodes, give each a variable")
        if one.span != other.span and other.span[0] <= one.span[1]:
            given._fail(f"{one} and {other} overlap: the spans of two nodes must be equal, or have no word in common")
    for fact in ordered:
        if fact.is_constant and fact.name is not None:
            given._fail(f"{fact}, a constant, has a name")
        if inside := _none_in(given, fact.span):
            given._fail(f"{fact} contradicts that word {min(inside)} must have no node")


def _none_in(given: Given, span: Span) -> list[int]:
    """Return the words of a span, however long it is, that no node comes from."""
    return [word for word in given.none if span[0] <= word <= span[1]]


def _check_edges(given: Given) -> None:
    heads: dict[int, GivenEdge] = {}
    for edge in given.edges:
        if edge.source == edge.target and (isinstance(edge.source, str) or edge.source[0] == edge.source[1]):
            given._fail(f"{edge} goes from a node to itself")
        if edge.role in ("", "-of"):
            given._fail(f"{edge} has no role")
        source, role, target = normal_edge(given, edge)
        if _is_given_constant(given, source):
            given._fail(f"{edge}: a constant has no edges of its own")
        if isinstance(target, int) and _is_given_constant(given, target):
            other = heads.setdefault(target, edge)
            if other is not edge and normal_edge(given, other)[:2] != (source, role):
                given._fail(f"{other} and {edge} give a constant two heads")
    if given.top is not None and _is_given_constant(given, given.resolved(given.top)):
        given._fail(f"the top is {_end(given.top)}, a constant")


def normal_edge(given: Given, edge: GivenEdge) -> tuple[int | Span, str, int | Span]:
    """Return the source, role and target of an edge, with `resolved` ends, reversed if the role is inverse."""
    source, target = given.resolved(edge.source), given.resolved(edge.target)
    if _is_given_constant(given, target):
        return source, edge.role, target
    first, role, _last = edge_of(0, edge.role, 1)
    return (source, role, target) if first == 0 else (target, role, source)


def _is_given_constant(given: Given, place: int | Span) -> bool:
    return isinstance(place, int) and given.nodes[place].is_constant


# --- files --------------------------------------------------------------------------------------


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(type(word) is int and word >= 0 for word in value)


def _is_span(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_words(value) and value[0] <= value[1]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_TEXT = Key("a text", _is_text)
_OBJECTS = Key("a list of objects", lambda value: isinstance(value, list) and {*map(type, value)} <= {dict}, False)
_SPAN = Key("a span, [first word, last word], counted from 0", _is_span)
_END = Key("a variable, or a span, [first word, last word]", lambda value: _is_text(value) or _is_span(value))
_STRINGS = Key("a list of texts", lambda value: isinstance(value, list) and all(map(_is_text, value)), False)
_NODE = {"span": _SPAN, "concept": _TEXT, "variable": _TEXT._replace(required=False)}
_NODE |= {"constant": TRUTH._replace(required=False), "name": _STRINGS}
_PARTS: Mapping[str, tuple[type, Mapping[str, Key]]] = {
    "nodes": (GivenNode, _NODE),
    "edges": (GivenEdge, {"source": _END, "role": _TEXT, "target": _END}),
}
_LINE = dict.fromkeys(_PARTS, _OBJECTS) | {
    "none": Key("a list of words, counted from 0", _is_words, False),
    "top": _END._replace(required=False),
    "id": _TEXT._replace(required=False),
    "complete": TRUTH._replace(required=False),
}


def read_given(path: str | os.PathLike) -> dict[str, Given]:
    """Return id → facts of a file. Raises `InputError`, with the line, for a line that holds no facts of a sentence."""
    name, found = str(path), dict[str, Given]()
    with errors_at(path), open_input(path) as file:
        lines = [*enumerate(file, 1)]
    for number, raw in lines:
        if line := decode_line(raw, name, number).strip():
            given = given_of(json_object(line, name, number), name, number)
            if given.id is None:
                raise given.error("the facts have no id: give the id of their sentence")
            if given.id in found:
                raise given.error("there are facts of this sentence already: put all its facts into one object")
            found[given.id] = given
    return found


def given_of(values: Mapping[str, Any], path: str | None = None, line: int | None = None) -> Given:
    """Return the facts that a JSON object holds. Raises `InputError` for anything else."""
    sentence = values.get("id") if isinstance(values.get("id"), str) else None
    with errors_at(path, line, sentence):
        check_keys(values, _LINE, None)
        for name, (_, keys) in _PARTS.items():
            for one in values.get(name, ()):
                check_keys(one, keys, name)
    parts: dict[str, Any] = {
        name: tuple(kind(**{key: _frozen(value) for key, value in one.items()}) for one in values.get(name, ()))
        for name, (kind, _) in _PARTS.items()
    }
    return Given(
        **parts, none=frozenset(values.get("none", ())), top=_frozen(values.get("top")), id=sentence,
        complete=values.get("complete", False), path=path, line=line,
    )  # fmt: skip


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# --- facts of many sentences ---------------------------------------------------------------------


class GivenFacts:
    """The facts of many sentences.

    facts: id of the sentence → its facts; or an iterable with the facts of each sentence in order, None for no facts
    """

    def __init__(self, facts: Mapping[str, Given] | Iterable[Given | None]) -> None:
        self._by_id = facts if isinstance(facts, Mapping) else None
        self._in_order: Iterator[Given | None] = iter(() if isinstance(facts, Mapping) else facts)
        self._met: set[str] = set()

    def next(self, sentence: Any) -> Given | None:
        """Return the facts of the next sentence, None for a sentence without facts."""
        if self._by_id is None:
            return next(self._in_order, None)
        if sentence.id is None:
            return None
        self._met.add(sentence.id)
        return self._by_id.get(sentence.id)

    def warn_of_unused(self) -> None:
        """Warn of the facts with ids of sentences that `next` was not called with."""
        unused = [given for name, given in (self._by_id or {}).items() if name not in self._met]
        if unused:
            more = f", nor those of {len(unused) - 1} other lines of facts" if len(unused) > 1 else ""
            warn(str(unused[0].error(f"the inputs do not have the sentence of these facts{more}")))
