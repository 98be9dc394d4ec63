"""AMR banks: entries of `# ::key value` lines and one PENMAN graph, separated by blank lines.

Alignments of nodes to tokens are read in the ISI (`~e.5`, Pourdamghani et al. 2014), the bare `~5` and the
JAMR style (`# ::alignments 0-1|0.0`, Flanigan et al. 2014). `:wiki` is kept beside the graph.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import penman
from penman.exceptions import PenmanError

from transition_parser.errors import InputError, input_error
from transition_parser.graphs.amr import AmrGraph, Edge, is_inverse
from transition_parser.graphs.conllu import decode_line

TEXT_KEYS = ("snt", "tok")

_KEY = re.compile(r"(?:^|\s)::([\w-]+)(?:\s+|$)")
_MARK = re.compile(r"~(?:[a-z]\.?)?([0-9]+(?:,[0-9]+)*)$")
_JAMR_ITEM = re.compile(r"([0-9]{1,9})-([0-9]{1,9})\|([0-9.+]+)")
_ISI_ITEM = re.compile(r"([0-9]{1,9})-([0-9][0-9.]*(?:\.r)?|\*)")
_VARIABLE = re.compile(r"[A-Za-z]\d*")


@dataclass(frozen=True)
class AmrEntry:
    """One entry of a bank.

    metadata: what stands behind `# ::key`, in order. graph: None where the entry has none (only a sentence).
    variables: the variable of each node as written, None for constants. alignments: the tokens of each node, ()
    where it has none; marks of roles, of `:wiki` and of further mentions of a variable stay in `penman` alone.
    wiki: node → value of `:wiki` as written. paths: for each node the branches that lead to it from the top,
    counted from 1, concept not counted (`1.2.1`). comments, penman: the text as written. path, line: where the
    entry begins, for messages.
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

    @classmethod
    def from_words(cls, words: Iterable[str], metadata: Mapping[str, str] | None = None) -> AmrEntry:
        """A sentence without a graph. Raises `InputError` for words that `# ::tok` can't hold."""
        words = list(words)
        if not words:
            raise input_error("a sentence without words")
        for number, form in enumerate(words, 1):
            if form.split() != [form]:
                raise input_error(f"word {number} is {form!r}: empty, or with white space in it")
        metadata = dict(metadata or {})
        metadata.setdefault("snt", " ".join(words))
        return cls({**metadata, "tok": " ".join(words)})

    @property
    def id(self) -> str | None:
        """`# ::id`"""
        return self.metadata.get("id")

    @property
    def text(self) -> str:
        """`# ::snt`, or else `# ::tok`. Raises `InputError` where the entry has neither."""
        for key in TEXT_KEYS:
            if self.metadata.get(key, "").strip():
                return self.metadata[key]
        raise self.error("the entry has no `# ::snt` and no `# ::tok`: a sentence is needed")

    @property
    def tokens(self) -> list[str] | None:
        """The words of `# ::tok`, None where there is none."""
        tok = self.metadata.get("tok", "").split()
        return tok or None

    @property
    def forms(self) -> list[str]:
        """The words of `# ::tok`. Raises `InputError` where there is none."""
        if self.tokens is None:
            raise self.error("the entry has no `# ::tok`")
        return self.tokens

    def with_alignments(self, alignments: Iterable[Iterable[int]]) -> AmrEntry:
        """The entry with other alignments; `comments` and `penman` stay as written."""
        return replace(self, alignments=tuple(tuple(tokens) for tokens in alignments))

    def error(self, problem: str) -> InputError:
        """An `InputError` that names the file, the line and the id of the entry."""
        return input_error(problem, self.path, self.line, self.id)

    def rewritten(self, keys: Iterable[str] = ("id", "snt", "tok"), alignments: bool = True) -> str:
        """The entry written anew, with the metadata of `keys` that it has, and a blank line behind it."""
        lines = [f"# ::{key} {self.metadata[key]}" for key in keys if key in self.metadata]
        if self.graph is not None:
            marks = self.alignments if alignments and any(self.alignments) else None
            lines.append(self.graph.to_penman(marks, self.wiki, self.variables or None))
        return "\n".join(lines) + "\n\n"

    def __str__(self) -> str:
        """The entry as written, with a blank line behind it."""
        return "\n".join(part for part in (*self.comments, self.penman.rstrip("\n")) if part) + "\n\n"


def read_bank(
    path: str | os.PathLike,
    skip_bad: list[InputError] | None = None,
    graphs: bool = True,
) -> Iterator[AmrEntry]:
    """Yields the entries of a file one by one.

    skip_bad: where given, what is wrong with a broken entry is appended to it, and the entry left out; else
    it is raised as `InputError`. graphs: False reads the comments alone.
    """
    with open(path, "rb") as file:
        yield from parse_bank(file, str(path), skip_bad, graphs)


