"""AMR banks: entries of `# ::key value` lines and one PENMAN graph, separated by blank lines.

Alignments are read in the styles of ISI (`~e.5`, Pourdamghani et al. 2014; `~5`) and JAMR (`0-1|0.0`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from transition_parser.base.errors import InputError, collected, errors_at, input_error, shortened
from transition_parser.base.files import open_input
from transition_parser.graphs.amr import AmrGraph, PenmanLayout
from transition_parser.graphs.conllu import blocks, check_line_ends
from transition_parser.graphs.penman_reader import PenmanError, read_penman

TEXT_KEYS = ("snt", "tok")

_BLANKS = " \t"  # between tokens and keys; other white space, such as a no-break space, is a part of tokens
_KEY = re.compile(r"(?:^|[ \t])::([\w-]+)(?:[ \t]+|$)")
_ALTERNATIVE = re.compile(r"(?!1/)\d+/\d+")
_AROUND = 60  # how many characters of a line a message shows on each side of the error


def split_tokens(text: str) -> list[str]:
    """Return the tokens of a text between blanks, tabs and line ends; other white space is a part of tokens."""
    return [token for token in re.split(r"[ \t\r\n]+", text) if token]


@dataclass(frozen=True)
class AmrEntry:
    """One entry of a bank.

    metadata: the value of each `# ::key`, in order
    graph: the graph, None for an entry that is only a sentence
    variables: the variable of each node as written, None for constants
    alignments: the tokens of each node, () for a node without tokens. Alignment marks on roles, on `:wiki` and on
        further mentions of a variable are only in `penman`.
    wiki: node → value of `:wiki` as written
    paths: the path of each node: `1` for the top, `1.2.1` for the first branch of the second branch of the top
    comments, penman: the text as written
    path, line: the file and the line where the entry begins, for messages
    spans: see `conllu.Sentence`
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
    spans: tuple[tuple[int, int], ...] = ()

    @classmethod
    def from_words(cls, words: Iterable[str], metadata: Mapping[str, str] | None = None) -> AmrEntry:
        """Return a sentence without a graph. Raises `InputError` for words that `# ::tok` can't hold."""
        words = list(words)
        if not words:
            raise input_error("the sentence has no words")
        for number, form in enumerate(words, 1):
            if split_tokens(form) != [form]:
                problem = "words must not be empty or contain blanks, tabs or line breaks"
                raise input_error(f"word {number} is {form!r}: {problem}")
        metadata = dict(metadata or {})
        metadata.setdefault("snt", " ".join(words))
        return cls({**metadata, "tok": " ".join(words)})

    @property
    def id(self) -> str | None:
        """The value of `# ::id`, None for an entry without one."""
        return self.metadata.get("id")

    @property
    def is_alternative(self) -> bool:
        """True for another parse of the previous sentence (`# ::nbest 2/5`)."""
        return bool(_ALTERNATIVE.fullmatch(self.metadata.get("nbest", "")))

    @property
    def text(self) -> str:
        """The value of `# ::snt`, or else of `# ::tok`. Raises `InputError` for an entry that has neither."""
        for key in TEXT_KEYS:
            if self.metadata.get(key, "").strip(_BLANKS):
                return self.metadata[key]
        raise self.error("the entry has no sentence: add `# ::snt` or `# ::tok`")

    @property
    def tokens(self) -> list[str] | None:
        """The words of `# ::tok`, None for an entry without them."""
        return split_tokens(self.metadata.get("tok", "")) or None

    @property
    def forms(self) -> list[str]:
        """The words of `# ::tok`. Raises `InputError` for an entry without them."""
        if self.tokens is None:
            raise self.error("the entry has no `# ::tok`: add it, or give the sentence as text")
        return self.tokens

    @property
    def amr(self) -> AmrGraph:
        """The graph. Raises `InputError` for an entry without a graph."""
        if self.graph is None:
            raise self.error("the entry has no graph: write (a / amr-empty) for an empty one")
        return self.graph

    def with_alignments(self, alignments: Iterable[Iterable[int]]) -> AmrEntry:
        """Return the entry with other alignments. `comments` and `penman` stay as written."""
        return replace(self, alignments=tuple(tuple(tokens) for tokens in alignments))

    def with_graph(
        self,
        graph: AmrGraph,
        alignments: Sequence[Sequence[int]],
        wiki: Mapping[int, str] | None = None,
        alignment_markers: bool = True,
        variables: Sequence[str | None] | None = None,
    ) -> AmrEntry:
        """Return the entry with another graph. Metadata and `comments` stay.

        The nodes are renumbered in the order in which a reader of the new `penman` meets them. The field `alignments`
        is set even if `penman` does not show the alignments. Raises `InputError` for a graph that PENMAN can't hold,
        see `AmrGraph.to_penman`.

        alignments: the tokens of each node
        wiki: node → value of `:wiki`
        alignment_markers: True to write `~e.N` into `penman`
        variables: the names of the variables, see `AmrGraph.to_penman`
        """
        layout = PenmanLayout(graph, wiki, variables)
        number = {old: new for new, old in enumerate(layout.order)}
        return replace(
            self,
            graph=layout.renumbered(),
            variables=tuple(layout.variables[node] for node in layout.order),
            alignments=tuple(tuple(alignments[node]) for node in layout.order),
            wiki={number[node]: layout.wiki[node] for node in layout.order if node in layout.wiki},
            paths=tuple(layout.paths),
            penman=layout.text(alignments if alignment_markers else None),
        )

    def error(self, problem: str) -> InputError:
        """Return an `InputError` that names the file, the line and the id of the entry."""
        return input_error(problem, self.path, self.line, self.id)

    def __str__(self) -> str:
        """Return the entry as written, with a blank line after it."""
        return "\n".join(part for part in (*self.comments, self.penman.rstrip("\n")) if part) + "\n\n"


