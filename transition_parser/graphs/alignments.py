"""Alignments of nodes to tokens in the comments of an entry.

Two styles are read: JAMR's `# ::alignments 0-1|0.0` (Flanigan et al. 2014) and ISI's `# ::alignments 5-1.2`
(Pourdamghani et al. 2014).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from transition_parser.base.errors import shortened

MOST_TOKENS = 10_000  # the largest number of tokens that is assumed for an entry without a sentence
MOST_PAIRS = 1_000_000  # the most pairs of a node and a token in the alignments of one entry

_JAMR_ITEM = re.compile(r"([0-9]{1,9})-([0-9]{1,9})\|([0-9.+]+)")
_ISI_ITEM = re.compile(r"([0-9]{1,9})-([0-9][0-9.]*(?:\.r)?|\*)")

Alignments = tuple[tuple[int, ...], ...]


class AlignmentError(ValueError):
    """Alignments that can't be read, or that name a node or a token that does not exist."""


def read_alignments(text: str, paths: Sequence[str], words: int) -> Alignments:
    """Return the tokens of each node, from the value of `# ::alignments`.

    ISI's style may also name roles, `:wiki` and further mentions of a node. Such items are left out. Raises
    `AlignmentError` for a value that can't be read.

    paths: the path of each node, see `AmrEntry`
    words: how many words the sentence has, 0 if the sentence is not given

    >>> read_alignments("0-2|0 3-4|0.0", ["1", "1.1"], 4)
    ((0, 1), (3,))
    """
    tokens: list[set[int]] = [set() for _ in paths]
    pairs = 0
    for item, nodes, span in _items(text, paths, words):
        pairs += len(nodes) * len(span)
        if pairs > MOST_PAIRS:
            raise AlignmentError(
                f"`# ::alignments` aligns nodes to more than {MOST_PAIRS:,} tokens, at {shortened(item)}"
            )
        for node in nodes:
            tokens[node].update(span)
    return tuple(tuple(sorted(each)) for each in tokens)


def _items(text: str, paths: Sequence[str], words: int) -> Iterator[tuple[str, list[int], Sequence[int]]]:
    """Yield each item of `# ::alignments` as (its text, its nodes, its tokens)."""
    jamr = {path: node for node, path in enumerate(jamr_paths(paths))}
    isi = {path: node for node, path in enumerate(paths)}
    for item in text.split():
        if match := _JAMR_ITEM.fullmatch(item):
            first, last = int(match[1]), int(match[2])
            if not first < last <= (words or MOST_TOKENS):
                raise AlignmentError(f"`# ::alignments` has {shortened(item)}, which is not a range: {_size(words)}")
            missing = next((path for path in match[3].split("+") if path not in jamr), None)
            if missing is not None:
                problem = f"but the graph has no node {shortened(missing)} (the top is 0)"
                raise AlignmentError(f"`# ::alignments` has {shortened(item)}, {problem}")
            yield item, [jamr[path] for path in match[3].split("+")], range(first, last)
        elif match := _ISI_ITEM.fullmatch(item):
            if match[2] in isi:
                yield item, [isi[match[2]]], (int(match[1]),)
        else:
            raise AlignmentError(f"`# ::alignments` has {shortened(item)}: write 0-1|0.0 (JAMR) or 5-1.2 (ISI)")


def _size(words: int) -> str:
    if words:
        return f"the sentence has {words} tokens"
    return f"{MOST_TOKENS:,} tokens are allowed at most if the sentence is not given"


def check_alignments(alignments: Alignments, labels: Sequence[str], words: int) -> None:
    """Raise `AlignmentError` for a token that the sentence does not have.

    words: how many words the sentence has, 0 if the sentence is not given
    """
    for label, tokens in zip(labels, alignments, strict=True):
        if tokens and tokens[-1] >= (words or MOST_TOKENS):
            problem = f"is aligned to token {tokens[-1]}, but {_size(words)} (counted from 0)"
            raise AlignmentError(f"{shortened(label)} {problem}")


def jamr_paths(paths: Sequence[str]) -> list[str]:
    """Return JAMR's name of each node.

    JAMR counts the branches of a node from 0. Only branches that lead to the first mention of a node count.

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


def jamr_comments(paths: Sequence[str], labels: Sequence[str], alignments: Sequence[Sequence[int]]) -> list[str]:
    """Return the line `# ::alignments 0-1|0.0+0.1 …` and a line `# ::node` for each node."""
    of_span: dict[tuple[int, int], list[str]] = {}
    nodes = []
    for path, label, tokens in zip(jamr_paths(paths), labels, alignments, strict=True):
        runs = _runs(tokens)
        for run in runs:
            of_span.setdefault(run, []).append(path)
        nodes.append(f"# ::node\t{path}\t{label}\t" + ",".join(f"{first}-{end}" for first, end in runs))
    items = " ".join(f"{first}-{end}|{'+'.join(names)}" for (first, end), names in sorted(of_span.items()))
    return [f"# ::alignments {items}", *nodes]


def _runs(tokens: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stretches of tokens without a gap, each as its first token and the position after its last token."""
    runs: list[tuple[int, int]] = []
    for token in tokens:
        if runs and runs[-1][1] == token:
            runs[-1] = (runs[-1][0], token + 1)
        else:
            runs.append((token, token + 1))
    return runs