def parse_bank(
    lines: Iterable[bytes],
    path: str | None = None,
    skip_bad: list[InputError] | None = None,
    graphs: bool = True,
) -> Iterator[AmrEntry]:
    """Yields the entries of an iterable of UTF-8 encoded lines; see `read_bank`."""
    for start, block in _blocks(lines, path):
        try:
            entry = parse_entry(block if graphs else [line for line in block if _is_comment(line)], path, start)
        except InputError as error:
            if skip_bad is None:
                raise
            skip_bad.append(error)
            continue
        if entry.graph is None:
            if not any(entry.metadata.get(key) for key in ("id", *TEXT_KEYS)):
                continue  # a header of the file
            if graphs:
                error = entry.error("the entry has no graph: write (a / amr-empty) for an empty one")
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
    comments = tuple(line for line in block if _is_comment(line))
    metadata = _metadata(comments, path, start)
    entry = AmrEntry(metadata, comments=comments, path=path, line=start)
    graph_lines = [(start + i, line) for i, line in enumerate(block) if not _is_comment(line)]
    if not graph_lines:
        return entry
    number, first = graph_lines[0]
    if not first.lstrip().startswith("("):
        column = len(first) - len(first.lstrip())
        raise _error_at(entry, "no parenthesis where the graph begins: is the file AMR?", number, first, column)
    try:
        # lines, since PENMAN would divide a text at each character that Unicode calls a line end
        tree = penman.parse([line for _, line in graph_lines])
        reader = _TreeReader(entry, tree)
        _check_whole(entry, tree, graph_lines)
    except PenmanError as error:
        raise _syntax_error(entry, error, graph_lines) from None
    except RecursionError:
        raise entry.error("the graph is nested too deeply to be read") from None
    entry = replace(
        entry,
        graph=reader.graph(),
        variables=tuple(reader.variables),
        wiki=reader.wiki,
        paths=tuple(reader.paths),
        penman="\n".join(line for _, line in graph_lines),
        alignments=tuple(reader.alignments),
    )
    if "alignments" in metadata and not any(entry.alignments):
        entry = entry.with_alignments(_listed_alignments(entry))
    _check_alignments(entry)
    return entry


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _metadata(comments: Iterable[str], path: str | None, start: int) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for line in comments:
        fields = _fields(line)
        for key in ("id", *TEXT_KEYS):
            if key in fields and key in metadata:
                problem = f"the entry has two `# ::{key}`: is a blank line missing between two entries?"
                raise input_error(problem, path, start, metadata.get("id"))
        metadata.update(fields)
    return metadata


def _fields(comment: str) -> dict[str, str]:
    """`# ::id x ::date y` as a dictionary. Behind ::snt and ::tok all is text, `::` too."""
    text = comment.strip().lstrip("#").strip()
    found = list(_KEY.finditer(text))
    if not found or found[0].start() != 0:
        return {}
    ends = [match.start() for match in found[1:]] + [len(text)]
    fields: dict[str, str] = {}
    for match, end in zip(found, ends, strict=True):
        if match[1] in TEXT_KEYS:
            return fields | {match[1]: text[match.end() :].strip()}
        fields[match[1]] = text[match.end() : end].strip()
    return fields


def _syntax_error(entry: AmrEntry, error: PenmanError, lines: list[tuple[int, str]]) -> InputError:
    row = getattr(error, "lineno", None)
    column = getattr(error, "offset", None)
    problem = getattr(error, "message", None) or str(error)
    if row is None or not 1 <= row <= len(lines):
        row, column = len(lines), None
    number, line = lines[row - 1]
    return _error_at(entry, problem, number, line, len(line) if column is None else column)


def _error_at(entry: AmrEntry, problem: str, number: int, line: str, column: int) -> InputError:
    return input_error(f"{problem}\n  {line}\n  {' ' * column}^", entry.path, number, entry.id)


def _check_whole(entry: AmrEntry, tree: penman.Tree, lines: list[tuple[int, str]]) -> None:
    """Raises `InputError` for text behind the graph, which PENMAN's parser leaves unread."""
    read = len("".join(penman.format(tree, indent=None).split()))
    for number, line in lines:
        for column, character in enumerate(line):
            if character.isspace():
                continue
            if read == 0:
                problem = "text behind the end of the graph: a parenthesis too many, or no blank line before an entry"
                raise _error_at(entry, problem, number, line, column)
            read -= 1


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
        if role in ("", "-of"):
            raise self.entry.error(f"a role of {self.variables[source]} has no name: write :role")
        if target is None:
            raise self.entry.error(f":{role} of {self.variables[source]} has no value")
        if role == "wiki" and isinstance(target, str):
            if source in self.wiki:
                raise self.entry.error(f"{self.variables[source]} has two :wiki")
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
    if is_inverse(role):
        return _edge(target, role[:-3], source)
    return Edge(target, "mod", source) if role == "domain" else Edge(source, role, target)