def read_bank(
    path: str | os.PathLike, skip_bad: list[InputError] | None = None, graphs: bool = True
) -> Iterator[AmrEntry]:
    """Yield the entries of a file one by one.

    Raises `InputError` for a broken entry if `skip_bad` is None.

    skip_bad: a list that takes the error of each broken entry; the entry is left out
    graphs: False to read the comments alone
    """
    with open_input(path) as file:
        yield from parse_bank(file, str(path), skip_bad, graphs)


def parse_bank(
    lines: Iterable[bytes],
    path: str | None = None,
    skip_bad: list[InputError] | None = None,
    graphs: bool = True,
) -> Iterator[AmrEntry]:
    """Yield the entries of an iterable of UTF-8 encoded lines. See `read_bank` for the other parameters."""
    for start, block in blocks(lines, path):
        with collected(skip_bad):
            entry = parse_entry(block if graphs else [line for line in block if _is_comment(line)], path, start)
            is_header = entry.graph is None and not any(entry.metadata.get(key) for key in ("id", *TEXT_KEYS))
            if not is_header:
                _ = graphs and entry.amr  # raises an error for an entry without a graph
                yield entry


def parse_entry(block: list[str], path: str | None = None, start: int = 1) -> AmrEntry:
    """Return the entry that a block of lines without blank lines holds. Raises `InputError` for a broken entry."""
    check_line_ends(block, path, start)
    comments = tuple(line for line in block if _is_comment(line))
    metadata = metadata_of(comments, path, start)
    entry = AmrEntry(metadata, comments=comments, path=path, line=start)
    graph_lines = [(start + i, line) for i, line in enumerate(block) if not _is_comment(line)]
    if not graph_lines:
        return entry
    number, first = graph_lines[0]
    if not first.lstrip().startswith("("):
        problem = "the graph does not begin with a parenthesis: is the file an AMR bank?"
        raise _error_at(entry, problem, number, first, len(first) - len(first.lstrip()))
    try:
        text = read_penman([line for _, line in graph_lines])
    except PenmanError as error:
        raise _error_at(entry, error.problem, *graph_lines[error.row], error.column) from None
    penman = "\n".join(line for _, line in graph_lines)
    return _aligned(replace(entry, penman=penman, **text._asdict()))


def _aligned(entry: AmrEntry) -> AmrEntry:
    """Return the entry with the alignments of its comments if its graph has none."""
    words = len(entry.tokens or split_tokens(entry.metadata.get("snt", "")))
    if "alignments" in entry.metadata and not any(entry.alignments):
        with errors_at(entry.path, entry.line, entry.id):
            entry = entry.with_alignments(read_alignments(entry.metadata["alignments"], entry.paths, words))
    for label, tokens in zip(entry.amr.labels, entry.alignments, strict=True):
        if tokens and tokens[-1] >= (words or MOST_TOKENS):
            problem = f"is aligned to token {tokens[-1]}, but {_size(words)} (counted from 0)"
            raise entry.error(f"{shortened(label)} {problem}")
    return entry


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def metadata_of(comments: Iterable[str], path: str | None = None, start: int | None = None) -> dict[str, str]:
    """Return the keys and values of comments. Raises `InputError` for two ids or two sentences."""
    metadata: dict[str, str] = {}
    for line in comments:
        fields = _fields(line)
        for key, value in fields:
            if key in ("id", *TEXT_KEYS) and key in metadata:
                problem = f"the entry has two `# ::{key}`: is a blank line missing between two entries?"
                raise input_error(problem, path, start, metadata.get("id"))
            metadata[key] = value
    return metadata


