"""Alignments written into the text of a bank. The rest of the text stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from transition_parser.graphs.bank import AmrEntry, jamr_lines, metadata_of
from transition_parser.graphs.penman_reader import PenmanToken, tokens_of

STYLES = ("isi", "jamr")

_TOK = re.compile(r"\s*#\s*::tok\s*$")
_SNT = re.compile(r"\s*#.*\s::snt(\s|$)")
_LISTED = re.compile(r"\s*#+\s*::(alignments|node)(\s|$)")
_FIELD = re.compile(r"\s::alignments\s.*?(?=\s::|$)")
_Edit = tuple[int, int, int, str]  # line, first character, the character after the last, new text


def marked(entry: AmrEntry, style: str = "isi", relist: bool = False) -> list[str]:
    """Return the lines of an entry with its alignments, comments first, because penman reads none inside a graph.

    style: `isi` (`~e.5`) or `jamr` (`# ::alignments`, `# ::node`)
    relist: True to delete old alignments outside the nodes (`# ::alignments`, marks of roles), as `jamr` always does
    """
    relist = relist or style == "jamr"
    graph_lines = entry.penman.split("\n")
    for row, first, end, text in sorted(_edits(graph_lines, entry, style, relist), reverse=True):
        graph_lines[row] = graph_lines[row][:first] + text + graph_lines[row][end:]
    lacks_tokens = not metadata_of(entry.comments).get("tok")
    lines: list[str] = []
    for line in entry.comments:
        if (relist and _LISTED.match(line)) or (lacks_tokens and _TOK.match(line)):
            continue
        lines.append(_FIELD.sub("", line) if relist and not _SNT.match(line) else line)
        if lacks_tokens and _SNT.match(line):
            lines.append(f"# ::tok {entry.metadata['tok']}")
    return [*lines, *(jamr_lines(entry) if style == "jamr" else ()), *graph_lines]


def _edits(lines: list[str], entry: AmrEntry, style: str, relist: bool) -> Iterator[_Edit]:
    """Yield the changes in the lines of a graph."""
    tokens_of_node = dict(zip(entry.paths, entry.alignments, strict=True))
    for (token, path), (after, _) in pairwise([*_with_paths(tokens_of(lines)), (None, None)]):
        has_mark = after is not None and after.kind == "ALIGNMENT"
        if path in tokens_of_node:
            if style == "isi" and tokens_of_node[path]:
                yield token.row, token.end, token.end, "~e." + ",".join(map(str, tokens_of_node[path]))
        elif not relist:
            continue
        if has_mark:
            yield after.row, after.column, after.end, ""


def _with_paths(tokens: Iterator[PenmanToken]) -> Iterator[tuple[PenmanToken, str | None]]:
    """Yield each token with its path in the graph: `1` for the top, `1.2` for its second branch."""
    opened: list[tuple[str, int]] = []  # the path of each open node, and its number of branches so far
    before = ""
    for token in tokens:
        path = None
        if token.kind == "LPAREN":
            opened.append(("{}.{}".format(*opened[-1]) if opened else "1", 0))
        elif token.kind == "RPAREN":
            opened.pop()
        elif token.kind == "ROLE":
            opened[-1] = (opened[-1][0], opened[-1][1] + 1)
        elif token.kind in ("SYMBOL", "STRING") and before in ("SLASH", "ROLE"):
            path = opened[-1][0] if before == "SLASH" else "{}.{}".format(*opened[-1])
        if token.kind != "ALIGNMENT":
            before = token.kind
        yield token, path
