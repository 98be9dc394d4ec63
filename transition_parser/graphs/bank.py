"""AMR banks: entries of `# ::key value` lines and one PENMAN graph, separated by blank lines.

Alignments of nodes to tokens are read in the ISI (`~e.5`, Pourdamghani et al. 2014), the bare `~5` and the
JAMR style (`# ::alignments 0-1|0.0`, Flanigan et al. 2014). `:wiki` is kept beside the graph.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import penman
from penman.exceptions import PenmanError

from transition_parser.errors import InputError, input_error
from transition_parser.graphs.amr import AmrGraph, Edge, is_inverse
from transition_parser.graphs.conllu import decode_line

_KEY = re.compile(r"(?:^|\s)::([\w-]+)(?:\s+|$)")
_MARK = re.compile(r"~(?:[a-z]\.?)?(\d+(?:,\d+)*)$")
_VARIABLE = re.compile(r"[A-Za-z]\d*")


@dataclass(frozen=True)
class AmrEntry:
    """One entry of a bank.

    metadata: what stands behind `# ::key`, in order. graph: None where the entry has none (only a sentence).
    variables: the variable of each node as written, None for constants. alignments: the tokens of each node, ()
    where it has none. wiki: node → value of `:wiki` as written. paths: for each node the branches that lead
    to it from the top, counted from 1, concept not counted (`1.2.1`). comments, penman: the text as written.
    path, line: where the entry begins, for messages.
    """

    metadata: dict[str, str]
    graph: AmrGraph | None = None
    variables: tuple[str | None, ...] = ()
    alignments: tuple[tuple[int, ...], ...] = ()
    wiki: dict[int, str] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    penman: str = ""
    path: str | None = None
    line: int | None = None

    @property
    def id(self) -> str | None:
        """`# ::id`"""
        return self.metadata.get("id")

    @property
    def text(self) -> str:
        """`# ::snt`, or else `# ::tok`. Raises `InputError` where the entry has neither."""
        for key in ("snt", "tok"):
            if self.metadata.get(key, "").strip():
                return self.metadata[key]
        raise self.error("the entry has no `# ::snt` and no `# ::tok`: a sentence is needed")

    @property
    def tokens(self) -> list[str] | None:
        """The words of `# ::tok`, None where there is none."""
        tok = self.metadata.get("tok", "").split()
        return tok or None

    def with_alignments(self, alignments: Iterable[Iterable[int]]) -> AmrEntry:
        """The entry with other alignments; `comments` and `penman` stay as written."""
        return replace(self, alignments=tuple(tuple(tokens) for tokens in alignments))

    def error(self, problem: str) -> InputError:
        """An `InputError` that names the file, the line and the id of the entry."""
        return input_error(problem, self.path, self.line, self.id)

    def __str__(self) -> str:
        """The entry as written, with a blank line behind it."""
        return "\n".join(part for part in (*self.comments, self.penman.rstrip("\n")) if part) + "\n\n"


def read_bank(
    path: str | os.PathLike,
    skip_bad: list[InputError] | None = None,
    need_graphs: bool = True,
) -> Iterator[AmrEntry]:
    """Yields the entries of a file one by one.

    skip_bad: where given, what is wrong with a broken entry is appended to it, and the entry left out; else
    it is raised as `InputError`. need_graphs: False takes entries without a graph too.
    """
    with open(path, "rb") as file:
        yield from parse_bank(file, str(path), skip_bad, need_graphs)


def parse_bank(
    lines: Iterable[bytes],
    path: str | None = None,
    skip_bad: list[InputError] | None = None,
    need_graphs: bool = True,
) -> Iterator[AmrEntry]:
    """Yields the entries of an iterable of UTF-8 encoded lines; see `read_bank`."""
    for start, block in _blocks(lines, path):
        try:
            entry = parse_entry(block, path, start)
        except InputError as error:
            if skip_bad is None:
                raise
            skip_bad.append(error)
            continue
        if entry.graph is None:
            if not (entry.metadata.get("snt") or entry.metadata.get("tok")):
                continue  # a header of the file
            if need_graphs:
                error = entry.error("the entry has no graph")
                if skip_bad is None:
                    raise error
                skip_bad.append(error)
                continue
        yield entry


def _blocks(lines: Iterable[bytes], path: str | None) -> Iterator[tuple[int, list[str]]]:
    block: list[str] = []
    start = 1
    for number, raw in enumerate(lines, 1):
        line = decode_line(raw, path, number)
        if line.strip():
            block.append(line)
            continue
        if block:
            yield start, block
        block, start = [], number + 1
    if block:
        yield start, block


def parse_entry(block: list[str], path: str | None = None, start: int = 1) -> AmrEntry:
    """The entry of the lines of one block. Raises `InputError` for a broken one."""
    comments = tuple(line for line in block if line.startswith("#"))
    metadata: dict[str, str] = {}
    for line in comments:
        metadata.update(_fields(line))
    entry = AmrEntry(metadata, comments=comments, path=path, line=start)
    graph_lines = [(start + i, line) for i, line in enumerate(block) if not line.startswith("#")]
    if not graph_lines:
        return entry
    text = "\n".join(line for _, line in graph_lines)
    try:
        tree = penman.parse(text)
    except PenmanError as error:
        raise _syntax_error(entry, error, graph_lines) from None
    reader = _TreeReader(entry, tree)
    entry = replace(
        entry,
        graph=reader.graph(),
        variables=tuple(reader.variables),
        wiki=reader.wiki,
        paths=tuple(reader.paths),
        penman=text,
        alignments=tuple(reader.alignments),
    )
    if "alignments" in metadata and not any(entry.alignments):
        entry = entry.with_alignments(_listed_alignments(entry))
    _check_alignments(entry)
    return entry


def _fields(comment: str) -> dict[str, str]:
    """`# ::id x ::date y` as a dictionary. Behind ::snt and ::tok all is text, `::` too."""
    text = comment.lstrip("#").strip()
    found = list(_KEY.finditer(text))
    if not found or found[0].start() != 0:
        return {}
    if found[0][1] in ("snt", "tok"):
        return {found[0][1]: text[found[0].end() :].strip()}
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {m[1]: text[m.end() : end].strip() for m, end in zip(found, ends, strict=True)}


def _syntax_error(entry: AmrEntry, error: PenmanError, lines: list[tuple[int, str]]) -> InputError:
    row = getattr(error, "lineno", None)
    column = getattr(error, "offset", None)
    problem = getattr(error, "message", None) or str(error)
    if row is None or not 1 <= row <= len(lines):
        row, column = len(lines), None
    number, line = lines[row - 1]
    caret = len(line) if column is None else column
    return input_error(f"{problem}\n  {line}\n  {' ' * caret}^", entry.path, number, entry.id)


class _TreeReader:
    """Walks the tree of PENMAN in written order and collects the graph."""

    def __init__(self, entry: AmrEntry, tree: penman.Tree) -> None:
        self.entry = entry
        self.labels: list[str] = []
        self.variables: list[str | None] = []
        self.alignments: list[tuple[int, ...]] = []
        self.paths: list[str] = []
        self.constants: set[int] = set()
        self.wiki: dict[int, str] = {}
        self.by_variable: dict[str, int] = {}
        self.pending: list[tuple[int, str, str, str]] = []
        self.edges: list[Edge | int] = []  # a number: the pending one of that place
        self._node(tree.node, "1")
        self.defined = set(self.by_variable)

    def graph(self) -> AmrGraph:
        resolved = {}
        for place, (source, role, target, path) in enumerate(self.pending):
            resolved[place] = self._resolve(source, role, target, path)
        # constants were met while the tree was walked, but known only now: number nodes by their paths
        order = sorted(range(len(self.labels)), key=lambda node: [int(p) for p in self.paths[node].split(".")])
        place_of = {old: new for new, old in enumerate(order)}
        edges = [resolved[e] if isinstance(e, int) else e for e in self.edges]
        for name in ("labels", "variables", "alignments", "paths"):
            values = getattr(self, name)
            setattr(self, name, [values[old] for old in order])
        self.wiki = {place_of[node]: value for node, value in self.wiki.items()}
        unique = dict.fromkeys(Edge(place_of[s], r, place_of[t]) for s, r, t in edges)
        constants = frozenset(place_of[node] for node in self.constants)
        return AmrGraph(tuple(self.labels), constants, tuple(unique), 0)

    def _node(self, node, path: str) -> int:
        variable, branches = node
        if not variable:
            raise self.entry.error("a node without a variable")
        if variable in self.by_variable:
            raise self.entry.error(f"the variable {variable} is defined twice")
        index = self._add(None, variable, path)
        self.by_variable[variable] = index
        count = 0
        for role, target in branches:
            if role == "/":
                self.labels[index], self.alignments[index] = _split_mark(target or "")
                continue
            count += 1
            self._branch(index, _split_mark(role)[0].lstrip(":"), target, f"{path}.{count}")
        if not self.labels[index]:
            raise self.entry.error(f"the variable {variable} has no concept: write ({variable} / concept)")
        return index

    def _branch(self, source: int, role: str, target, path: str) -> None:
        if target is None:
            raise self.entry.error(f":{role} of {self.variables[source]} has no value")
        if role == "wiki" and isinstance(target, str):
            self.wiki[source] = _split_mark(target)[0]
        elif isinstance(target, str):
            self.edges.append(len(self.pending))
            self.pending.append((source, role, target, path))
        else:
            place = len(self.edges)
            self.edges.append(Edge(source, role, source))
            self.edges[place] = _edge(source, role, self._node(target, path))

    def _resolve(self, source: int, role: str, target: str, path: str) -> Edge:
        label, tokens = _split_mark(target)
        if label in self.by_variable:
            return _edge(source, role, self.by_variable[label])
        if _VARIABLE.fullmatch(label):
            raise self.entry.error(f"the variable {label} (:{role} of {self.variables[source]}) is not defined")
        index = self._add(label, None, path)
        self.alignments[index] = tokens
        self.constants.add(index)
        return Edge(source, role, index)

    def _add(self, label: str | None, variable: str | None, path: str) -> int:
        self.labels.append(label or "")
        self.variables.append(variable)
        self.alignments.append(())
        self.paths.append(path)
        return len(self.labels) - 1


def _edge(source: int, role: str, target: int) -> Edge:
    return Edge(target, role[:-3], source) if is_inverse(role) else Edge(source, role, target)


def _split_mark(text: str) -> tuple[str, tuple[int, ...]]:
    """A symbol and the tokens of the alignment behind it."""
    match = _MARK.search(text)
    if not match or (text.startswith('"') and text.endswith('"')):
        return text, ()
    return text[: match.start()], tuple(sorted({int(n) for n in match[1].split(",")}))


def _listed_alignments(entry: AmrEntry) -> list[tuple[int, ...]]:
    """Those of `# ::alignments`: JAMR's `0-1|0.0+0.1` or ISI's `5-1.2 6-1.2.r`."""
    tokens: list[set[int]] = [set() for _ in entry.paths]
    places = {path: node for node, path in enumerate(entry.paths)}
    jamr = {path: node for node, path in enumerate(_jamr_paths(entry))}
    for item in entry.metadata["alignments"].split():
        span, bar, paths = item.partition("|")
        if bar:
            first, _, last = span.partition("-")
            for path in paths.split("+"):
                if path in jamr and first.isdigit() and last.isdigit():
                    tokens[jamr[path]].update(range(int(first), int(last)))
        else:
            token, _, path = item.partition("-")
            if token.isdigit() and path in places:
                tokens[places[path]].add(int(token))
    return [tuple(sorted(found)) for found in tokens]


def _jamr_paths(entry: AmrEntry) -> list[str]:
    """JAMR numbers the children of a node that are first mentioned there, from 0; the top is 0."""
    children: dict[str, int] = {}
    names: dict[str, str] = {"1": "0"}
    for path in entry.paths[1:]:
        parent = path.rpartition(".")[0]
        number = children.get(parent, 0)
        children[parent] = number + 1
        names[path] = f"{names[parent]}.{number}"
    return [names[path] for path in entry.paths]


def _check_alignments(entry: AmrEntry) -> None:
    words = entry.tokens or (entry.metadata.get("snt") or "").split()
    if not words:
        return
    for node, tokens in enumerate(entry.alignments):
        for token in tokens:
            if token >= len(words):
                raise entry.error(
                    f"{entry.graph.labels[node]} is aligned to token {token}, but the sentence has "
                    f"{len(words)} tokens (counted from 0)"
                )