def _fields(comment: str) -> list[tuple[str, str]]:
    """Return the (key, value) pairs of `# ::id x ::date y`. The value of ::snt and ::tok is the whole rest."""
    text = comment.strip(_BLANKS).lstrip("#").strip(_BLANKS)
    keys = list(_KEY.finditer(text))
    if not keys or keys[0].start() != 0:
        return []
    ends = [match.start() for match in keys[1:]] + [len(text)]
    fields: list[tuple[str, str]] = []
    for match, end in zip(keys, ends, strict=True):
        if match[1] in TEXT_KEYS:
            return [*fields, (match[1], text[match.end() :].strip(_BLANKS))]
        fields.append((match[1], text[match.end() : end].strip(_BLANKS)))
    return fields


def _error_at(entry: AmrEntry, problem: str, number: int, line: str, column: int | None) -> InputError:
    """Return an error with the problem, and if the column is known, with the line and a caret below the error."""
    if column is None:
        return input_error(problem, entry.path, number, entry.id)
    start = max(0, column - _AROUND)
    shown = "".join(c if c.isprintable() else " " for c in line[start : column + _AROUND])
    return input_error(f"{problem}\n  {shown}\n  {' ' * (column - start)}^", entry.path, number, entry.id)


MOST_TOKENS = 10_000  # the largest number of tokens that is assumed for an entry without a sentence

_JAMR_ITEM = re.compile(r"([0-9]{1,9})-([0-9]{1,9})\|([0-9.+]+)")
_ISI_ITEM = re.compile(r"([0-9]{1,9})-([0-9][0-9.]*(?:\.r)?|\*)")

Alignments = tuple[tuple[int, ...], ...]


def read_alignments(text: str, paths: Sequence[str], words: int) -> Alignments:
    """Return the tokens of each node, from `# ::alignments`; without items for roles, `:wiki` and other mentions."""
    tokens: list[set[int]] = [set() for _ in paths]
    jamr = {path: node for node, path in enumerate(jamr_paths(paths))}
    isi = {path: node for node, path in enumerate(paths)}
    for item in text.split():
        if match := _JAMR_ITEM.fullmatch(item):
            first, last = int(match[1]), int(match[2])
            if not first < last <= (words or MOST_TOKENS):
                raise InputError(f"`# ::alignments` has {shortened(item)}, which is not a range: {_size(words)}")
            for path in match[3].split("+"):
                if path not in jamr:
                    problem = f"but the graph has no node {shortened(path)} (the top is 0)"
                    raise InputError(f"`# ::alignments` has {shortened(item)}, {problem}")
                tokens[jamr[path]].update(range(first, last))
        elif match := _ISI_ITEM.fullmatch(item):
            if match[2] in isi:
                tokens[isi[match[2]]].add(int(match[1]))
        else:
            raise InputError(f"`# ::alignments` has {shortened(item)}: write 0-1|0.0 (JAMR) or 5-1.2 (ISI)")
    return tuple(tuple(sorted(each)) for each in tokens)


def _size(words: int) -> str:
    if words:
        return f"the sentence has {words} tokens"
    return f"{MOST_TOKENS:,} tokens are allowed at most if the sentence is not given"


def jamr_paths(paths: Sequence[str]) -> list[str]:
    """Return JAMR's name of each node, `0.1` for `1.4`. It counts from 0 the branches that lead to first mentions."""
    children: dict[str, int] = {}
    names = {"1": "0"}
    for path in paths[1:]:
        parent = path.rpartition(".")[0]
        names[path] = f"{names[parent]}.{children.setdefault(parent, 0)}"
        children[parent] += 1
    return [names[path] for path in paths]


def jamr_lines(entry: AmrEntry) -> list[str]:
    """Return the alignments of an entry in JAMR's style: `# ::alignments 0-1|0.0+0.1 …`, `# ::node …`."""
    names, labels = jamr_paths(entry.paths), entry.amr.labels
    of_span: dict[tuple[int, int], list[str]] = {}
    nodes = []
    for path, label, tokens in zip(names, labels, entry.alignments, strict=True):
        runs: list[tuple[int, int]] = []  # stretches without a gap: the first token, the position after the last one
        for token in tokens:
            joins = bool(runs) and runs[-1][1] == token
            first = runs.pop()[0] if joins else token
            runs.append((first, token + 1))
        for run in runs:
            of_span.setdefault(run, []).append(path)
        nodes.append(f"# ::node\t{path}\t{label}\t" + ",".join(f"{first}-{end}" for first, end in runs))
    items = " ".join(f"{first}-{end}|{'+'.join(aligned)}" for (first, end), aligned in sorted(of_span.items()))
    return [f"# ::alignments {items}", *nodes]