def _split_mark(text: str) -> tuple[str, tuple[int, ...]]:
    """A symbol and the tokens of the alignment behind it."""
    match = _MARK.search(text)
    if not match or (text.startswith('"') and text.endswith('"')):
        return text, ()
    return text[: match.start()], tuple(sorted({int(n) for n in match[1].split(",")}))


def _listed_alignments(entry: AmrEntry) -> list[tuple[int, ...]]:
    """Those of `# ::alignments`: JAMR's `0-1|0.0+0.1` or ISI's `5-1.2 6-1.2.r`.

    ISI's may name roles, `:wiki` and further mentions of a node, which are left out. Raises `InputError` for
    what is neither style, or a JAMR path that the graph doesn't have.
    """
    tokens: list[set[int]] = [set() for _ in entry.paths]
    places = {path: node for node, path in enumerate(entry.paths)}
    jamr = {path: node for node, path in enumerate(jamr_paths(entry.paths))}
    for item in entry.metadata["alignments"].split():
        if match := _JAMR_ITEM.fullmatch(item):
            first, last = int(match[1]), int(match[2])
            _check_span(entry, item, first, last)
            for path in match[3].split("+"):
                if path not in jamr:
                    raise entry.error(f"`# ::alignments` has {item}, but the graph has no node {path} (the top is 0)")
                tokens[jamr[path]].update(range(first, last))
        elif match := _ISI_ITEM.fullmatch(item):
            if match[2] in places:
                tokens[places[match[2]]].add(int(match[1]))
        else:
            raise entry.error(f"`# ::alignments` has {item}: write 0-1|0.0 (JAMR) or 5-1.2 (ISI)")
    return [tuple(sorted(found)) for found in tokens]


def _check_span(entry: AmrEntry, item: str, first: int, last: int) -> None:
    words = len(_words(entry)) or last
    if not first < last <= words:
        raise entry.error(f"`# ::alignments` has {item}, which is no span of the sentence's {words} tokens")


def _words(entry: AmrEntry) -> list[str]:
    return entry.tokens or entry.metadata.get("snt", "").split()


def jamr_paths(paths: Sequence[str]) -> list[str]:
    """JAMR's name of each node: from 0, counting only the branches where a node is written whole.

    >>> jamr_paths(["1", "1.2", "1.2.1", "1.4"])
    ['0', '0.0', '0.0.0', '0.1']
    """
    children: dict[str, int] = {}
    names = {"1": "0"}
    for path in paths[1:]:
        parent = path.rpartition(".")[0]
        names[path] = f"{names[parent]}.{children.setdefault(parent, 0)}"
        children[parent] += 1
    return [names[path] for path in paths]


def jamr_lines(entry: AmrEntry) -> list[str]:
    """`# ::alignments 0-1|0.0+0.1 …` and a line `# ::node` for each node."""
    paths = jamr_paths(entry.paths)
    of_span: dict[tuple[int, int], list[str]] = {}
    nodes = []
    for path, label, tokens in zip(paths, entry.graph.labels, entry.alignments, strict=True):
        runs = _runs(tokens)
        for run in runs:
            of_span.setdefault(run, []).append(path)
        nodes.append(f"# ::node\t{path}\t{label}\t" + ",".join(f"{first}-{end}" for first, end in runs))
    items = " ".join(f"{first}-{end}|{'+'.join(found)}" for (first, end), found in sorted(of_span.items()))
    return [f"# ::alignments {items}", *nodes]


def _runs(tokens: Sequence[int]) -> list[tuple[int, int]]:
    """The stretches without a gap, each as its first token and the one behind it."""
    runs: list[tuple[int, int]] = []
    for token in tokens:
        if runs and runs[-1][1] == token:
            runs[-1] = (runs[-1][0], token + 1)
        else:
            runs.append((token, token + 1))
    return runs


def _check_alignments(entry: AmrEntry) -> None:
    words = _words(entry)
    if not words:
        return
    for node, tokens in enumerate(entry.alignments):
        for token in tokens:
            if token >= len(words):
                raise entry.error(
                    f"{entry.graph.labels[node]} is aligned to token {token}, but the sentence has "
                    f"{len(words)} tokens (counted from 0)"
                )
